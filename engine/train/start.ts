// What a run begins with that comes from another one: a checkpoint of its parent, with all that decides the future of it, or
// weights alone. With unchanged settings and a checkpoint the run is the one its parent would have been, bit for bit.

import { heldRateText } from '../model/held-rate.ts';
import { parameterCount } from '../model/resolve.ts';
import type { OutputSpec } from '../model/spec.ts';
import type { JobStart } from '../protocol/hosts.ts';
import { decodeCheckpoint, initialState, isCheckpoint, type TrainingState } from './checkpoint.ts';
import { beginLossScale, withoutLossScale } from './loss-scale.ts';
import type { Session } from './session.ts';
import { transferTo, weightsIn } from './transfer.ts';
import { readable, trainedWords } from './start-words.ts';
import { weightNames, writeWeights, type Weights } from './weights.ts';

export interface Begun {
  readonly state: TrainingState;
  /** The best weights of its parent. */
  readonly best: Weights;
  /** These weights have not been judged yet: they may be the best it will have. */
  readonly unjudged: boolean;
  /** Names of the tensors that have their values: the others are to be drawn. */
  readonly written: readonly string[];
  /** What the log says of it. */
  readonly said: readonly string[];
}

/** Puts the weights of its parent in place, and the state of the optimizer. Throws InputError `model.weights` where they do not fit. */
export function goOnFrom(session: Session, start: JobStart, output: OutputSpec): Begun {
  if (start.relation === 'started from') return takeWeights(session, start, output);
  return isCheckpoint(start.file) ? fromCheckpoint(session, start) : fromWeights(session, start);
}

function fromCheckpoint(session: Session, start: JobStart): Begun {
  const { executable, plan, model, training } = session;
  const { state, tensors, best } = decodeCheckpoint(start.file);
  const weights = weightNames(model);
  writeWeights(executable, plan, weights, tensors);
  const memory = withoutLossScale(plan.checkpoint).filter((name) => !weights.includes(name));
  const fits = memory.every((name) => tensors[name]?.shape.join() === plan.tensors[name].shape.join());
  if (fits) {
    writeWeights(executable, plan, memory, tensors);
    beginLossScale(session, state.step - state.optimizerStep, tensors);
  }
  const said = [readable(start, state)];
  if (!fits) said.push('The optimizer is another one: it begins anew.');
  // It would stop again at once: whoever lets it go on wants to see more of it.
  const stalled = training.earlyStopping.enabled && state.stale >= training.earlyStopping.patience;
  // Of an epoch in the middle of a run: its best weights so far may have been others.
  const bestIsGone = state.bestEpoch > 0 && Object.keys(best).length === 0;
  const goesOn: TrainingState = {
    ...state,
    takenSeconds: state.seconds,
    plan: undefined,
    ...(fits ? {} : { optimizerStep: state.step }),
    ...(stalled ? { stale: 0 } : {}),
    ...(start.anew ? anew(state) : {}),
    ...(start.incomparable || bestIsGone ? { bestLoss: null, bestEpoch: 0 } : {}),
    ...(start.incomparable ? { stale: 0 } : {}),
  };
  const held = start.anew ? null : heldRateText(training);
  if (held !== null) said.push(held);
  if (start.anew) said.push('The schedule of the learning rate begins anew.');
  if (start.anew && state.rows > 0) said.push('The epoch under way begins again.');
  if (start.incomparable) said.push('The loss is another one: the best epoch is looked for among those to come.');
  return { state: goesOn, best: start.incomparable ? {} : best, unjudged: bestIsGone, written: weights, said };
}

/** Where the schedule begins anew, and with it, as the batch may be another one, the epoch that was under way. */
const anew = ({ step, epoch }: TrainingState): Partial<TrainingState> => ({
  ...{ rows: 0, lossSum: 0, windowRows: 0, bucketSum: 0, bucketSteps: 0 },
  ...{ scheduleStep: step, scheduleEpoch: epoch },
});

function fromWeights(session: Session, start: JobStart): Begun {
  const { executable, plan, model } = session;
  const written = weightNames(model);
  writeWeights(executable, plan, written, weightsIn(start.file));
  const { epoch = 0, step = 0, seconds = 0 } = start;
  const state = {
    ...initialState(),
    ...{ epoch, step, seconds, takenSeconds: seconds },
    ...{ scheduleStep: step, scheduleEpoch: epoch, optimizerStep: step },
  };
  return {
    state,
    best: {},
    unjudged: true,
    written,
    said: [readable(start, state), 'The optimizer and the schedule begin anew.'],
  };
}

/** A run of its own that begins with weights of another. */
function takeWeights(
  { executable, plan, model, whole, training }: Session,
  start: JobStart,
  output: OutputSpec,
): Begun {
  const { taken, weights, said } = transferTo(whole, start, training.frozenLayers, output);
  writeWeights(executable, plan, taken, weights);
  const frozen = training.frozenLayers > 0 ? [trainedWords(parameterCount(model), parameterCount(whole))] : [];
  return { state: initialState(), best: {}, unjudged: false, written: taken, said: [...said, ...frozen] };
}
