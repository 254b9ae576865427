// What a run tells of itself while it trains: the points of its curves, how far it is and how fast.

import type { MetricPoint, Sharing, TrainingProgress } from '../protocol/runs.ts';
import type { TrainingState } from './checkpoint.ts';
import type { Diary } from './diary.ts';
import { WaitingPoints } from './points.ts';

/** Points of the step curve a run makes at most. */
const stepPoints = 2000;

export interface ReporterOptions {
  readonly state: TrainingState;
  /** Epochs and steps of the whole run, as planned now. */
  readonly planned: () => { readonly epochs: number; readonly steps: number };
  /** Epochs after so many steps. */
  readonly epochAt: (step: number) => number;
  readonly clock: () => number;
  readonly diary: Pick<Diary, 'phases'>;
  /** What several devices have done; null: there is one. */
  readonly sharing: () => Sharing | null;
  readonly onReport: (event: { points: readonly MetricPoint[]; progress: TrainingProgress }) => void;
  readonly onPoint?: (point: MetricPoint) => void;
}

export class Reporter {
  readonly #options: ReporterOptions;
  /** Seconds of training before this attempt. */
  readonly #resumedSeconds: number;
  readonly #points: WaitingPoints;
  #lastLoss: number | null = null;
  #stepsHere = 0;
  #rowsHere = 0;
  #secondsHere = 0;
  /** When training began, put off by every pause. */
  #begun: number;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#resumedSeconds = options.state.seconds;
    this.#points = new WaitingPoints(options.clock, options.onPoint);
    this.#begun = options.clock();
  }

  /** Rows trained on a second of training, a remainder counted as the rows it has. */
  get rowsPerSecond(): number {
    return this.#secondsHere > 0 ? this.#rowsHere / this.#secondsHere : 0;
  }

  /** Steps are done. */
  trained(steps: number, rows: number, milliseconds: number): void {
    this.#stepsHere += steps;
    this.#rowsHere += rows;
    this.#secondsHere += milliseconds / 1000;
    this.#options.state.seconds = this.#resumedSeconds + this.#secondsHere;
  }

  /** The loss of the step that `state.step` names. */
  loss(loss: number): void {
    const { state, epochAt, planned } = this.#options;
    this.#lastLoss = loss;
    state.bucketSum += loss;
    state.bucketSteps++;
    if (state.bucketSteps < Math.ceil(planned().steps / stepPoints)) return;
    this.point('step_loss', state.bucketSum / state.bucketSteps, epochAt(state.step));
    state.bucketSum = 0;
    state.bucketSteps = 0;
  }

  point(series: string, value: number, epoch: number): void {
    const { step, seconds } = this.#options.state;
    this.#points.add({ series, step, epoch, seconds, value });
  }

  /** A pause is over. */
  paused(milliseconds: number): void {
    this.#begun += milliseconds;
  }

  /** Reports, if the last report is long enough ago; `now`: whenever it was. */
  report(now = false): void {
    const { clock, onReport } = this.#options;
    this.#points.report(now, (points) => onReport({ points, progress: this.#progress(clock()) }));
  }

  #progress(time: number): TrainingProgress {
    const { diary, planned, state } = this.#options;
    const { epochs, steps } = planned();
    const { epoch, step, seconds, takenSeconds } = state;
    const sharing = this.#options.sharing();
    const secondsAtWork = (time - this.#begun) / 1000;
    return {
      epoch,
      epochs,
      step,
      steps,
      examplesPerSecond: this.rowsPerSecond,
      secondsTraining: seconds - takenSeconds,
      secondsLeft: this.#stepsHere > 0 ? ((steps - step) * secondsAtWork) / this.#stepsHere : null,
      loss: this.#lastLoss,
      ...(sharing ? { sharing } : {}),
      spent: { phases: diary.phases },
    };
  }
}
