// Looks for features that give the target away by themselves, in ways that a correlation does not show: a threshold, a curve,
// its order, a code whose first or last letters say it, being filled in at all, or the place in the file. A sample decides,
// feature by feature.

import type { DuckDBConnection } from '@duckdb/node-api';
import { queryColumns } from '../database.ts';
import type { SqlValue } from '../database.ts';
import type { Feature, TargetFacts } from './roles.ts';
import { treeScore } from './small-tree.ts';
import type { Labels } from './small-tree.ts';
import { numericValue, typedValue } from './stored.ts';
import type { MeasuredTable } from './table.ts';
import { short } from './typing.ts';

/** A column that gives the target away, and how; without a name it is the place in the file. */
export interface SingleFeatureLeak {
  readonly name: string | null;
  readonly message: string;
}

/** Rows looked at, and cells read by one query. */
const sampleRows = 4096;
const cellsAtOnce = 2 ** 19;
/** Fewer rows prove nothing. */
const fewestRows = 40;
/** From these scores on a feature is the target in other words: mean recall of the classes, and R². */
const tellingRecall = 0.99;
const tellingDetermination = 0.995;
/** Being filled in (or not) says a class: rows that show it, at least, and their share of the class. */
const tellingRows = 20;
const tellingShare = 0.5;
/** From these scores on neighbouring rows are alike. */
const orderRecall = 0.95;
const orderDetermination = 0.9;
/** Classes told apart; the rest is one. */
const classLimit = 20;

/** Features of which one small tree, judged on other rows, tells the target. */
export async function singleFeatureLeaks(
  connection: DuckDBConnection,
  table: MeasuredTable,
  target: TargetFacts,
  features: readonly Feature[],
): Promise<SingleFeatureLeak[]> {
  const candidates = features.filter(({ info }) => info.distinct > 0 && info.type !== 'text');
  const found: SingleFeatureLeak[] = [];
  const columnsAtOnce = Math.floor(cellsAtOnce / Math.min(table.rows, sampleRows));
  for (let start = 0; start < candidates.length; start += columnsAtOnce) {
    const group = candidates.slice(start, start + columnsAtOnce);
    const [places = [], labels = [], ...columns] = await readSample(connection, table, target, group);
    const kept = [...labels.keys()].filter((row) => labels[row] !== null);
    if (kept.length < fewestRows) return found;
    const known = labelsOf(
      target,
      kept.map((row) => labels[row] as SqlValue),
    );
    // The same for all features that are read together.
    const order = orderOf(known);
    const inFile =
      start > 0
        ? null
        : orderTells(
            kept.map((row) => Number(places[row])),
            known,
            target,
          );
    if (inFile !== null) found.push({ name: null, message: inFile });
    group.forEach((feature, index) => {
      const values = kept.map((row) => columns[index]?.[row] ?? null);
      const how = howItTells(feature, values, known, target, order);
      if (how !== null)
        found.push({
          name: feature.info.name,
          message: `${short(feature.info.name)} gives ${short(target.info.name)} away: ${how}.`,
        });
    });
  }
  return found;
}

/** Evenly spread rows: the place in the file, the target, then the features; numbers as such, all else as text. */
function readSample(
  connection: DuckDBConnection,
  table: MeasuredTable,
  target: TargetFacts,
  features: readonly Feature[],
): Promise<SqlValue[][]> {
  const value = ({ column, info }: Feature): string =>
    info.type === 'number' || info.type === 'datetime' || info.type === 'boolean'
      ? numericValue(column, info.type)
      : typedValue(column, info.type);
  const label =
    target.task === 'regression' ? numericValue(target.column, 'number') : typedValue(target.column, 'category');
  const step = Math.max(1, Math.floor(table.rows / sampleRows));
  // The sample of a long table is thinned already.
  // The rows are chosen before their cells are read.
  const places = `(SELECT file_row_number, row_number() OVER (ORDER BY file_row_number) AS place FROM ${table.sample})`;
  const held = `SELECT count(*) FROM ${table.sample}`;
  const every = step === 1 ? '1' : `greatest(1, (${held}) // ${sampleRows})`;
  return queryColumns(
    connection,
    `SELECT ${['place', label, ...features.map(value)].join(', ')} FROM ${table.sample}
     JOIN (SELECT * FROM ${places} WHERE place % ${every} = 0 ORDER BY hash(place) LIMIT ${sampleRows}) USING (file_row_number)
     ORDER BY hash(place)`,
  );
}

