// An ensemble put to use: each member says what it thinks of the rows, in the form it learned from, and the weighted mean of their
// probabilities or values is the answer. N rows, K classes.

import { modelledRows } from '../../data/preprocess/modelled-rows.ts';
import type { OutputSpec } from '../../model/spec.ts';
import type { Shard } from '../../protocol/data.ts';
import { InputError, TrainyardError } from '../../protocol/errors.ts';
import { probabilities } from '../../train/metrics.ts';
import type { Weights } from '../../train/weights.ts';
import type { OtherLearners, Rows, Trained } from '../learner.ts';
import { plainLoss } from '../scoring.ts';
import type { AutoModelFile } from './file.ts';
import { leastProbability } from './selection.ts';

/** Values of an answer: K probabilities, or one number. */
export const valuesPerRow = (output: OutputSpec): number => (output.kind === 'classes' ? output.classes.length : 1);

/** Raw outputs of a model as values that can be averaged: [N, K] probabilities or [N] numbers. */
export function meaningOf(output: OutputSpec, outputs: Float32Array, rows: number): Float64Array {
  return output.kind === 'classes' ? probabilities(outputs, rows, output.classes.length) : Float64Array.from(outputs);
}

/** The way back: values as the raw outputs that a model with them would have. */
export function rawOf(output: OutputSpec, values: Float64Array): Float32Array {
  if (output.kind === 'value') return Float32Array.from(values);
  const K = output.classes.length;
  const bounded = (p: number): number => Math.max(p, leastProbability);
  if (K > 2) return Float32Array.from(values, (p) => Math.log(bounded(p)));
  return Float32Array.from({ length: values.length / 2 }, (_, row) =>
    Math.log(bounded(values[2 * row + 1]) / bounded(values[2 * row])),
  );
}

/** Rows for all models of an ensemble: each shard is read once, and scaled once for those that want it so. */
export class RowsForMembers {
  readonly #columns: Rows;
  readonly #matrix: Rows;

  constructor(rows: Rows, recipe: object) {
    this.#columns = { ...rows, readShard: remembered(rows.readShard) };
    const matrix = modelledRows(this.#columns, recipe);
    this.#matrix = { ...matrix, readShard: remembered(matrix.readShard) };
  }

  /** In the form of a model's input. */
  of({ kind }: { readonly kind: string }): Rows {
    return kind === 'columns' ? this.#columns : this.#matrix;
  }
}

function remembered(read: (index: number) => Promise<Shard>): (index: number) => Promise<Shard> {
  const shards = new Map<number, Promise<Shard>>();
  return (index) => {
    const shard = shards.get(index) ?? read(index);
    shards.set(index, shard);
    return shard;
  };
}

/** The same recipe for scaled rows. */
export function matrixRecipe(preprocessing: unknown): object {
  const { form: _, ...recipe } = preprocessing as { readonly form?: string };
  return recipe;
}

/** A model of an ensemble. */
export interface Weighted {
  /** Begins the names of its tensors in the file of the ensemble: `MEMBER.FOLD.`. */
  readonly prefix: string;
  readonly tensors: Weights;
  readonly trained: Trained;
  /** In which it was validated, from 1. */
  readonly fold: number;
  /** Of its member; those of all members add up to 1. */
  readonly weight: number;
  /** Models that share the weight: one a fold. */
  readonly folds: number;
}

/** The models of an ensemble, those of each member's folds. Throws InputError `model.weights`. */
export function modelsOf(
  { members }: AutoModelFile,
  tensors: Weights,
  others: OtherLearners | undefined,
): readonly Weighted[] {
  return members.flatMap(({ models, weight }, member) =>
    models.map((model, fold): Weighted => {
      const prefix = `${member}.${fold}.`;
      const own = tensorsOf(tensors, prefix);
      const trained = readMember(model, own, others);
      return { prefix, tensors: own, trained, fold: fold + 1, weight, folds: models.length };
    }),
  );
}

export function readEnsemble(file: AutoModelFile, tensors: Weights, others: OtherLearners | undefined): Trained {
  const { output, recipe } = file;
  const models = modelsOf(file, tensors, others);
  return {
    file,
    evaluation: { output, training: plainLoss, weights: null },
    async outputs(rows) {
      const { shardStarts } = rows.data;
      const count = shardStarts[shardStarts.length - 1];
      const forMembers = new RowsForMembers(rows, recipe);
      const sum = new Float64Array(count * valuesPerRow(output));
      let targets = new Float32Array(count);
      for (const { trained, weight, folds } of models) {
        const said = await trained.outputs(forMembers.of(trained.file.input));
        const values = meaningOf(output, said.outputs, count);
        const share = weight / folds;
        for (let i = 0; i < sum.length; i++) sum[i] += share * values[i];
        targets = said.targets as typeof targets;
      }
      return { outputs: rawOf(output, sum), targets };
    },
  };
}

function tensorsOf(all: Weights, prefix: string): Weights {
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, tensor]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), tensor]] : [],
    ),
  );
}

/** Throws InputError `model.weights` where a member is not what a model of its learner is. */
function readMember(model: object, weights: Weights, others: OtherLearners | undefined): Trained {
  if (!others) throw new RangeError('an ensemble is made of others');
  try {
    return others.read(model, weights);
  } catch (error) {
    if (!(error instanceof TrainyardError)) throw error;
    throw new InputError(
      'model.weights',
      'A member of the ensemble is damaged: its model and its weights do not fit.',
      'Put a copy of the files back if you have one, or train again with the settings of the run.',
    );
  }
}
