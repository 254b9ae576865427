// A cross-validation as one HTML page: mean and deviation of every score, the folds beside each other, the curves of all of them.

import { metricWords } from '../../model/metrics.ts';
import type { ExportedFile, FoldsSource } from '../../protocol/exports.ts';
import { missingFolds } from '../../protocol/folds.ts';
import { ownValue } from '../../protocol/own.ts';
import { chart, escaped, shown, type Line } from './chart.ts';
import { page, settings } from './report.ts';

export function exportFoldsHtml(name: string, source: FoldsSource): ExportedFile {
  const { record, log } = source;
  const result = record.result?.folds;
  const missing = result ? missingFolds(result) : null;
  return page(name, record, [
    ...(missing ? [`<p>${escaped(missing)}</p>`] : []),
    '<h2>Scores of the folds’ test rows</h2>',
    result ? scores(source) : '',
    '<h2>Curves of the folds</h2>',
    `<div class="charts">${foldSeries(source)
      .map((series) => chart(metricWords(series.replace(/^(val|train)_/, '')), lines(source, series), 'epoch'))
      .join('')}</div>`,
    settings(record),
    `<h2>Log</h2><pre>${escaped(log.map(({ message }) => message).join('\n'))}</pre>`,
  ]);
}

/** Curves of the validation rows; of folds without any, those of training. */
export function foldSeries({ folds }: FoldsSource): readonly string[] {
  const all = [...new Set(folds.flatMap(({ points }) => points.map(({ series }) => series)))];
  const own = all.filter((series) => series.startsWith('val_'));
  return own.length > 0 ? own : all.filter((series) => series.startsWith('train_'));
}

function lines({ folds }: FoldsSource, series: string): readonly Line[] {
  return folds.flatMap(({ fold, points }): Line[] => {
    const own = points.filter((point) => point.series === series).sort((a, b) => a.step - b.step);
    if (own.length === 0) return [];
    const colour = `hsl(${Math.round((360 * (fold - 1)) / folds.length)} 65% 45%)`;
    return [{ name: `fold ${fold}`, colour, dash: '', points: own.map(({ epoch, value }) => [epoch, value] as const) }];
  });
}

/** A row a score: mean, deviation, then a cell a fold. */
function scores({ record }: FoldsSource): string {
  const { mean, deviation, folds } = record.result!.folds!;
  const cell = (value: number | undefined): string => `<td class="n">${value === undefined ? '–' : shown(value)}</td>`;
  const rows = Object.keys(mean).map((key) => {
    const own = folds.map(({ metrics }) => cell(ownValue(metrics, key)));
    const words = metricWords(key.replace(/^test_/, ''));
    return `<tr><th scope="row">${escaped(words)}</th>${cell(mean[key])}${cell(deviation[key])}${own.join('')}</tr>`;
  });
  const heads = ['', 'mean', 'deviation', ...folds.map(({ fold }) => `fold ${fold}`)].map((one) => `<th>${one}</th>`);
  return `<table><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}
