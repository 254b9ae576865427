// Texts read back: the report, whose elements may name nothing outside it and whose figures are the run's, and the specification.

import { readModelFile } from '../../learners/model-file.ts';
import { metricWords } from '../../model/metrics.ts';
import { parseSpecification } from '../../protocol/specification.ts';
import type { FoldsSource } from '../../protocol/exports.ts';
import { ownValue } from '../../protocol/own.ts';
import type { RunRecord } from '../../protocol/runs.ts';
import { decodeText } from '../../train/safetensors.ts';
import { shown } from '../html/chart.ts';
import { foldSeries } from '../html/folds.ts';
import { settingRows } from '../html/settings.ts';
import type { OpenedRun } from '../opened.ts';
import { turnedIn } from '../outward.ts';
import { counted, differs } from './differs.ts';
import { equalBits } from './weights.ts';

type Files = ReadonlyMap<string, Uint8Array>;

/** Elements that bring nothing from elsewhere and run nothing. */
const elements = new Set(
  'html head meta title style body h1 h2 p div table thead tbody tr th td figure figcaption svg line text polyline pre'.split(
    ' ',
  ),
);
const attributes = new Set(
  'lang charset name content class scope viewbox role aria-label x x1 x2 y y1 y2 text-anchor points stroke stroke-dasharray fill'.split(
    ' ',
  ),
);
const columns = ['train', 'val', 'test'] as const;

export function readHtml(files: Files, { record, points }: OpenedRun): readonly string[] {
  const [page] = [...files.values()].map(decodeText);
  selfContained(page);
  const rows = rowsOf(page);
  const scores = Object.entries(record.result?.metrics ?? {}).flatMap(([key, value]) => {
    const at = columns.findIndex((split) => key.startsWith(`${split}_`));
    return at < 0 ? [] : [{ name: metricWords(key.slice(columns[at].length + 1)), at, value }];
  });
  for (const { name, at, value } of scores) {
    const holds = rows.some(([row, cells]) => row === name && cells.length === 3 && cells[at] === shown(value));
    if (!holds) differs(`its ${columns[at]} ${name} is not ${shown(value)}`);
  }
  const settings = readSettings(rows, record);
  const curves = new Set(points.map(({ series }) => series)).size;
  const drawn = page.match(/<polyline /g)?.length ?? 0;
  if (drawn !== curves) differs(`${counted(drawn, 'curve')} instead of ${curves}`);
  return [
    'no reference to anything outside it, no script',
    `${counted(scores.length, 'score')}, ${counted(settings, 'setting')} and ${counted(curves, 'curve')} equal to the run's`,
  ];
}

/** The page of a cross-validation. */
export function readFoldsHtml(page: string, source: FoldsSource): readonly string[] {
  selfContained(page);
  const rows = rowsOf(page);
  const { mean = {}, deviation = {}, folds = [] } = source.record.result?.folds ?? {};
  for (const key of Object.keys(mean)) {
    const name = metricWords(key.replace(/^test_/, ''));
    const values = [mean[key], deviation[key], ...folds.map(({ metrics }) => ownValue(metrics, key))];
    const cells = values.map((value) => (value === undefined ? '–' : shown(value)));
    if (!rows.some(([row, found]) => row === name && found.join() === cells.join())) differs(`${name} is another`);
  }
  const settings = readSettings(rows, source.record);
  const curves = foldSeries(source).reduce(
    (sum, series) => sum + source.folds.filter(({ points }) => points.some((one) => one.series === series)).length,
    0,
  );
  const drawn = page.match(/<polyline /g)?.length ?? 0;
  if (drawn !== curves) differs(`${counted(drawn, 'curve')} instead of ${curves}`);
  return [
    'no reference to anything outside it, no script',
    `${counted(Object.keys(mean).length, 'score')} of ${counted(folds.length, 'fold')}, ${counted(settings, 'setting')} and ${counted(curves, 'curve')} equal to the run's`,
  ];
}

type Row = readonly [name: string, cells: readonly string[]];

function rowsOf(page: string): readonly Row[] {
  return [...page.matchAll(/<tr><th scope="row">(.*?)<\/th>(.*?)<\/tr>/gs)].map(([, name, cells]) => [
    plain(name),
    [...cells.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => plain(cell)),
  ]) as readonly Row[];
}

/** How many there are. */
function readSettings(rows: readonly Row[], record: RunRecord): number {
  const settings = settingRows(record);
  for (const [label, value] of settings) {
    if (!rows.some(([row, cells]) => row === label && cells[0] === value)) differs(`the setting ${label} is another`);
  }
  return settings.length;
}

/** Texts of people are escaped, so that each `<` begins an element of the report's own. */
function selfContained(page: string): void {
  for (const [tag, name] of page.matchAll(/<\/?([a-z0-9]+)[^>]*>/gi)) {
    if (!elements.has(name.toLowerCase())) differs(`the report has an element ${name}`);
    for (const [, attribute] of tag.replace(/"[^"]*"/g, '""').matchAll(/\s([\w:-]+)=/g)) {
      if (!attributes.has(attribute.toLowerCase())) differs(`the report has an attribute ${attribute}`);
    }
  }
  const styles = [...page.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style]) => style).join('');
  if (/url\s*\(|@import|:\/\//i.test(styles)) differs('the styles of the report name an address');
}

const plain = (text: string): string =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));

export function readSpecification(files: Files, run: OpenedRun): readonly string[] {
  const [text] = [...files.values()].map(decodeText);
  const parsed = parseSpecification(text);
  if (typeof parsed === 'string') return differs(parsed);
  readModelFile(text, run.record.id);
  const { weights, run: about, preprocessing } = parsed;
  if (about.id !== run.record.id || about.name !== run.record.name) differs('it is of another run');
  if (JSON.stringify(about.config) !== JSON.stringify(run.record.config)) differs('its settings are others');
  if (JSON.stringify(preprocessing) !== JSON.stringify(run.recipe)) differs('its preprocessing is another');
  const turned = turnedIn(run.file);
  const expected = Object.entries(run.tensors);
  if (Object.keys(weights).length !== expected.length) differs('it has other weights');
  for (const [name, tensor] of expected) {
    const found = Object.hasOwn(weights, name) ? weights[name] : differs(`the tensor ${name} is missing`);
    // JSON knows no negative zero.
    const own = { shape: tensor.shape, data: tensor.data.map((value) => value + 0) };
    const written = { shape: found.shape, data: Float32Array.from(found.values) };
    if (!equalBits(own, written, turned(name, own))) differs(`the values of ${name} are others`);
  }
  return [
    'text that its schema and that of the model accept',
    `settings, preprocessing and ${counted(expected.length, 'tensor')} equal to the run's`,
  ];
}
