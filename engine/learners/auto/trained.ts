// An ensemble put to use: each member says what it thinks of the rows, in the form it learned from, and the weighted mean of their
// probabilities or values is the answer. N rows, K classes.

import { modelledRows, withoutTexts } from '../../data/preprocess/modelled-rows.ts';
import type { OutputSpec } from '../../model/spec.ts';
import type { Shard } from '../../protocol/data.ts';
import { InputError, TrainyardError } from '../../protocol/errors.ts';
import { probabilities } from '../../train/metrics.ts';
import type { Weights } from '../../train/weights.ts';
import type { OtherLearners, Rows, Trained } from '../learner.ts';
import { plainLoss } from '../scoring.ts';
import { foldsOfMember, type AutoModelFile } from './file.ts';
import { leastProbability } from './selection.ts';

/** Values of an answer: K probabilities, or one number. */
export const valuesPerRow = (output: OutputSpec): number => (output.kind === 'classes' ? output.classes.length : 1);

/**
 * Raw outputs of a model as values that can be averaged: [N, K] probabilities or [N] numbers. `own`: what the model predicts, where it has
 * standardised its numbers otherwise.
 */
export function meaningOf(output: OutputSpec, outputs: Float32Array, rows: number, own = output): Float64Array {
  if (output.kind === 'classes') return probabilities(outputs, rows, output.classes.length);
  const { factor, shift } = unitsOf(output, own);
  return Float64Array.from(outputs, (value) => value * factor + shift);
}

/** From a model's standardised numbers to those of an ensemble: × 1 + 0 where both are the same. */
export function unitsOf(output: OutputSpec, own: OutputSpec): { readonly factor: number; readonly shift: number } {
  if (output.kind === 'classes' || own.kind === 'classes') return { factor: 1, shift: 0 };
  return { factor: own.scale / output.scale, shift: (own.offset - output.offset) / output.scale };
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

/** Rows for all models of an ensemble: each shard is read once, and made once for all that want it so. */
export class RowsForMembers {
  readonly #rows: Rows;
  readonly #recipe: object;
  readonly #made = new Map<object, Rows>();
  #columns: Rows | null = null;

  constructor(rows: Rows, recipe: object) {
    this.#rows = { ...rows, readShard: remembered(rows.readShard) };
    this.#recipe = recipe;
  }

  /** In the form of a model's input, by the preprocessing it was fitted with if that is its own. */
  of({ kind }: { readonly kind: string }, own?: object): Rows {
    if (kind === 'columns') {
      this.#columns ??= withoutTexts(this.#rows);
      return own === undefined ? this.#columns : withoutTexts(this.#madeBy(own));
    }
    return this.#madeBy(own ?? this.#recipe);
  }

  #madeBy(recipe: object): Rows {
    const made = this.#made.get(recipe) ?? this.#make(recipe);
    this.#made.set(recipe, made);
    return made;
  }

  #make(recipe: object): Rows {
    const made = modelledRows(this.#rows, recipe);
    return { ...made, readShard: remembered(made.readShard) };
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
  /** The preprocessing it was fitted with, where that is its own. */
  readonly recipe: object | undefined;
}

/** The models of an ensemble, those of each member's folds. Throws InputError `model.weights`. */
export function modelsOf(
  { members }: AutoModelFile,
  tensors: Weights,
  others: OtherLearners | undefined,
): readonly Weighted[] {
  return members.flatMap((one, member) => {
    const { models, weight, recipes } = one;
    const folds = foldsOfMember(one);
    return models.map((model, at): Weighted => {
      const prefix = `${member}.${at}.`;
      const own = tensorsOf(tensors, prefix);
      const trained = readMember(model, own, others);
      return { prefix, tensors: own, trained, fold: folds[at], weight, folds: models.length, recipe: recipes?.[at] };
    });
  });
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
      for (const { trained, weight, folds, recipe: own } of models) {
        const said = await trained.outputs(forMembers.of(trained.file.input, own));
        const values = meaningOf(output, said.outputs, count, trained.file.output);
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
