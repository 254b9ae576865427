// What is explained: rows of raw columns whose truth is known, and somebody who answers for rows like them. Nothing here knows who that
// is. N rows, C columns, K classes.

import { plainClassScores } from '../evaluation/class-scores.ts';
import { scoreNames } from '../evaluation/names.ts';
import { plainValueScores } from '../evaluation/value-scores.ts';
import type { OutputSpec, RawColumn } from '../model/spec.ts';
import type { ScoreName } from '../protocol/evaluated-rows.ts';
import { drawnPlaces } from '../optim/random.ts';

/** Answers for rows [C][rows] of raw columns: probabilities [rows,K], or values [rows] in the target's unit. */
export type Answer = (columns: readonly Float64Array[], rows: number) => Promise<Float64Array>;

export interface Subject {
  readonly columns: readonly RawColumn[];
  readonly output: OutputSpec;
  /** [C][N] as `RawColumn` says. */
  readonly values: readonly Float64Array[];
  /** [N] class numbers or values; NaN where not known. */
  readonly truth: Float64Array;
  /** [N] rows of the dataset, from 0. */
  readonly sources: Uint32Array;
}

/** Lets go of work that is not wanted any more, and tells how far it is: 0 … 1. */
export interface Pace {
  readonly stopped?: () => boolean;
  readonly onProgress?: (share: number) => void;
}

/** Values that one question holds at most: some 32 MB. */
const mostValues = 2 ** 22;
const mostRows = 65_536;

/** Rows that are asked for at once. */
export const rowsAtOnce = (columns: number): number =>
  Math.max(1, Math.min(mostRows, Math.floor(mostValues / Math.max(1, columns))));

/** The class whose probability is explained where none is chosen: the second of two, else the first; null: a number. */
export function usualClass(output: OutputSpec): number | null {
  return output.kind === 'value' ? null : output.classes.length === 2 ? 1 : 0;
}

/** The answer that is explained: the probability of a class, or the value itself. */
export async function oneAnswer(
  { output }: Pick<Subject, 'output'>,
  answer: Answer,
  wanted: number | null,
  columns: readonly Float64Array[],
  rows: number,
): Promise<Float64Array> {
  const answers = await answerAll(answer, columns, rows);
  const K = output.kind === 'classes' ? output.classes.length : 1;
  return K === 1 ? answers : Float64Array.from({ length: rows }, (_, row) => answers[row * K + (wanted ?? 0)]);
}

/** All of it, as many rows at a time as one question may hold. */
export async function answerAll(answer: Answer, columns: readonly Float64Array[], rows: number): Promise<Float64Array> {
  const most = rowsAtOnce(columns.length);
  if (rows <= most) return answer(columns, rows);
  const parts: Float64Array[] = [];
  for (let from = 0; from < rows; from += most) {
    const to = Math.min(rows, from + most);
    const part = columns.map((values) => values.subarray(from, to));
    parts.push(await answer(part, to - from));
  }
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let place = 0;
  for (const part of parts) {
    all.set(part, place);
    place += part.length;
  }
  return all;
}

/** Places of some of so many rows, drawn without replacement, in order; the same ones every time. */
export const drawnRows = (rows: number, most: number, seed: number): Uint32Array => drawnPlaces(rows, most, seed, 31);

/** Some of the rows. */
export function someRows(subject: Subject, places: Uint32Array): Subject {
  if (places.length === subject.truth.length) return subject;
  const take = (values: Float64Array): Float64Array => Float64Array.from(places, (row) => values[row]);
  return {
    ...subject,
    values: subject.values.map(take),
    truth: take(subject.truth),
    sources: Uint32Array.from(places, (row) => subject.sources[row]),
  };
}

/** The scores that importance is told in; the first is the one that is meant where none is named. */
export function scoresFor(output: OutputSpec): readonly ScoreName[] {
  return output.kind === 'classes' ? ['roc_auc', 'log_loss', 'accuracy'] : ['rmse', 'mae', 'r2'];
}

/** Those that exist for these answers, by name. */
export function scoresOf({ output, truth, sources }: Subject, answers: Float64Array): Readonly<Record<string, number>> {
  const all: Readonly<Record<string, number>> =
    output.kind === 'classes'
      ? plainClassScores({
          kind: 'classes',
          classes: output.classes,
          sources,
          truth: Int32Array.from(truth),
          probabilities: answers,
        })
      : plainValueScores({ truth, predicted: answers });
  return Object.fromEntries(
    scoresFor(output).flatMap((name) => (Number.isFinite(all[name]) ? [[name, all[name]]] : [])),
  );
}

/** How much worse `other` is. */
export function dropOf(name: string, value: number, other: number): number {
  return scoreNames[name as ScoreName].better === 'lower' ? other - value : value - other;
}
