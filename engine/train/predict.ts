// A trained network put to use: the weights and the description a run keeps, applied to prepared rows.

import type { Backend } from '../backends/backend.ts';
import type { ModelSpec, TrainingSpec } from '../model/spec.ts';
import type { PreparedData } from '../protocol/data.ts';
import type { ModelFile } from '../protocol/model-file.ts';
import type { ReadShard } from './resident-rows.ts';
import { Session } from './session.ts';
import { weightNames, writeWeights, type Weights } from './weights.ts';

export interface TrainedNetwork extends Omit<ModelFile, 'learner'> {
  readonly model: ModelSpec;
  readonly training: TrainingSpec;
  readonly weights: Weights;
}

/**
 * Raw outputs [rows, outputs] and targets [rows] of all rows of prepared data.
 * Throws InputError `model.weights` when weights and data do not fit.
 */
export async function networkOutputs(
  trained: TrainedNetwork,
  backend: Backend,
  data: PreparedData,
  readShard: ReadShard,
  dataBudget: number,
): Promise<{ outputs: Float32Array; targets: Float32Array }> {
  const { model, training } = trained;
  const session = await Session.open({
    backend,
    model,
    training,
    data,
    readShard,
    dataBudget,
    predictOnly: true,
    byLength: true,
  });
  try {
    writeWeights(session.executable, session.plan, weightNames(session.model), trained.weights);
    const outputs = await session.predict({ start: 0, end: session.rows.total });
    return { outputs, targets: session.rows.targets };
  } finally {
    session.close();
  }
}
