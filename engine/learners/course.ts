// The way of a learner that works in short slices: between two of them it reports, lets messages in, writes a checkpoint when
// one is due and waits out a pause.

import { timeText } from '../protocol/words.ts';
import type { LogLine, MetricPoint, TrainingProgress } from '../protocol/runs.ts';
import { WaitingPoints } from '../train/points.ts';
import type { LearnerJob } from './learner.ts';

/** Milliseconds of work between two looks at messages. */
export const sliceMilliseconds = 20;
const checkpointMilliseconds = 10_000;

/** What a learner says of itself between slices. */
export interface Stand {
  readonly progress: () => TrainingProgress;
  readonly snapshot: () => Uint8Array;
}

export class Course {
  readonly #job: LearnerJob;
  readonly #stand: Stand;
  readonly #points: WaitingPoints;
  readonly #start: number;
  #lastCheckpoint: number;
  #paused = 0;

  constructor(job: LearnerJob, stand: Stand) {
    this.#job = job;
    this.#stand = stand;
    this.#points = new WaitingPoints(job.surroundings.clock, job.events.onPoint);
    this.#start = this.#lastCheckpoint = job.surroundings.clock();
  }

  /** Seconds since it began, without pauses. */
  get seconds(): number {
    return (this.#job.surroundings.clock() - this.#start - this.#paused) / 1000;
  }

  say(message: string, level: LogLine['level'] = 'info', detail = false): void {
    const { events, surroundings } = this.#job;
    events.onLog({ time: surroundings.now(), level, message, detail });
  }

  point(point: MetricPoint): void {
    this.#points.add(point);
  }

  report(now: boolean): void {
    this.#points.report(now, (points) => this.#job.events.onReport({ points, progress: this.#stand.progress() }));
  }

  /** After what was reported up to here; resolves when it is kept. */
  async saveCheckpoint(): Promise<void> {
    this.report(true);
    await this.#job.events.onFile({ file: 'checkpoint.bin', data: this.#stand.snapshot() });
    this.#lastCheckpoint = this.#job.surroundings.clock();
  }

  /** Between two slices. False when the run has to stop. */
  async between(): Promise<boolean> {
    const { control, surroundings, events } = this.#job;
    this.report(false);
    await surroundings.breathe();
    if (surroundings.clock() - this.#lastCheckpoint >= checkpointMilliseconds) await this.saveCheckpoint();
    if (control.pauseRequested) {
      await this.saveCheckpoint();
      events.onPaused({ paused: true });
      const since = surroundings.clock();
      this.say('Paused.');
      await control.whileRunning();
      const pause = surroundings.clock() - since;
      this.#paused += pause;
      if (!control.stopRequested) {
        events.onPaused({ paused: false });
        this.say(`Goes on after a pause of ${timeText(pause)}.`);
      }
    }
    return !control.stopRequested;
  }
}