/** What to say if the place in the file tells the target, other than by being sorted by it; null = it does not. */
function orderTells(places: readonly number[], labels: Labels, { info }: TargetFacts): string | null {
  const inOrder = [...places.keys()].sort((one, other) => (places[one] as number) - (places[other] as number));
  const steps = inOrder
    .slice(1)
    .map((row, index) => (labels.of[row] as number) - (labels.of[inOrder[index] as number] as number));
  const sorted =
    labels.kind === 'classes'
      ? steps.filter((step) => step !== 0).length < 2 * labels.classes
      : steps.every((step) => step >= 0) || steps.every((step) => step <= 0);
  if (sorted) return null;
  const score = treeScore(Float64Array.from(places), labels);
  if (score < (labels.kind === 'classes' ? orderRecall : orderDetermination)) return null;
  const reached = `${labels.kind === 'classes' ? 'balanced accuracy' : 'R²'} ${Math.floor(score * 1000) / 1000}`;
  return `Neighbouring rows are alike: their place in the file tells ${short(info.name)} (${reached}). Split by time or by group, or results look better than they are.`;
}

function labelsOf({ task }: TargetFacts, labels: readonly SqlValue[]): Labels {
  if (task === 'regression') return { kind: 'values', of: Float64Array.from(labels, Number) };
  const ranked = ranks(labels.map(String));
  const classes = Math.min(classLimit + 1, Math.max(...ranked) + 1);
  return { kind: 'classes', classes, of: Int32Array.from(ranked, (rank) => Math.min(rank, classLimit)) };
}

/** Texts as numbers: the most frequent is 0. */
function ranks(texts: readonly string[]): number[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const ordered = [...counts].sort(([one, first], [other, second]) => second - first || (one < other ? -1 : 1));
  const rank = new Map(ordered.map(([text], index) => [text, index]));
  return texts.map((text) => rank.get(text) ?? 0);
}

/** How a feature tells the target, for people; null = it does not. */
function howItTells(
  { info }: Feature,
  values: readonly SqlValue[],
  labels: Labels,
  target: TargetFacts,
  order: Order | null,
): string | null {
  const filled = howFillingTells(values, labels, target);
  if (filled !== null) return filled;
  const telling = labels.kind === 'classes' ? tellingRecall : tellingDetermination;
  const score = (feature: Float64Array): number => treeScore(feature, labels);
  const found = (what: string, reached: number, verb = 'tells it by itself'): string =>
    `${what} ${verb} (${labels.kind === 'classes' ? 'balanced accuracy' : 'R²'} ${Math.floor(reached * 1000) / 1000})`;
  if (info.type === 'number' || info.type === 'datetime' || info.type === 'boolean') {
    const feature = Float64Array.from(values, (value) => (value === null ? -Infinity : Number(value)));
    const reached = score(feature);
    return reached >= telling ? found('one small tree on it', reached) : howOrderTells(feature, order);
  }
  // Mostly different words are known by heart, not understood: only how they begin or end may say something.
  const texts = values.map((value) => (value === null ? null : String(value)));
  if (new Set(texts).size * 5 <= texts.length) {
    const reached = score(codes(texts, labels));
    if (reached >= telling) return found('its value', reached);
  }
  for (const length of [1, 2, 3, -1, -2, -3]) {
    const parts = texts.map((text) => (length > 0 ? text?.slice(0, length) : text?.slice(length)) ?? null);
    if (new Set(parts).size * 5 > texts.length || texts.every((text, index) => text === parts[index])) continue;
    const reached = score(codes(parts, labels));
    const end = length > 0 ? 'first' : 'last';
    const letters = Math.abs(length) === 1 ? `its ${end} letter` : `its ${end} ${Math.abs(length)} letters`;
    if (reached >= telling)
      return found(letters, reached, Math.abs(length) === 1 ? undefined : 'tell it by themselves');
  }
  return null;
}

