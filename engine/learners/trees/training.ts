// Trees at work on a job: rows go to their bins, trees are grown in slices, and those that are kept are scored and handed over. What
// grows them is a `Grove`: boosting, or a forest.

import type { RunResult, TrainingProgress } from '../../protocol/runs.ts';
import { noValidationWarning } from '../../protocol/use.ts';
import { countText, timeText } from '../../protocol/words.ts';
import { endings } from '../../train/diary.ts';
import { doubtHint } from '../../train/doubt.ts';
import type { EvaluationSpec } from '../../train/metrics.ts';
import { handOverModel } from '../../train/model-files.ts';
import type { Weights } from '../../train/weights.ts';
import { Course, sliceMilliseconds } from '../course.ts';
import { DoneBy } from '../done-by.ts';
import type { LearnerJob, Training } from '../learner.ts';
import { scoreSplits } from '../scoring.ts';
import type { TreesSoFar } from './checkpoint.ts';
import type { BinnedRows } from './rows.ts';

/** Trees that grow, round by round. */
export interface Grove {
  /** What the log says trains: "Gradient boosting". */
  readonly name: string;
  readonly rows: BinnedRows;
  /** On the CPU. */
  readonly threads: number;
  /** Rounds of a whole run. */
  readonly rounds: number;
  readonly work: Pick<AsyncGenerator<void, void, void>, 'next' | 'return'>;
  /** Rounds so far. */
  done(): number;
  /** Losses of each round so far, by the names of their curves. */
  readonly losses: Readonly<Record<string, readonly number[]>>;
  /** Rounds that are kept. */
  kept(): number;
  /** Why it ended before all rounds, if it did. */
  stoppedEarly(): boolean;
  /** Where its loss was no number any more, and what to try; absent: it cannot be. */
  divergence?(): NonNullable<RunResult['divergence']> | null;
  snapshot(spent: Pick<TreesSoFar, 'seconds' | 'taken'>): Uint8Array;
  readonly evaluation: EvaluationSpec;
  /** Raw outputs [rows, width] of all rows, by the trees that are kept. */
  outputs(): Generator<void, Float32Array, void> | AsyncGenerator<void, Float32Array, void>;
  /**
   * What scoring takes at most, as a share of growing; absent: that depends on the trees, and is measured by scoring with the first of them,
   * which disturbs nothing.
   */
  readonly scoringShare?: number;
  /** Its part of `model.json`, and the tensors beside it. */
  model(): { readonly own: object; readonly tensors: Weights };
  remark(): string;
}

/** What the end takes is measured anew with so many times the trees, and takes this much longer than measured. */
const [endMeasured, endMargin] = [4, 2];

export class TreeTraining implements Training {
  readonly #job: LearnerJob;
  readonly #grove: Grove;
  readonly #course: Course;
  /** Rounds done, and seconds they took, before this training. */
  readonly #roundsBefore: number;
  readonly #secondsBefore: number;
  /** Of those, the seconds of the run that this one goes on from. */
  readonly #taken: number;
  #seconds = 0;
  #reported: number;
  readonly #doneBy: DoneBy | null;
  /** Rounds that there is time for; null: not planned yet, or as many as it has. */
  #planned: number | null = null;
  /** Milliseconds that scoring and writing take a round, and after how many that was measured. */
  #atEnd = { each: 0, at: 0 };
  /** Seconds that finding it out took. */
  #secondsMeasuring = 0;
  #result: RunResult | null = null;

