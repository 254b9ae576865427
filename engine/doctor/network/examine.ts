// The examination of a network: what is asked of every learner, and what only a network can be asked.

import { predictsTokens } from '../../model/spec.ts';
import { InputError } from '../../protocol/errors.ts';
import { outputWidth, type ResolvedModel } from '../../model/resolve.ts';
import type { NetworkConfig } from '../../learners/network/declaration.ts';
import { frozenModel } from '../../model/freeze.ts';
import type { Backend } from '../../backends/backend.ts';
import { measureSpeed } from '../../train/measure.ts';
import type { Surroundings } from '../../train/control.ts';
import type { ReadShard } from '../../train/resident-rows.ts';
import { actionOf } from '../changes.ts';
import { NotDone, type Check, type Examination, type Sampled, type StepRate } from '../check.ts';
import { judgeStart, startTheory } from '../start.ts';
import { agreementCheck } from './agreement.ts';
import { deadCheck } from './dead.ts';
import { depthCheck, type Seen } from './depth.ts';
import { heartCheck } from './heart.ts';
import { lookInside } from './inside.ts';
import { rateSearch } from './rates.ts';
import { trainShortly, type ShortTraining } from './steps.ts';
import { modelOf, trainingOf, weightsOfClasses, type Subject } from './subject.ts';

export interface NetworkExamined extends Sampled {
  readonly config: NetworkConfig;
  readonly backend: Backend;
  readonly reference: () => Backend;
  readonly readShard: ReadShard;
  readonly dataBudget: number;
  readonly surroundings: Surroundings;
}

const mostTrialSteps = 1_000;

function hasSomethingToTrain({ training }: NetworkConfig, whole: ResolvedModel): boolean {
  try {
    frozenModel(whole, training.frozenLayers ?? 0);
    return true;
  } catch {
    return false;
  }
}

/** Of a model that is frozen as a whole there is one thing to say. */
function frozen(config: NetworkConfig): Examination {
  const action = actionOf(config, 'Run with nothing frozen', 'nothing frozen', { settings: { frozenLayers: 0 } });
  const text = `All ${config.model.layers.length} layers are frozen, or those that are not have no weights: no step would change anything.`;
  const finding = {
    id: 'heart',
    kind: 'fix',
    title: 'Nothing can be learned',
    figure: '0 weights',
    text,
    action,
  } as const;
  return {
    checks: [{ finds: ['heart'], seconds: 0.1, run: async () => [finding] }],
    trial: async () => {
      throw new NotDone('Needs a layer that is trained.');
    },
  };
}

export function examineNetwork(job: NetworkExamined): Examination {
  const { config, backend, data, sample } = job;
  if (predictsTokens(data.input)) {
    throw new InputError(
      'run.language',
      'The checks before a run are of models that answer rows: a language model is not examined.',
      'Train it, and read in its log what it writes.',
    );
  }
  const whole = modelOf(config, data);
  if (!hasSomethingToTrain(config, whole)) return frozen(config);
  const subject: Subject = { config, backend, model: whole, data, sample };
  const seen: Seen = { inside: null, remedy: null, byHeart: null };
  const findRate = rateSearch(subject, seen);
  let rate: StepRate | null = null;
  let trained: ShortTraining | null = null;

  const start: Check = {
    finds: ['start'],
    seconds: 0.5,
    async run(pace) {
      const inside = (seen.inside ??= await lookInside(subject, { milliseconds: 700 }, pace));
      const { targets } = sample.data;
      const rows = Float32Array.from({ length: inside.rows }, (_, row) => sample.shard.y[row * targets]);
      const width = outputWidth(data.output, config.training.loss);
      const theory = startTheory(data.output, config.training, rows, width, weightsOfClasses(subject));
      return [judgeStart(inside.loss, theory, inside.rows)];
    },
  };

  return {
    checks: [
      start,
      depthCheck(subject, seen),
      agreementCheck(subject, job.reference),
      heartCheck(subject, seen, findRate, () => rate),
      deadCheck(subject, seen, findRate, () => trained),
    ],
    calmer: async (pace) => (await findRate('down', pace))?.action,
    async trial(rows, limit, pace) {
      const [milliseconds, steps] = 'steps' in limit ? [Infinity, limit.steps] : [limit.milliseconds, mostTrialSteps];
      const found = await trainShortly({ backend, config, rows, milliseconds, steps }, pace);
      trained ??= found;
      return found;
    },
    async speed() {
      const { readShard, dataBudget, surroundings } = job;
      const training = trainingOf(config);
      const { stepMilliseconds } = await measureSpeed(
        { backend, model: config.model, training, data, readShard, dataBudget },
        surroundings,
      );
      const rows = Math.max(1, Math.min(training.batch, data.counts.train));
      const steps = Math.ceil(data.counts.train / rows) * training.epochs;
      rate = { milliseconds: stepMilliseconds, rows, steps };
      return rate;
    },
  };
}