/** Rows that say something of the order of the target, and their places in it. */
interface Order {
  readonly rows: readonly number[];
  readonly places: Float64Array;
}

/** Null = it has none, or too few rows tell: a value that most rows have says nothing of an order, and its rows are left out. */
function orderOf(labels: Labels): Order | null {
  if (labels.kind !== 'values') return null;
  const { of } = labels;
  const counts = new Map<number, number>();
  for (const label of of) counts.set(label, (counts.get(label) ?? 0) + 1);
  const rows = [...of.keys()].filter((row) => (counts.get(of[row] as number) ?? 0) * 2 <= of.length);
  return rows.length < fewestRows ? null : { rows, places: placesOf(rows.map((row) => of[row] as number)) };
}

/**
 * How the order of a feature tells the order of the target, for people; null = it does not. Where a few values are far beyond
 * the others, they are most of an R² and hide it.
 */
function howOrderTells(feature: Float64Array, order: Order | null): string | null {
  if (order === null) return null;
  const score = treeScore(
    Float64Array.from(order.rows, (row) => feature[row] as number),
    { kind: 'values', of: order.places },
  );
  if (score < tellingDetermination) return null;
  return `its order tells that of the target (R² of the ranks ${Math.floor(score * 1000) / 1000})`;
}

/** The place of each value among all, the middle one for values that are alike. */
function placesOf(values: readonly number[]): Float64Array {
  const sorted = Float64Array.from(values).sort();
  const places = new Map<number, number>();
  for (let start = 0, end = 0; start < sorted.length; start = end) {
    while (end < sorted.length && sorted[end] === sorted[start]) end++;
    places.set(sorted[start] as number, (start + end - 1) / 2);
  }
  return Float64Array.from(values, (value) => places.get(value) as number);
}

/** Texts in the order of the target they occur with, so that one cut parts them. Half of the rows, those a tree grows on, tell. */
function codes(texts: readonly (string | null)[], labels: Labels): Float64Array {
  const sums = new Map<string, { count: number; sum: number; classes: Map<number, number> }>();
  texts.forEach((text, row) => {
    if (row % 2 === 1) return;
    const entry = sums.get(text ?? '') ?? { count: 0, sum: 0, classes: new Map<number, number>() };
    const label = labels.of[row] as number;
    entry.count++;
    entry.sum += label;
    entry.classes.set(label, (entry.classes.get(label) ?? 0) + 1);
    sums.set(text ?? '', entry);
  });
  const code = new Map(
    [...sums].map(([text, { count, sum, classes }]) => {
      if (labels.kind === 'values') return [text, sum / count];
      return [text, [...classes].sort(([, one], [, other]) => other - one)[0]?.[0] ?? -1];
    }),
  );
  return Float64Array.from(texts, (text) => code.get(text ?? '') ?? -1);
}

/** Whether a cell's being filled in, or being empty, says a class for sure. */
function howFillingTells(values: readonly SqlValue[], labels: Labels, { info }: TargetFacts): string | null {
  if (labels.kind !== 'classes') return null;
  const total = new Float64Array(labels.classes);
  const filled = new Float64Array(labels.classes);
  values.forEach((value, row) => {
    const label = labels.of[row] as number;
    total[label] = (total[label] as number) + 1;
    if (value !== null) filled[label] = (filled[label] as number) + 1;
  });
  const empty = total.map((count, label) => count - (filled[label] as number));
  for (const [cells, words] of [
    [filled, 'filled in'],
    [empty, 'empty'],
  ] as const) {
    const classes = [...cells.keys()].filter((label) => (cells[label] as number) > 0);
    const [only] = classes;
    if (only === undefined || classes.length > 1) continue;
    const [count, all] = [cells[only] as number, total[only] as number];
    // As many rows of one class by chance: hardly ever.
    const chance = count * Math.log10(all / values.length);
    if (count < tellingRows || count < all * tellingShare || chance > -6) continue;
    return `it is ${words} for one class of ${short(info.name)} only (${Math.floor((100 * count) / all)} % of its rows)`;
  }
  return null;
}
