// What each column did for the answer of one row: Shapley values by sampling (Štrumbelj & Kononenko 2014). A background row becomes the
// row column by column, in an order drawn by chance and then in the reverse one (antithetic: Mitchell et al. 2022); what the answer
// moves by at a column is its share. Each way goes from the background's answer to the row's, so the shares add up exactly. B rows.

import { shuffle } from '../optim/random.ts';
import type { Contributions } from '../protocol/explanation.ts';
import { drawnRows, oneAnswer, rowsAtOnce, someRows, type Answer, type Pace, type Subject } from './subject.ts';

const seed = 32;
const stream = 5_000;
/** Ways through the columns, two from each row it is compared with; more from each where those are few. */
const usualDraws = 1_024;

/** The rows that one is compared with, for so many draws: the same ones every time. */
export function backgroundOf(whole: Subject, draws: number): Subject {
  return someRows(whole, drawnRows(whole.truth.length, Math.ceil(draws / 2), seed));
}

/** One row: what stands in its columns, which row of the dataset it is, and its truth (NaN = not known). */
export interface ExplainedRow {
  readonly values: Float64Array;
  readonly source: number;
  readonly truth: number;
}

export async function contributionsOf(
  whole: Subject,
  answer: Answer,
  row: ExplainedRow,
  wanted: number | null,
  { stopped, onProgress, draws = usualDraws }: Pace & { readonly draws?: number } = {},
): Promise<Contributions> {
  const subject = backgroundOf(whole, draws);
  const [C, B] = [subject.columns.length, subject.truth.length];
  const pairs = Math.ceil(draws / 2 / B) * B;
  const sums = new Float64Array(C);
  const squares = new Float64Array(C);
  let [average, prediction, done] = [0, 0, 0];
  const atOnce = Math.max(1, Math.floor(rowsAtOnce(C) / (2 * (C + 1))));
  while (done < pairs && !(done >= B && stopped?.())) {
    const count = Math.min(atOnce, pairs - done);
    const answers = await walk(subject, answer, row.values, wanted, done, count);
    for (let pair = 0; pair < count; pair++) {
      const order = orderOf(C, done + pair);
      const start = pair * 2 * (C + 1);
      const shares = new Float64Array(C);
      for (let step = 0; step < C; step++) {
        shares[order[step]] += (answers[start + step + 1] - answers[start + step]) / 2;
        const back = start + C + 1 + step;
        shares[order[C - 1 - step]] += (answers[back + 1] - answers[back]) / 2;
      }
      shares.forEach((share, column) => {
        sums[column] += share;
        squares[column] += share * share;
      });
      average += answers[start];
      prediction = answers[start + C];
    }
    done += count;
    onProgress?.(done / pairs);
  }
  average /= done;
  const shares = sums.map((sum) => sum / done);
  const errors = squares.map((square, column) => {
    const variance = Math.max(0, square / done - shares[column] ** 2);
    return done > 1 ? Math.sqrt(variance / (done - 1)) : NaN;
  });
  return { ...row, average, background: Math.min(B, done), prediction, shares, errors };
}

/** The answers along both ways of some pairs: [pairs, 2, C+1], from the background row to the row. */
function walk(
  subject: Subject,
  answer: Answer,
  values: Float64Array,
  wanted: number | null,
  first: number,
  pairs: number,
): Promise<Float64Array> {
  const [C, B] = [subject.columns.length, subject.truth.length];
  const rows = pairs * 2 * (C + 1);
  const asked = subject.columns.map(() => new Float64Array(rows));
  const place = new Uint32Array(C);
  for (let pair = 0; pair < pairs; pair++) {
    const background = (first + pair) % B;
    orderOf(C, first + pair).forEach((column, step) => (place[column] = step));
    const start = pair * 2 * (C + 1);
    for (let column = 0; column < C; column++) {
      const [from, to] = [subject.values[column][background], values[column]];
      const own = asked[column];
      for (let step = 0; step <= C; step++) {
        own[start + step] = step > place[column] ? to : from;
        own[start + C + 1 + step] = step > C - 1 - place[column] ? to : from;
      }
    }
  }
  return oneAnswer(subject, answer, wanted, asked, rows);
}

function orderOf(columns: number, pair: number): Uint32Array {
  const order = Uint32Array.from({ length: columns }, (_, column) => column);
  shuffle(order, seed, stream, pair);
  return order;
}
