// A trained model put to use: the weights and the description a run keeps, applied to prepared rows.

import type { Backend } from '../backends/backend.ts';
import { TrainyardError } from '../protocol/errors.ts';
import { damagedRunFile, parseModelFile, type ModelFile } from '../protocol/model-file.ts';
import type { PreparedData } from '../protocol/data.ts';
import { evaluate, probabilities, type Evaluation } from './metrics.ts';
import type { ReadShard } from './resident-rows.ts';
import { decodeSafetensors } from './safetensors.ts';
import { Session } from './session.ts';
import { weightNames, writeWeights, type Weights } from './weights.ts';

export interface TrainedModel extends ModelFile {
  readonly weights: Weights;
}

/** Reads the files of a run. Throws TrainyardError `run.no_model` when it has not kept a model yet, or what damaged it. */
export function readTrainedModel(model: string | null, weights: Uint8Array | null, run: number): TrainedModel {
  if (model === null || weights === null) {
    throw new TrainyardError('run.no_model', `Run ${run} has no trained model yet.`, 'Train it to its end first.');
  }
  return { ...parseModelFile(model, run), weights: decodeWeights(weights, run) };
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
export async function predictRows(
  trained: TrainedModel,
  backend: Backend,
  data: PreparedData,
  readShard: ReadShard,
  dataBudget: number,
): Promise<Predictions> {
  const { model, training, output } = trained;
  const session = await Session.open({ backend, model, training, data, readShard, dataBudget, predictOnly: true });
  try {
    writeWeights(session.executable, session.plan, weightNames(session.model), trained.weights);
    const rows = session.rows.total;
    const outputs = await session.predict({ start: 0, end: rows });
    const targets = session.rows.targets;
    const known = targets.length > 0 && targets.every((target) => !Number.isNaN(target));
    const evaluation = known ? evaluate(outputs, targets, { output, training, weights: null }) : null;
    if (output.kind === 'value') {
      const values = Float64Array.from(outputs, (value) => value * output.scale + output.offset);
      return { outputs, rows, values, probabilities: null, evaluation };
    }
    const classes = output.classes.length;
    const p = probabilities(outputs, rows, classes);
    const values = new Float64Array(rows);
    for (let row = 0; row < rows; row++) {
      let best = 0;
      for (let k = 1; k < classes; k++) if (p[row * classes + k] > p[row * classes + best]) best = k;
      values[row] = best;
    }
    return { outputs, rows, values, probabilities: p, evaluation };
  } finally {
    session.close();
  }
}
