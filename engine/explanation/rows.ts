// A trained model as one that answers for raw columns: they are encoded by the recipe it was trained with, or handed over as they are,
// and its outputs become probabilities or values. It alone knows what rows and learners are.

import { columnsEncoder } from '../data/preprocess/modelled-rows.ts';
import { parsePreprocessing, rawColumns } from '../data/preprocess/recipe.ts';
import { TextCodes } from '../data/preprocess/text-codes.ts';
import { rowsOfSplit } from '../learners/split-rows.ts';
import type { Rows, Trained } from '../learners/learner.ts';
import { noFolds } from '../learners/evaluated-rows.ts';
import { predictionsOf, predictRows, type Predictions } from '../learners/predict.ts';
import { exactContributions } from '../learners/trees/explained.ts';
import type { OutputSpec, RawColumn } from '../model/spec.ts';
import type { PreparedData } from '../protocol/data.ts';
import type { EvaluatedSplit } from '../protocol/evaluated-rows.ts';
import type { Contributions, MeanContributions } from '../protocol/explanation.ts';
import { CancelledError, InputError } from '../protocol/errors.ts';
import { otherSplits } from '../protocol/use.ts';
import { splitRange } from '../train/scores.ts';
import { unhurried, type Unhurried } from './unhurried.ts';
import type { ExplainedRow } from './contributions.ts';
import { drawnRows, oneAnswer, someRows, type Answer, type Subject } from './subject.ts';

/**
 * Rows of a split, or the training rows that validated in a fold: these have their fold as one more column of values behind those that are
 * explained, for `answerOf`. `rows` hold columns as they are. Throws InputError `input.empty_split`.
 */
export async function readSubject(rows: Rows, asked: EvaluatedSplit): Promise<Subject> {
  const { counts, sources, output, parts } = rows.data;
  const columns = columnsOf(rows.data);
  const split = asked === 'out of fold' ? 'train' : asked;
  if (counts[split] === 0) {
    throw new InputError('input.empty_split', `The ${split} split has no rows.`, otherSplits('Explain', split));
  }
  const { start } = splitRange(rows.data, split);
  const read = await readColumns(rowsOfSplit(rows, split), columns, output);
  const numbers = Uint32Array.from({ length: counts[split] }, (_, row) => sources?.[start + row] ?? start + row);
  const all = { columns, output, ...read, sources: numbers };
  if (asked !== 'out of fold') return all;
  if (!parts) throw new RangeError('the rows were not parted');
  const validated = Uint32Array.from(parts.keys()).filter((row) => parts[row] > 0);
  return someRows({ ...all, values: [...all.values, Float64Array.from(parts)] }, validated);
}

/** Each row by the models of the folds that it validated in: those of each row have to be there. */
async function predictOutOfFold(trained: Trained, rows: Rows): Promise<Predictions> {
  if (!trained.outOfFold) throw noFolds(0);
  const { outputs, places } = await trained.outOfFold(rows);
  if (places.length !== rows.data.counts.train) throw new RangeError('a row was tested by no fold that has a model');
  return predictionsOf(trained, outputs, places.length);
}

/** One row of any split, by its number in the dataset from 0. Throws InputError `input.no_row`. */
export async function readRow({ data, readShard }: Rows, source: number): Promise<ExplainedRow> {
  const place = data.sources?.indexOf(source) ?? source;
  const shard = data.shardStarts.findLastIndex((start) => start <= place);
  if (place < 0 || shard < 0 || shard >= data.shardStarts.length - 1) {
    throw new InputError(
      'input.no_row',
      `Row ${source + 1} is none of those the run was trained or tested on.`,
      'Choose another one: rows without a target are in no split.',
    );
  }
  const { x, y } = await readShard(shard);
  const row = place - data.shardStarts[shard];
  const values = Float64Array.from(x.subarray(row * data.width, (row + 1) * data.width));
  return { values, source, truth: truthOf(data.output, y[row]) };
}

const truthOf = (output: OutputSpec, y: number): number =>
  output.kind === 'classes' ? y : y * output.scale + output.offset;

function columnsOf({ input }: PreparedData): readonly RawColumn[] {
  if (input.kind !== 'columns') throw new RangeError('these rows hold no columns as they are');
  return input.columns;
}

