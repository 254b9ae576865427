// The axes of many runs: the settings in which they differ, then what they cost, then their scores, each with a place for every run. Pure: the
// drawing, the table, the scatter and the export all read these.

import { visible } from '../../../../engine/protocol/visible.ts';
import { ownValue } from '../../../../engine/protocol/own.ts';
import type { RunRecord } from '../../../../engine/protocol/runs.ts';
import { asEnglish, duration, fixed, missing, score, short } from '../../../lib/format.ts';
import { everySettingOf } from '../../../lib/run-settings.ts';
import { elapsedOf } from '../../../lib/run-words.ts';
import { lowerWins, metricWord, parseSeries } from '../../../lib/series.ts';

export interface Axis {
  readonly id: string;
  readonly title: string;
  readonly kind: 'setting' | 'cost' | 'score';
  /** Numbers, or words in the order in which they stand on the axis; null: the run has none. */
  readonly values: readonly (number | null)[];
  /** Of words: what each number stands for. */
  readonly words: readonly string[] | null;
  /** Its larger values are the worse ones. */
  readonly lower: boolean;
  readonly logarithmic: boolean;
  readonly write: (value: number) => string;
}

/** All axes of these runs, those that say nothing left out. */
export function axesOf(runs: readonly RunRecord[], metrics: readonly string[]): readonly Axis[] {
  const read = (): readonly Facts[] =>
    runs.map((run) => new Map(everySettingOf(run).map(({ label, value }) => [label, value])));
  const all = asEnglish(read);
  const shown = read();
  const names = [...new Set(all.flatMap((facts) => [...facts.keys()]))];
  const settings = names.flatMap((name) => {
    const [texts, written] = [all, shown].map((of) => of.map((facts) => facts.get(name) ?? null));
    return new Set(texts).size > 1 ? [settingAxis(name, texts, written)] : [];
  });
  const costs = [
    numberAxis('time', 'time', 'cost', runs.map(elapsedOf), true, duration),
    numberAxis(
      'parameters',
      'parameters',
      'cost',
      runs.map(({ parameters }) => parameters || null),
      true,
      fixed,
    ),
  ];
  const scores = ['val_loss', ...metrics.filter((name) => name !== 'val_loss')].map((series) => {
    const { metric } = parseSeries(series);
    const values = runs.map((run) => finite(ownValue(run.best, series)?.value));
    return numberAxis(series, `validation ${metricWord(metric)}`, 'score', values, lowerWins(metric), score);
  });
  // A setting that some of them have not says nothing where all others have the same: their learners differ.
  const differing = (values: readonly (number | null)[]): boolean =>
    new Set(values.filter((value) => value !== null)).size > 1;
  return [...settings, ...costs, ...scores].filter(({ values }) => differing(values));
}

type Facts = ReadonlyMap<string, string>;

const finite = (value: number | null | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** A span of more than this has a logarithmic axis. */
const wide = 20;

function numberAxis(
  id: string,
  title: string,
  kind: Axis['kind'],
  found: readonly (number | null | undefined)[],
  lower: boolean,
  write: (value: number) => string,
): Axis {
  const values = found.map(finite);
  const known = values.filter((value) => value !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  return { id, title, kind, values, words: null, lower, logarithmic: least > 0 && most / least > wide, write };
}

/** `texts`: as English has them, which can be read as numbers; `written`: as they are shown. */
function settingAxis(name: string, texts: readonly (string | null)[], written: readonly (string | null)[]): Axis {
  const numbers = texts.map((text) => (text === null ? null : plainNumber(text)));
  const title = name.charAt(0).toLowerCase() + name.slice(1);
  if (texts.every((text, index) => text === null || numbers[index] !== null)) {
    return { ...numberAxis(`setting ${name}`, title, 'setting', numbers, false, short), lower: false };
  }
  const words = [...new Set(written.filter((text) => text !== null))].sort();
  const values = written.map((text) => (text === null ? null : words.indexOf(text)));
  const write = (value: number): string => visible(words[value] ?? missing);
  return { id: `setting ${name}`, title, kind: 'setting', values, words, lower: false, logarithmic: false, write };
}

function plainNumber(text: string): number | null {
  const plain = text.replaceAll(',', '').replace('−', '-').replace('e−', 'e-');
  const value = Number(plain);
  return plain.trim() === '' || !Number.isFinite(value) ? null : value;
}

/** Where a value stands between the ends of an axis, 0 … 1; scores with the better one on top. */
export function placeOn(axis: Axis, value: number): number {
  const scale = (number: number): number => (axis.logarithmic ? Math.log(number) : number);
  const [least, most] = endsOf(axis);
  const share = most === least ? 0.5 : (scale(value) - scale(least)) / (scale(most) - scale(least));
  return axis.kind === 'score' && axis.lower ? 1 - share : share;
}

export function endsOf({ values }: Axis): readonly [least: number, most: number] {
  const known = values.filter((value) => value !== null);
  return [Math.min(...known), Math.max(...known)];
}

/** Values written beside an axis: of words and of few numbers all, else about five between the ends. */
export function ticksOf(axis: Axis): readonly number[] {
  const known = [...new Set(axis.values.filter((value) => value !== null))].sort((a, b) => a - b);
  if (known.length <= 6) return known;
  const [least, most] = endsOf(axis);
  const between = Array.from({ length: 5 }, (_, index) => index / 4);
  if (axis.words !== null) return [...new Set(between.map((share) => Math.round(share * (known.length - 1))))];
  return between.map((share) => (axis.logarithmic ? least * (most / least) ** share : least + share * (most - least)));
}

/** A chosen part of an axis, in places. */
export type Brush = readonly [from: number, to: number];

/** Positions of the runs within all brushes. */
export function withinBrushes(
  axes: readonly Axis[],
  brushes: ReadonlyMap<string, Brush>,
  count: number,
): readonly number[] {
  const chosen = axes.filter(({ id }) => brushes.has(id));
  return Array.from({ length: count }, (_, run) => run).filter((run) =>
    chosen.every((axis) => {
      const value = axis.values[run];
      if (value === null) return false;
      const [from, to] = brushes.get(axis.id)!;
      const place = placeOn(axis, value);
      return place >= Math.min(from, to) - 1e-9 && place <= Math.max(from, to) + 1e-9;
    }),
  );
}

/** Positions of the runs that no other run beats in both columns, from the left to the right: lower is better where the axis says so. */
export function unbeaten(x: Axis, y: Axis): readonly number[] {
  const better = (axis: Axis, value: number): number => (axis.lower ? -value : value);
  const points = x.values.flatMap((value, run) => {
    const other = y.values[run];
    return value === null || other === null ? [] : [{ run, x: value, gain: better(x, value), score: better(y, other) }];
  });
  return points
    .filter((point) =>
      points.every(
        (other) =>
          !(
            other.gain >= point.gain &&
            other.score >= point.score &&
            (other.gain > point.gain || other.score > point.score)
          ),
      ),
    )
    .sort((a, b) => a.x - b.x)
    .map(({ run }) => run);
}

/** The table as a file of values separated by commas: a run a row. */
export function tableText(runs: readonly RunRecord[], axes: readonly Axis[]): string {
  const cell = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = runs.map((run, index) => [
    String(run.id),
    run.name,
    ...axes.map(({ values, words }) => {
      const value = values[index];
      return value === null ? '' : words === null ? String(value) : words[value];
    }),
  ]);
  return [['run', 'name', ...axes.map(({ title }) => title)], ...rows]
    .map((row) => `${row.map(cell).join(',')}\n`)
    .join('');
}
