// Short trainings with the run's own settings on rows in memory, thrown away afterwards. The schedule stands still at its highest rate:
// that is where a rate is too high or not.

import type { Backend } from '../../backends/backend.ts';
import type { NetworkConfig } from '../../learners/network/declaration.ts';
import type { ModelSpec, TrainingSpec } from '../../model/spec.ts';
import type { Value } from '../../settings/field.ts';
import { withChosen } from '../../settings/values.ts';
import { Session } from '../../train/session.ts';
import { initializeWeights, readWeights, weightNames, type Weights } from '../../train/weights.ts';
import type { Pace, SampledRows } from '../check.ts';
import { trainingOf } from './subject.ts';

const still = { 'schedule.name': 'constant', 'schedule.warmupEpochs': 0, 'schedule.overEpochs': 0, epochs: 1 } as const;

export interface ShortTraining {
  readonly losses: readonly number[];
  /** Raw outputs of the rows behind those of training. */
  readonly outputs: Float32Array;
  readonly weights: Weights;
}

export interface ShortOptions {
  readonly backend: Backend;
  readonly config: NetworkConfig;
  readonly rows: SampledRows;
  /** Settings of the training that are other than the run's. */
  readonly chosen?: Readonly<Record<string, Value>>;
  readonly plain?: boolean;
  readonly milliseconds: number;
  readonly steps: number;
  /** Ends it early. */
  readonly enough?: (loss: number) => boolean;
}

/** Without what makes learning harder on purpose: dropout, pictures drawn anew, soft labels, weight decay. */
function plainly(model: ModelSpec, training: TrainingSpec): { model: ModelSpec; training: TrainingSpec } {
  const layers = model.layers.map((layer) => (/^dropout/.test(layer.type) ? { ...layer, rate: 0 } : layer));
  const chosen = { labelSmoothing: 0, 'optimizer.weightDecay': 0, classWeights: 'none' };
  return { model: { ...model, layers }, training: { ...withChosen(training, chosen), augmentation: undefined } };
}

export async function trainShortly(options: ShortOptions, pace: Pace): Promise<ShortTraining> {
  const { backend, config, rows, chosen = {}, milliseconds, enough } = options;
  const own = { model: config.model, training: withChosen(trainingOf(config), { ...still, ...chosen }) };
  const { model, training } = options.plain ? plainly(own.model, own.training) : own;
  const readShard = async () => rows.shard;
  const session = await Session.open({ backend, model, training, data: rows.data, readShard, dataBudget: Infinity });
  try {
    initializeWeights(session.executable, session.whole, config.seed);
    const losses: number[] = [];
    const start = pace.clock();
    const done = (): boolean =>
      losses.length >= options.steps ||
      (losses.length > 0 && pace.clock() - start > milliseconds) ||
      losses.some((loss) => !Number.isFinite(loss)) ||
      (losses.length > 0 && enough?.(losses[losses.length - 1]) === true);
    for (let epoch = 0; !done(); epoch++) {
      const full = Math.floor((await session.enter(epoch, 0)) / session.batch);
      for (let step = 0; step < full && !done();) {
        await pace.breathe();
        const most = session.stepsFrom(step * session.batch, Math.min(full - step, options.steps - losses.length));
        losses.push(...(await session.train(losses.length, step * session.batch, most, session.batch)));
        step += most;
      }
    }
    const { train, validation } = rows.data.counts;
    const outputs = await session.predict({ start: train, end: train + validation }, pace.breathe);
    const weights = await readWeights(session.executable, session.plan, weightNames(session.whole));
    return { losses, outputs, weights };
  } finally {
    session.close();
  }
}