async function readColumns(
  { data, readShard }: Rows,
  columns: readonly RawColumn[],
  output: OutputSpec,
): Promise<Pick<Subject, 'values' | 'truth'>> {
  const rows = data.shardStarts.at(-1) ?? 0;
  const values = columns.map(() => new Float64Array(rows));
  const truth = new Float64Array(rows);
  for (let shard = 0; shard < data.shardStarts.length - 1; shard++) {
    const { x, y, rows: count } = await readShard(shard);
    const start = data.shardStarts[shard];
    for (let row = 0; row < count; row++) {
      truth[start + row] = truthOf(output, y[row]);
      for (let column = 0; column < columns.length; column++) {
        values[column][start + row] = x[row * columns.length + column];
      }
    }
  }
  return { values, truth };
}

/**
 * What each column did for a row, exactly, by the trees a model is made of; null: it is made of none. Some trees alone say nothing:
 * stopped, it throws CancelledError.
 */
export async function exactlyWhy(
  { trees }: Trained,
  subject: Subject,
  answer: Answer,
  row: ExplainedRow,
  wanted: number | null,
  pace: Unhurried,
): Promise<Contributions | null> {
  if (!trees) return null;
  const { scale, average, rows } = exactContributions(trees, wanted);
  const { shares, predictions } = await unhurried(rows(row.values, 1), pace);
  const columns = Array.from(row.values, (value) => Float64Array.of(value));
  const [own] = await oneAnswer(subject, answer, wanted, columns, 1);
  const errors = new Float64Array(columns.length);
  return { ...row, average, background: 0, prediction: predictions[0], shares, errors, exact: { scale, answer: own } };
}

/** Steps through the edges of trees that mean contributions may take: some seconds; but so many rows in any case. */
const [mostSteps, leastRows, mostRows] = [3e8, 64, 4_096];

/** What the columns of trees did on average over some of the rows; null: stopped. */
export async function meanContributions(
  trees: NonNullable<Trained['trees']>,
  whole: Subject,
  wanted: number | null,
  pace: Unhurried,
): Promise<MeanContributions | null> {
  const exact = exactContributions(trees, wanted);
  const most = Math.min(mostRows, Math.max(leastRows, Math.floor(mostSteps / Math.max(1, exact.cost))));
  const { values, sources } = someRows(whole, drawnRows(whole.sources.length, most, 33));
  const [N, C] = [sources.length, values.length];
  const flat = new Float64Array(N * C);
  values.forEach((column, at) => column.forEach((value, row) => (flat[row * C + at] = value)));
  try {
    const { shares } = await unhurried(exact.rows(flat, N), pace);
    const mean = new Float64Array(C);
    for (let i = 0; i < shares.length; i++) mean[i % C] += Math.abs(shares[i]) / N;
    return { mean, scale: exact.scale, rows: N };
  } catch (error) {
    if (error instanceof CancelledError) return null;
    throw error;
  }
}

/**
 * `preprocessing`: what the run keeps as `preprocessing.json`. Rows with one more column, their fold, are answered for by the models that did not
 * learn from them. `codes`: of the texts among the columns.
 */
export function answerOf(
  trained: Trained,
  preprocessing: unknown,
  { backend, dataBudget }: Pick<Rows, 'backend' | 'dataBudget'>,
  codes: TextCodes = new TextCodes(),
): Answer {
  const { input, output, task } = trained.file;
  const recipe = parsePreprocessing(preprocessing);
  const encoder = columnsEncoder(recipe);
  const plain = rawColumns(recipe).length;
  return async (columns, rows) => {
    const texts = columns.slice(plain, recipe.features.length).map((column) => codes.cells(column));
    const x = encoder.encode(columns, rows, texts);
    const folds = columns.at(recipe.features.length);
    const data: PreparedData = {
      handle: 'explained',
      input,
      output,
      task,
      counts: folds ? { train: rows, validation: 0, test: 0 } : { train: 0, validation: 0, test: rows },
      ...(folds && { parts: Uint8Array.from(folds) }),
      width: encoder.width,
      targets: 1,
      shardStarts: [0, rows],
      classCounts: [],
      preprocessing,
      warnings: [],
    };
    const readShard = async () => ({ rows, x, y: new Float32Array(rows).fill(NaN) });
    const asked = { data, readShard, dataBudget, backend };
    const { values, probabilities } = folds
      ? await predictOutOfFold(trained, asked)
      : await predictRows(trained, asked);
    return probabilities ?? values;
  };
}
