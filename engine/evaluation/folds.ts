// Cross-validation: the prediction tables of its folds as one, in which each row is predicted by the model that did not learn from it, and
// the scores of each fold with their mean and deviation. N rows, K classes.

import type {
  BaselineRows,
  EvaluatedRows,
  FoldScores,
  FoldTable,
  PlainScores,
  PredictionTable,
  ScoreName,
} from '../protocol/evaluated-rows.ts';
import { spreadOf } from '../protocol/folds.ts';
import { plainClassScores } from './class-scores.ts';
import { plainValueScores } from './value-scores.ts';

/** The rows of all folds in the order of the dataset. Throws RangeError where there is none, or a row is in two of them. */
export function joinFolds(parts: readonly FoldTable[]): PredictionTable & { readonly folds: FoldScores } {
  if (parts.length === 0) throw new RangeError('no folds to join');
  const tables = parts.map(({ table }) => table);
  const places = tables.flatMap(({ rows }, part) =>
    Array.from(rows.sources, (source, place) => ({ source, part, place })),
  );
  places.sort((one, other) => one.source - other.source);
  const twice = places.find(({ source }, at) => places[at + 1]?.source === source);
  if (twice) throw new RangeError(`row ${twice.source} is in two folds`);
  const pick = (values: readonly Float64Array[], width: number): Float64Array => {
    const picked = new Float64Array(places.length * width);
    places.forEach(({ part, place }, at) =>
      picked.set(values[part].subarray(place * width, (place + 1) * width), at * width),
    );
    return picked;
  };
  const rows = joinedRows(
    tables.map(({ rows }) => rows),
    places,
    pick,
  );
  const width = rows.kind === 'classes' ? rows.classes.length : 1;
  const linear = tables.flatMap(({ baselines }) => (baselines.linear ? [baselines.linear] : []));
  const numbers = Uint8Array.from(places, ({ part }) => parts[part].fold);
  return {
    rows,
    baselines: {
      constant: meanAnswer(tables),
      linear: linear.length === tables.length ? pick(linear, width) : null,
    },
    untold: tables.reduce((sum, { untold }) => sum + untold, 0),
    folds: foldScores(rows, numbers),
  };
}

type Places = readonly { readonly source: number; readonly part: number; readonly place: number }[];

function joinedRows(
  all: readonly EvaluatedRows[],
  places: Places,
  pick: (values: readonly Float64Array[], width: number) => Float64Array,
): EvaluatedRows {
  const [first] = all;
  const sources = Uint32Array.from(places, ({ source }) => source);
  if (first.kind === 'values') {
    const values = all.filter((rows) => rows.kind === 'values');
    return {
      ...first,
      sources,
      truth: pick(
        values.map(({ truth }) => truth),
        1,
      ),
      predicted: pick(
        values.map(({ predicted }) => predicted),
        1,
      ),
    };
  }
  const classes = all.filter((rows) => rows.kind === 'classes');
  return {
    ...first,
    sources,
    truth: Int32Array.from(places, ({ part, place }) => classes[part].truth[place]),
    probabilities: pick(
      classes.map(({ probabilities }) => probabilities),
      first.classes.length,
    ),
  };
}

/** The constant answers of the folds, each for its rows: their mean. */
function meanAnswer(tables: readonly PredictionTable[]): BaselineRows['constant'] {
  const rows = tables.reduce((sum, { rows }) => sum + rows.truth.length, 0);
  return tables[0].baselines.constant.map((_, k) =>
    tables.reduce((sum, { baselines, rows: own }) => sum + (baselines.constant[k] * own.truth.length) / rows, 0),
  );
}

/** The scores of each fold, and their mean and deviation. `numbers` [N]: the fold of each row. */
export function foldScores(rows: EvaluatedRows, numbers: Uint8Array): FoldScores {
  const folds = [...new Set(numbers)]
    .sort((one, other) => one - other)
    .map((fold) => {
      const places = [...numbers.keys()].filter((place) => numbers[place] === fold);
      return { fold, rows: places.length, scores: plainScores(rows, places) };
    });
  const names = (Object.keys(folds[0].scores) as ScoreName[]).filter((name) =>
    folds.every(({ scores }) => Number.isFinite(scores[name])),
  );
  const spread = names.map((name) => [name, spreadOf(folds.map(({ scores }) => scores[name] ?? NaN))] as const);
  return { numbers, folds, spread: Object.fromEntries(spread) };
}

function plainScores(rows: EvaluatedRows, places: readonly number[]): PlainScores {
  const sources = Uint32Array.from(places, (place) => rows.sources[place]);
  if (rows.kind === 'values') {
    return plainValueScores({
      truth: Float64Array.from(places, (place) => rows.truth[place]),
      predicted: Float64Array.from(places, (place) => rows.predicted[place]),
    });
  }
  const K = rows.classes.length;
  const probabilities = new Float64Array(places.length * K);
  places.forEach((place, at) => probabilities.set(rows.probabilities.subarray(place * K, (place + 1) * K), at * K));
  const truth = Int32Array.from(places, (place) => rows.truth[place]);
  return plainClassScores({ ...rows, sources, truth, probabilities });
}
