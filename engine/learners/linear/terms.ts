// Texts as counted words (TF-IDF; Spärck Jones 1972): every word and every pair of neighbours that two training texts have is a column. Its
// value is (1 + ln count) · (1 + ln((1 + n) / (1 + texts that have it))), of n training texts, and the values of a text have length 1:
// scikit-learn's TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2). N rows, T terms.

import type { Weights } from '../../train/weights.ts';
import type { SparseRows } from './sparse.ts';

/** What stands for a column of texts. */
export interface Terms {
  /** [T, 2]: codes of a word and of the one behind it; 0 = the word alone. */
  readonly words: Float32Array;
  /** [T] */
  readonly weights: Float32Array;
}

/** Codes of each row, without padding. */
export type CodesOfRows = readonly Uint32Array[];

/** Texts that have a term, at least; of few texts one is enough. */
const leastTexts = 2;
const fewTexts = 50;
/** Tokens that terms are looked for in, of evenly drawn texts beyond. */
const mostTokens = 5_000_000;
/** Weights for terms at most. */
const mostWeights = 1_000_000;
const mostTerms = 200_000;
/** Pairs are looked up by one number. */
const pair = 2 ** 25;

/** Each term of a text, by number, with how often it is there. */
function countTerms(codes: Uint32Array): Map<number, number> {
  const counts = new Map<number, number>();
  const add = (key: number): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
  for (let i = 0; i < codes.length; i++) {
    add(codes[i] * pair);
    if (i + 1 < codes.length) add(codes[i] * pair + codes[i + 1]);
  }
  return counts;
}

/** The terms of the first `rows` texts, those of most texts first; `outputs`: scores that each has a weight for. */
export function fitTerms(texts: CodesOfRows, rows: number, outputs: number): Terms {
  let tokens = 0;
  for (let row = 0; row < rows; row++) tokens += texts[row].length;
  const every = Math.max(1, Math.ceil(tokens / mostTokens));
  const having = new Map<number, number>();
  let read = 0;
  for (let row = 0; row < rows; row += every, read++) {
    for (const key of countTerms(texts[row]).keys()) having.set(key, (having.get(key) ?? 0) + 1);
  }
  const least = read < fewTexts ? 1 : leastTexts;
  const most = Math.min(mostTerms, Math.floor(mostWeights / outputs));
  const kept = [...having]
    .filter(([, count]) => count >= least)
    .sort(([key, count], [other, counted]) => counted - count || key - other)
    .slice(0, most);
  const words = new Float32Array(2 * kept.length);
  kept.forEach(([key], term) => words.set([Math.floor(key / pair), key % pair], 2 * term));
  return { words, weights: Float32Array.from(kept, ([, count]) => 1 + Math.log((1 + read) / (1 + count))) };
}

const placesByTerms = new WeakMap<Terms, ReadonlyMap<number, number>>();

/** The place of each term by its number: made once, as a model that is served is asked for a row at a time. */
function placesOf(terms: Terms): ReadonlyMap<number, number> {
  const made = placesByTerms.get(terms);
  if (made) return made;
  const { words, weights } = terms;
  const places = new Map(Array.from(weights, (_, term) => [words[2 * term] * pair + words[2 * term + 1], term]));
  placesByTerms.set(terms, places);
  return places;
}

/** The columns that texts become, one list after the other; those of the first begin at `from`. */
export function termRows(
  rows: number,
  texts: readonly CodesOfRows[],
  terms: readonly Terms[],
  from: number,
): SparseRows {
  const starts = new Uint32Array(rows + 1);
  const columns: number[][] = [];
  const values: number[][] = [];
  let next = from;
  const known = terms.map((own) => {
    const first = next;
    next += own.weights.length;
    return { first, weights: own.weights, places: placesOf(own) };
  });
  for (let row = 0; row < rows; row++) {
    const [own, worth]: [number[], number[]] = [[], []];
    texts.forEach((codes, text) => {
      const begin = worth.length;
      let squares = 0;
      const { first, weights, places } = known[text];
      for (const [key, count] of countTerms(codes[row])) {
        const term = places.get(key);
        if (term === undefined) continue;
        const value = (1 + Math.log(count)) * weights[term];
        own.push(first + term);
        worth.push(value);
        squares += value * value;
      }
      for (let i = begin; i < worth.length; i++) worth[i] /= Math.sqrt(squares);
    });
    columns.push(own);
    values.push(worth);
    starts[row + 1] = starts[row] + own.length;
  }
  const sparse = { starts, columns: new Uint32Array(starts[rows]), values: new Float32Array(starts[rows]) };
  columns.forEach((own, row) => sparse.columns.set(own, starts[row]));
  values.forEach((own, row) => sparse.values.set(own, starts[row]));
  return sparse;
}

/** As they are kept beside the weights. */
export function termTensors(terms: readonly Terms[]): Weights {
  return Object.fromEntries(
    terms.flatMap(({ words, weights }, text) => [
      [`text${text}.words`, { shape: [weights.length, 2], data: words }],
      [`text${text}.weights`, { shape: [weights.length], data: weights }],
    ]),
  );
}

/** Those of so many texts; null: they are not all there. */
export function readTerms(tensors: Weights, texts: number): readonly Terms[] | null {
  const terms: Terms[] = [];
  for (let text = 0; text < texts; text++) {
    const [words, weights] = [tensors[`text${text}.words`], tensors[`text${text}.weights`]];
    if (words?.data.length !== 2 * (weights?.data.length ?? NaN)) return null;
    terms.push({ words: words.data, weights: weights.data });
  }
  return terms;
}
