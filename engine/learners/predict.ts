// A finished run put to use: the files it keeps, read back by its learner and applied to prepared rows.

import { damagedRunFile } from '../protocol/model-file.ts';
import { evaluate, likeliest, probabilities, type Evaluation } from '../train/metrics.ts';
import { decodeSafetensors } from '../train/safetensors.ts';
import type { Weights } from '../train/weights.ts';
import type { Rows, Trained } from './learner.ts';
import { readModelFile } from './model-file.ts';
import { learnerNamed } from './registry.ts';

/** Reads the files of a run. Throws TrainyardError when they are damaged. */
export function readTrained(model: string, weights: Uint8Array, run: number): Trained {
  const file = readModelFile(model, run);
  return learnerNamed(file.learner).read(file, decodeWeights(weights, run));
}

/** Weights that can be used: every value is a number. Throws TrainyardError `data.safetensors`, `run.damaged_file`. */
export function decodeWeights(file: Uint8Array, run: number): Weights {
  const { tensors } = decodeSafetensors(file);
  for (const [name, { data }] of Object.entries(tensors)) {
    const odd = data.findIndex((value) => !Number.isFinite(value));
    if (odd >= 0) throw damagedRunFile(run, 'best.safetensors', `value ${odd} of tensor ${name} is ${data[odd]}`);
  }
  return tensors;
}

export interface Predictions {
  /** Raw outputs [rows, width]. */
  readonly outputs: Float32Array;
  readonly rows: number;
  /** Class number, or the value in the target's unit. */
  readonly values: Float64Array;
  /** [rows, classes]; null for regression. */
  readonly probabilities: Float64Array | null;
  /** Metrics where the rows have targets; null where they have none. */
  readonly evaluation: Evaluation | null;
}

/**
 * Predicts all rows of prepared data.
 * Throws InputError `model.weights` when weights and data do not fit.
 */
export async function predictRows(trained: Trained, rows: Rows): Promise<Predictions> {
  const { output } = trained.file;
  const { outputs, targets } = await trained.outputs(rows);
  const count = targets.length;
  const known = count > 0 && targets.every((target) => !Number.isNaN(target));
  const evaluation = known ? evaluate(outputs, targets, trained.evaluation) : null;
  if (output.kind === 'value') {
    const values = Float64Array.from(outputs, (value) => value * output.scale + output.offset);
    return { outputs, rows: count, values, probabilities: null, evaluation };
  }
  const classes = output.classes.length;
  const shares = probabilities(outputs, count, classes);
  const values = Float64Array.from({ length: count }, (_, row) => likeliest(shares, row, classes));
  return { outputs, rows: count, values, probabilities: shares, evaluation };
}
