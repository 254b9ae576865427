// The prediction table of a run: what it, and the linear model it was measured against, say of one split of prepared rows, beside what is so.

import type { OutputSpec } from '../model/spec.ts';
import type { SplitName } from '../protocol/data.ts';
import { InputError } from '../protocol/errors.ts';
import type { EvaluatedColumns, EvaluatedRows, EvaluatedSplit, PredictionTable } from '../protocol/evaluated-rows.ts';
import { otherSplits } from '../protocol/use.ts';
import { probabilities } from '../train/metrics.ts';
import { splitRange } from '../train/scores.ts';
import { readBaseline } from './baseline-file.ts';
import type { RawOutputs, Rows, Trained } from './learner.ts';
import { rowsOfSplit } from './split-rows.ts';

export interface TableRequest {
  readonly run: number;
  readonly trained: Trained;
  /** `baseline.safetensors`; null where the run has none. */
  readonly baseline: Uint8Array | null;
  /** Rows of each class in the training split; empty for numbers. */
  readonly classCounts: readonly number[];
  readonly split: EvaluatedSplit;
}

/** With the fold of each row, where they are out of fold. */
export interface MadeTable extends PredictionTable {
  readonly numbers: Uint8Array | null;
}

/**
 * Predicts the rows of a split. Rows whose truth is not known are left out, those of a class unknown to the run counted apart. Throws InputError `input.no_truth` where that is all of
 * them, `input.empty_split` where there are none.
 */
export async function predictionTableOf(rows: Rows, request: TableRequest): Promise<MadeTable> {
  const { trained, baseline, run, split, classCounts } = request;
  const { output } = trained.file;
  const { data } = rows;
  if (split === 'out of fold') return outOfFoldTable(rows, request);
  const range = splitRange(data, split);
  if (range.start === range.end) {
    throw new InputError('input.empty_split', `The ${split} split has no rows.`, otherSplits('Evaluate', split));
  }
  const part = rowsOfSplit(rows, split);
  const own = await trained.outputs(part);
  const kept = Uint32Array.from(own.targets.keys()).filter((row) => !Number.isNaN(own.targets[row]));
  if (kept.length === 0) {
    throw new InputError(
      'input.no_truth',
      'No row says what is to be predicted: there is nothing to compare the predictions with.',
      'Predict the file instead.',
    );
  }
  const foreign = data.foreignTruth ?? 0;
  const sources = Uint32Array.from(kept, (row) => data.sources?.[range.start + row] ?? range.start + row);
  const linear = baseline && (await readBaseline(baseline, run, trained.file).outputs(part));
  return {
    rows: evaluatedRows(output, own, kept, sources),
    baselines: {
      constant: output.kind === 'classes' ? sharesOf(classCounts, output.classes.length) : [output.offset],
      linear: linear && valuesOf(output, linear, kept),
    },
    untold: own.targets.length - kept.length - foreign,
    ...(foreign > 0 && { foreign }),
    numbers: null,
  };
}

/** The training rows that models of folds did not learn from. A linear model that learned from all of them is nothing to compare with. */
async function outOfFoldTable(rows: Rows, { trained, classCounts, run }: TableRequest): Promise<MadeTable> {
  const { output } = trained.file;
  if (!trained.outOfFold) throw noFolds(run);
  const own = await trained.outOfFold(rows);
  const all = Uint32Array.from(own.targets.keys());
  const sources = Uint32Array.from(own.places, (place) => rows.data.sources?.[place] ?? place);
  const constant = output.kind === 'classes' ? sharesOf(classCounts, output.classes.length) : [output.offset];
  return {
    rows: evaluatedRows(output, own, all, sources),
    baselines: { constant, linear: null },
    untold: 0,
    numbers: own.folds,
  };
}

/** Of a run that learned from all its training rows with one model. */
export const noFolds = (run: number): InputError =>
  new InputError(
    'input.no_folds',
    `Run ${run} has no folds: none of its training rows was kept from it.`,
    'Evaluate a split of its data.',
  );

/** The columns of a split as they are, of the rows that the prediction table has. `rows` hold columns as they are. */
export async function columnsOf(rows: Rows, split: SplitName): Promise<EvaluatedColumns> {
  const { data, readShard } = rowsOfSplit(rows, split);
  if (data.input.kind !== 'columns') throw new RangeError('these rows hold no columns as they are');
  const { columns } = data.input;
  const shards = await Promise.all(data.shardStarts.slice(1).map((_, shard) => readShard(shard)));
  const known = shards.reduce((sum, { y }) => sum + y.reduce((n, target) => n + (Number.isNaN(target) ? 0 : 1), 0), 0);
  const values = columns.map(() => new Float64Array(known));
  let place = 0;
  for (const { x, y, rows: count } of shards) {
    for (let row = 0; row < count; row++) {
      if (Number.isNaN(y[row])) continue;
      for (let column = 0; column < columns.length; column++) values[column][place] = x[row * data.width + column];
      place++;
    }
  }
  return { columns, values };
}

/** Characters that are shown of a text, and of all texts together: they cross to a window. */
const [mostShown, mostOfAll] = [400, 16_000_000];

/** Texts to be looked at: their beginnings. */
export function shortened({ columns, values }: EvaluatedColumns): EvaluatedColumns {
  const begun = (texts: readonly string[]): readonly string[] => {
    const most = Math.min(mostShown, Math.max(40, Math.floor(mostOfAll / texts.length)));
    return texts.map((text) => (text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text));
  };
  return {
    columns: columns.map((column) =>
      column.kind === 'category' && column.texts ? { ...column, categories: begun(column.categories) } : column,
    ),
    values,
  };
}

/**
 * A target in its unit. It was kept as a float32: what is no further from 0 than that rounds is the 0 it was, of which errors in per cent do
 * not exist.
 */
export function trueValue(
  { scale, offset }: { readonly scale: number; readonly offset: number },
  target: number,
): number {
  const moved = target * scale;
  const value = moved + offset;
  return Math.abs(value) <= Math.abs(moved) * 2 ** -23 ? 0 : value;
}

function evaluatedRows(output: OutputSpec, own: RawOutputs, kept: Uint32Array, sources: Uint32Array): EvaluatedRows {
  const predicted = valuesOf(output, own, kept);
  if (output.kind === 'classes') {
    const truth = Int32Array.from(kept, (row) => own.targets[row]);
    return { kind: 'classes', classes: output.classes, sources, truth, probabilities: predicted };
  }
  const truth = Float64Array.from(kept, (row) => trueValue(output, own.targets[row]));
  return { kind: 'values', target: output.name, sources, truth, predicted };
}

/** Probabilities [kept, classes] or values [kept] in the target's unit. */
function valuesOf(output: OutputSpec, { outputs, targets }: RawOutputs, kept: Uint32Array): Float64Array {
  if (output.kind === 'value') return Float64Array.from(kept, (row) => outputs[row] * output.scale + output.offset);
  const K = output.classes.length;
  const all = probabilities(outputs, targets.length, K);
  if (kept.length === targets.length) return all;
  const some = new Float64Array(kept.length * K);
  kept.forEach((row, place) => some.set(all.subarray(row * K, (row + 1) * K), place * K));
  return some;
}

/** Shares of the classes; as if all were as frequent where nothing is known. A class that was never seen counts for half a row. */
function sharesOf(counts: readonly number[], classes: number): readonly number[] {
  const smoothed = Array.from({ length: classes }, (_, k) => Math.max(counts[k] ?? 0, 0.5));
  const sum = smoothed.reduce((total, count) => total + count, 0);
  return smoothed.map((count) => count / sum);
}
