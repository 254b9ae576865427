// A run as one HTML page that needs nothing else: scores, curves, settings, log. It can be mailed, printed and opened in ten years.

import { grouped } from '../grouped.ts';
import { metricWords } from '../../model/metrics.ts';
import type { ExportedFile } from '../../protocol/exports.ts';
import type { MetricPoint, RunRecord } from '../../protocol/runs.ts';
import { utf8 } from '../onnx/proto.ts';
import type { OpenedRun } from '../opened.ts';
import { chart, escaped, shown, type Line } from './chart.ts';
import { settingRows } from './settings.ts';

const style = `:root{color-scheme:light dark;--text:#1b2127;--text2:#5a646f;--line:#dfe3e7;--val:#b54a00}@media(prefers-color-scheme:dark){:root{--text:#e8ebee;--text2:#a3adb8;--line:#343a41;--val:#ff9d5c}}
body{font:14px/1.45 system-ui,sans-serif;max-width:1100px;margin:2rem auto;padding:0 1rem;color:var(--text)}h1{margin:0}h2{margin:2rem 0 .5rem;font-size:1.1rem}p{color:var(--text2)}
table{border-collapse:collapse}th,td{text-align:left;padding:3px 16px 3px 0;border-bottom:1px solid var(--line);vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums}th{font-weight:600}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:1rem}figure{margin:0}figcaption{font-weight:600}svg{width:100%}svg text{font-size:11px;fill:var(--text2)}.grid{stroke:var(--line)}.line{fill:none;stroke-width:1.6}pre{white-space:pre-wrap;color:var(--text2)}`;

const looks = {
  train: { colour: 'var(--text)', dash: '' },
  val: { colour: 'var(--val)', dash: '6 3' },
  test: { colour: 'var(--text2)', dash: '2 3' },
} as const;

export function exportHtml(name: string, { record, points, log }: OpenedRun): ExportedFile {
  const { result } = record;
  return page(name, record, [
    result ? `<h2>Scores</h2>${scores(result.metrics)}` : '',
    `<h2>Curves</h2><div class="charts">${curves(points)}</div>`,
    settings(record),
    `<h2>Log</h2><pre>${escaped(log.map(({ message }) => message).join('\n'))}</pre>`,
  ]);
}

/** The page with its head, its title and what the run is. */
export function page(name: string, record: RunRecord, parts: readonly string[]): ExportedFile {
  const { config } = record;
  const title = `${record.name}: ${record.datasetName}`;
  const body = [
    `<h1>${escaped(record.name)}</h1>`,
    `<p>${escaped(`${record.datasetName}, ${config.learner}, ${record.parameters.toLocaleString('en')} parameters, ${record.state}${record.endedAt ? `, ${new Date(record.endedAt).toISOString().slice(0, 16).replace('T', ' ')} UTC` : ''}`)}</p>`,
    record.notes ? `<p>${escaped(record.notes)}</p>` : '',
    ...parts,
  ];
  const whole = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${style}</style></head><body>${body.join('\n')}</body></html>`;
  return { path: `${name}.html`, data: utf8(whole) };
}

export const settings = (record: RunRecord): string => `<h2>Settings</h2>${table(settingRows(record))}`;

/** A row a metric, a column a split. */
function scores(metrics: Readonly<Record<string, number>>): string {
  const splits = ['train', 'val', 'test'] as const;
  const found = new Map<string, Map<string, number>>();
  for (const [key, value] of Object.entries(metrics)) {
    const [split, ...words] = key.split('_');
    const metric = words.join('_');
    found.set(metric, (found.get(metric) ?? new Map<string, number>()).set(split, value));
  }
  const rows = [...found].map(([metric, bySplit]) => {
    const cells = splits.map((split) => `<td class="n">${bySplit.has(split) ? shown(bySplit.get(split)!) : '–'}</td>`);
    return `<tr><th scope="row">${escaped(metricWords(metric))}</th>${cells.join('')}</tr>`;
  });
  return `<table><thead><tr><th></th><th>training</th><th>validation</th><th>test</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** A chart a metric: training and validation in one. */
function curves(points: readonly MetricPoint[]): string {
  const series = grouped(points, (point) => point.series);
  const byMetric = grouped([...series.keys()], (key) => key.replace(/^(train|val|test)_/, ''));
  return [...byMetric]
    .map(([metric, names]) => {
      const lines = names.map((key): Line => {
        const split = /^(train|val|test)_/.exec(key)?.[1] as keyof typeof looks | undefined;
        const values = [...(series.get(key) ?? [])].sort((a, b) => a.step - b.step);
        return {
          name: split === 'val' ? 'validation' : (split ?? ''),
          ...looks[split ?? 'train'],
          points: values.map(({ epoch, value }) => [epoch, value] as const),
        };
      });
      return chart(metricWords(metric), lines, 'epoch');
    })
    .join('');
}

function table(rows: readonly (readonly [string, string])[]): string {
  const cells = rows.map(([key, value]) => `<tr><th scope="row">${escaped(key)}</th><td>${escaped(value)}</td></tr>`);
  return `<table><tbody>${cells.join('')}</tbody></table>`;
}