  constructor(job: LearnerJob, grove: Grove, before: TreesSoFar | null) {
    this.#job = job;
    this.#grove = grove;
    this.#roundsBefore = this.#reported = this.#done;
    this.#secondsBefore = before?.seconds ?? 0;
    this.#taken = before?.taken ?? 0;
    this.#doneBy = DoneBy.of(job);
    this.#course = new Course(job, {
      progress: () => this.#progress(),
      snapshot: () => this.#snapshot(),
    });
    // Whoever stops a run may not wait until it has; whoever trains a fold does.
    if (!job.modelAlone) job.control.onStop(() => this.#handOver());
    this.#announce();
  }

  async advance(milliseconds: number): Promise<boolean> {
    if (this.#result) return false;
    const { clock } = this.#job.surroundings;
    const end = clock() + milliseconds;
    do {
      const done = await this.#slice();
      this.#addPoints();
      const { control } = this.#job;
      // Whoever stops it does not wait for another look at the time.
      const late = !done && !control.stopRequested && (await this.#isLate());
      const goesOn = await this.#course.between();
      if (goesOn && !done && !late) continue;
      if (!this.#job.modelAlone) await this.#course.saveCheckpoint();
      const stopped = !done && (!late || control.stopRequested);
      await this.#finish(done ? 'done' : stopped ? 'stopped' : 'late');
    } while (this.#result === null && clock() < end);
    return this.#result === null;
  }

  result(): RunResult {
    if (this.#result === null) throw new RangeError('the training goes on');
    return this.#result;
  }

  get #done(): number {
    return this.#grove.done();
  }

  get #secondsSpent(): number {
    return this.#secondsBefore + this.#seconds;
  }

  #snapshot(): Uint8Array {
    return this.#grove.snapshot({ seconds: this.#secondsSpent, taken: this.#taken });
  }

  /** True when there is nothing left to do. */
  async #slice(): Promise<boolean> {
    const { surroundings, events, control } = this.#job;
    const { clock } = surroundings;
    const start = clock();
    try {
      do {
        if ((await this.#grove.work.next()).done) return true;
        // Whoever listens to each point may stop it at that tree, however quick the next ones are.
        if (events.onPoint) this.#addPoints();
        if (control.stopRequested) return false;
      } while (clock() - start < sliceMilliseconds);
      return false;
    } finally {
      this.#seconds += (clock() - start) / 1000;
    }
  }

  /** Whether there is no time for more, where it is to be done by one. */
  async #isLate(): Promise<boolean> {
    if (this.#doneBy === null) return false;
    await this.#measureEnd();
    const before = this.#planned;
    this.#planned = this.#doneBy.plan(this.#done, this.#atEnd.each) ?? before;
    if (before === null && this.#planned !== null) {
      const [most, by] = [this.#grove.rounds, this.#doneBy.words];
      const time = `There is time for about ${countText(Math.min(this.#planned, most), 'tree')} until ${by}`;
      this.#course.say(this.#planned >= most ? `${time}: all that it may have.` : `${time}.`);
    }
    // One tree at least: without any there is no model.
    return this.#done > 0 && this.#doneBy.left(this.#atEnd.each * this.#done) < 0;
  }

  /** With what is there now and again, as later trees may be larger. */
  async #measureEnd(): Promise<void> {
    const { scoringShare } = this.#grove;
    const rounds = this.#done;
    if (rounds === 0) return;
    if (scoringShare !== undefined) {
      this.#atEnd = { each: (scoringShare * 1000 * this.#secondsSpent) / rounds, at: rounds };
    } else if (rounds >= endMeasured * this.#atEnd.at) {
      const { clock } = this.#job.surroundings;
      const start = clock();
      await this.#outputs();
      const scored = clock();
      // As long as a checkpoint and the model take each: of deep trees together more than scoring.
      this.#snapshot();
      const end = clock();
      const took = scored - start + 2 * (end - scored);
      this.#secondsMeasuring += (end - start) / 1000;
      this.#atEnd = { each: (endMargin * took) / rounds, at: rounds };
      // That was no tree.
      this.#doneBy?.anew();
    }
  }

  #addPoints(): void {
    for (; this.#reported < this.#done; this.#reported++) {
      const step = this.#reported + 1;
      for (const [series, values] of Object.entries(this.#grove.losses)) {
        const value = values.at(this.#reported);
        if (value === undefined) continue;
        this.#course.point({ series, value, step, epoch: step, seconds: this.#secondsSpent });
      }
    }
  }

  #announce(): void {
    const { data, start, checkpoint } = this.#job;
    const { counts, input, warnings } = data;
    for (const { message } of warnings) this.#course.say(message, 'warning');
    if (counts.validation === 0) this.#course.say(noValidationWarning().message, 'warning');
    const columns = input.kind === 'columns' ? input.columns.length : 0;
    const on = `${countText(counts.train, 'row')} and ${countText(columns, 'column')}`;
    this.#course.say(`${this.#grove.name} on ${on}, validated on ${counts.validation.toLocaleString('en')}.`);
    if (this.#roundsBefore > 0)
      this.#course.say(
        start && !checkpoint
          ? `Goes on where run ${start.parent} was after ${countText(this.#roundsBefore, 'tree')}.`
          : `Goes on after tree ${this.#roundsBefore}.`,
      );
  }

  #progress(): TrainingProgress {
    // One that was stopped is as far as it came.
    const ended = this.#result !== null && this.#result.reason !== 'stopped';
    const all = ended ? this.#done : Math.min(this.#grove.rounds, this.#planned ?? Infinity);
    const here = this.#done - this.#roundsBefore;
    return {
      epoch: this.#done,
      epochs: all,
      step: this.#done,
      steps: all,
      examplesPerSecond: this.#rowsPerSecond(),
      secondsTraining: this.#secondsSpent - this.#taken,
      secondsLeft: here > 0 ? ((all - this.#done) * this.#seconds) / here : null,
      loss: Object.values(this.#grove.losses)[0].at(-1) ?? null,
      spent: this.#spent(0),
    };
  }

  /** `scoring`: milliseconds of it at the end. */
  #spent(scoring: number): { readonly phases: Readonly<Record<string, number>> } {
    return { phases: { training: this.#seconds, scoring: this.#secondsMeasuring + scoring / 1000 } };
  }

  #rowsPerSecond(): number {
    const here = this.#done - this.#roundsBefore;
    return this.#seconds > 0 ? (here * this.#job.data.counts.train) / this.#seconds : 0;
  }

  /** `late`: there is no time for more. */
  async #finish(how: 'done' | 'late' | 'stopped'): Promise<void> {
    const { surroundings } = this.#job;
    const grove = this.#grove;
    const start = surroundings.clock();
    // Stopped, it may hold memory that scoring needs.
    await grove.work.return();
    const best = grove.kept();
    const divergence = grove.divergence?.() ?? null;
    const scored = divergence !== null && best === 0 ? null : await this.#keepAndScore(best);
    const scoring = surroundings.clock() - start;
    const ended = how === 'stopped' ? how : how === 'done' && grove.stoppedEarly() ? 'early_stopped' : 'completed';
    const reason = divergence ? 'diverged' : ended;
    const remark = `${grove.remark()}${how === 'late' ? ', as many as there was time for' : ''}`;
    this.#result = {
      reason,
      device: 'cpu',
      threads: grove.threads,
      epochs: this.#done,
      steps: this.#done,
      seconds: this.#secondsSpent - this.#taken,
      examplesPerSecond: this.#rowsPerSecond(),
      metrics: scored?.metrics ?? {},
      bestEpoch: best,
      remark,
      ...(this.#doneBy ? { deadline: this.#doneBy.result(this.#done, grove.rounds) } : {}),
      spent: this.#spent(scoring),
      ...(scored?.doubt ? { doubt: `${scored.doubt} ${doubtHint}` } : {}),
      ...(divergence ? { divergence } : {}),
    };
    this.#course.report(true);
    const times = `growing ${timeText(1000 * this.#seconds)}, scoring ${timeText(scoring)}`;
    this.#course.say(`Time: ${times}.`, 'info', true);
    this.#course.say(`${endings[reason]}: ${remark}.`, 'info', true);
    if (scored?.doubt) this.#course.say(scored.doubt, 'warning');
  }

  /** Hands over what is kept, and scores it. */
  async #keepAndScore(best: number): Promise<ReturnType<typeof scoreSplits> | null> {
    const grove = this.#grove;
    if (this.#job.control.abandoned) return null;
    this.#handOver();
    if (this.#job.modelAlone) return null;
    const outputs = await this.#outputs();
    const width = outputs.length / grove.rows.rows;
    const step = Math.max(1, this.#done);
    const scored = scoreSplits(this.#job, grove.evaluation, { step, best }, (from, to) => ({
      outputs: outputs.subarray(from * width, to * width),
      targets: grove.rows.targets.subarray(from, to),
    }));
    for (const point of scored.points) {
      // Those that have a point each tree have one already.
      if (Object.hasOwn(grove.losses, point.series)) continue;
      const at = Math.max(1, best);
      this.#course.point({ ...point, step: at, epoch: at, seconds: this.#secondsSpent });
    }
    return scored;
  }

  async #outputs(): Promise<Float32Array> {
    const { clock, breathe } = this.#job.surroundings;
    const work = this.#grove.outputs();
    for (let until = clock() + sliceMilliseconds; ;) {
      const { done, value } = await work.next();
      if (done) return value;
      if (clock() < until) continue;
      await breathe();
      until = clock() + sliceMilliseconds;
    }
  }

  /** What predicting and exporting need. */
  #handOver(): void {
    const { events, data } = this.#job;
    const { own, tensors } = this.#grove.model();
    handOverModel(events, data, own, tensors);
  }
}
