// What a run comes to: the best weights put back, scores of all splits, the files that predicting and exporting need, and the
// result. A run that diverged ends the same way, with the weights of its best epoch; without one it has nothing to keep.

import type { DeadlineResult, RunResult } from '../protocol/runs.ts';
import type { TrainingState } from './checkpoint.ts';
import type { Diary } from './diary.ts';
import type { EvaluationFiles } from './evaluation-files.ts';
import type { Reporter } from './reporter.ts';
import { handOverModel } from './model-files.ts';
import type { Scores } from './scores.ts';
import type { Session } from './session.ts';
import type { TrainerOptions } from './options.ts';
import { readWeights, weightNames, writeWeights, type Weights } from './weights.ts';

/** Where and how a run diverged. */
export interface Divergence {
  readonly step: number;
  /** NaN or an infinity. */
  readonly loss: number;
}

export interface OutcomeParts {
  readonly session: Session;
  readonly options: TrainerOptions;
  readonly state: TrainingState;
  readonly best: Weights;
  readonly scores: Scores;
  readonly files: EvaluationFiles;
  readonly reporter: Reporter;
  readonly diary: Diary;
  /** Of a run that was to be done by a time. */
  readonly deadline?: DeadlineResult;
}

export async function finish(
  parts: OutcomeParts,
  reason: RunResult['reason'],
  divergence: Divergence | null,
): Promise<RunResult> {
  const { session, options, state, reporter, diary, deadline } = parts;
  diary.keeps(state.bestEpoch);
  const worthless = divergence !== null && state.bestEpoch === 0;
  const scored = worthless ? null : await keepWeights(parts);
  reporter.report(true);
  const result: RunResult = {
    reason,
    device: options.backend.device.kind,
    threads: threadsOf(session, options),
    epochs: state.epoch,
    steps: state.step,
    seconds: state.seconds - state.takenSeconds,
    examplesPerSecond: reporter.rowsPerSecond,
    metrics: scored?.metrics ?? {},
    bestEpoch: state.bestEpoch,
    spent: { phases: diary.phases },
    ...(deadline ? { deadline: { ...deadline, ended: options.surroundings.now() } } : {}),
    ...(scored?.doubt ? { doubt: scored.doubt } : {}),
    ...(divergence ? { divergence: describe(divergence, state.bestEpoch, options) } : {}),
  };
  diary.ends(result);
  if (result.doubt) diary.warn(result.doubt);
  return result;
}

/** Puts the best weights back, hands them over and scores them. */
async function keepWeights({ session, options, state, best, scores, files }: OutcomeParts) {
  const { executable, plan, model } = session;
  const names = weightNames(model);
  const kept = state.bestEpoch > 0 ? best : await readWeights(executable, plan, names);
  if (state.bestEpoch > 0) writeWeights(executable, plan, names, best);
  // What the run has come to leaves first: evaluating takes its time, and somebody may not wait for it.
  handOver(options, kept);
  const scored = await scores.final();
  files.final(state.epoch, state.bestEpoch, scored.splits);
  return scored;
}

/** What predicting and exporting need. */
export function handOver({ events, training, model, data }: TrainerOptions, weights: Weights): void {
  handOverModel(events, data, { model, training }, weights);
}

/** Threads a run trains on: those of its plan, where the device has any. */
export const threadsOf = ({ executable }: Pick<Session, 'executable'>, { backend }: TrainerOptions): number =>
  executable.threads ?? backend.device.threads;

function describe({ step, loss }: Divergence, bestEpoch: number, { training }: TrainerOptions) {
  const { learningRate } = training.optimizer;
  const kept =
    bestEpoch > 0
      ? `The weights of epoch ${bestEpoch} are kept.`
      : 'No epoch was complete: there are no weights worth keeping.';
  const clipping = training.clipNorm > 0 ? 'make “Clip gradients at” smaller' : 'set “Clip gradients at” to 1';
  return {
    step,
    message: `The loss became ${loss} at step ${step}. ${kept}`,
    hint: `Train again with a lower learning rate (it is ${learningRate}), or ${clipping}.`,
  };
}
