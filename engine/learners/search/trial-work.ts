// A trial at work: its folds, one after the other, and the rungs at which it is held against the trials before it.

import type { OutputSpec } from '../../model/spec.ts';
import type { MetricPoint, RunConfig } from '../../protocol/runs.ts';
import type { Trial, TrialSettings } from '../../protocol/search.ts';
import { forecastLoss, goesOn, placesOf } from '../../search/asha.ts';
import { lossesOfMember, shownLoss } from '../auto/leaderboard.ts';
import { comesToNothing, MemberAtWork, type Member } from '../auto/member.ts';
import type { PartRows } from '../auto/part-rows.ts';
import { meanOf } from '../auto/selection.ts';
import type { RowsForMembers } from '../auto/trained.ts';
import type { LearnerJob } from '../learner.ts';

/** Groups that one part of the rows is scored by: luck is told by what differs between them. */
const groups = 5;

/** All that decides how a trial ends, beside the rows: it crosses to other threads. */
export interface TrialTask {
  /** From 1. */
  readonly trial: number;
  readonly settings: TrialSettings;
  readonly config: RunConfig;
  /** Units of a whole training of a fold. */
  readonly units: number;
  /** Rising; empty: it is not stopped early. */
  readonly rungs: readonly number[];
  /** By rungs: what those trials before it scored there that it is held against. */
  readonly before: readonly (readonly number[])[];
  /** The trial, stopped early, that it goes on with. */
  readonly after?: TrialBefore;
}

export interface TrialBefore {
  readonly trial: number;
  readonly rungs: Trial['rungs'];
  /** Of the folds that it had, where they are still there. Absent: it is trained from the beginning, and comes to the same. */
  readonly folds?: { readonly member: Member; readonly losses: readonly number[] };
}

export class TrialAtWork {
  readonly #task: TrialTask;
  readonly #seconds: () => number;
  readonly #rows: PartRows;
  readonly #output: OutputSpec;
  readonly #member: MemberAtWork;
  readonly #start: number;
  /** Mean losses of the folds that are done. */
  readonly #folds: number[] = [];
  readonly #passed: (readonly [rung: number, loss: number])[] = [];
  /** The least validation loss of the first fold so far, and what it was halfway to the next rung. */
  #least = Infinity;
  #halfway = Infinity;
  #stoppedAt: number | null = null;
  #problem: string | null = null;
  #abandoned = false;
  /** Share of the whole that it had when its time was over; null: it came to its end. */
  #cutAt: number | null = null;

  /** `seconds`: of the search, without its pauses. */
  constructor(task: TrialTask, seconds: () => number, job: LearnerJob, rows: PartRows, test: RowsForMembers) {
    this.#task = task;
    this.#seconds = seconds;
    this.#rows = rows;
    this.#output = job.data.output;
    this.#start = seconds();
    this.#member = new MemberAtWork(
      task.trial,
      { title: `Trial ${task.trial}`, config: () => task.config },
      job,
      rows,
      test,
      (point) => this.#watch(point),
      task.after?.folds?.member,
    );
    this.#passed.push(...(task.after?.rungs ?? []));
    this.#folds.push(...(task.after?.folds?.losses ?? []));
  }

  /** Works for a moment; `last`: it comes to its end with what it has. True while there is more to do. */
  async advance(last = false): Promise<boolean> {
    const { folds: before, share } = this.#member;
    try {
      const more = await this.#member.advance(last, before === 0);
      // A last fold that was cut short counts as one, but not as a whole one.
      if (last && !more && share < 1) this.#cutAt ??= Math.min(share, this.#member.folds / this.#rows.count);
      if (this.#member.folds > before) this.#scoreFold();
      return more;
    } catch (error) {
      if (!comesToNothing(error)) throw error;
      this.#problem = error.message;
      return false;
    }
  }

  /** Ends as soon as it can, and counts for nothing. */
  abandon(): void {
    this.#abandoned = true;
    this.#member.abandon();
  }

  /** It was given up: what it has is no result. */
  get abandoned(): boolean {
    return this.#abandoned;
  }

  /** How it ended. */
  result(): Trial {
    const { trial, settings, after } = this.#task;
    const { steps, seconds: training } = this.#member.trained;
    const seconds = this.#seconds() - this.#start;
    const wentOn = after === undefined ? '' : `went on with trial ${after.trial}`;
    const common = {
      ...{ trial, settings, steps, seconds, training, rungs: this.#passed },
      ...(after && { after: after.trial, ...(after.folds === undefined && { anew: true as const }) }),
    };
    const nothing = { score: null, losses: [], note: this.#problem ?? '' };
    if (this.#problem !== null) return { ...common, ...nothing, state: 'failed', reached: 0 };
    if (this.#stoppedAt !== null) {
      const rung = this.#stoppedAt;
      const loss = this.#passed.at(-1)?.[1] ?? NaN;
      return {
        ...common,
        state: 'stopped',
        reached: rung / this.#rows.count,
        score: Number.isFinite(loss) ? shownLoss(this.#output, loss) : null,
        losses: this.#folds,
        note: [this.#whyStopped(rung, loss), wentOn].filter(Boolean).join('; '),
      };
    }
    const losses = this.#rows.count > 1 ? this.#folds : this.#groupLosses();
    const score = shownLoss(this.#output, meanOf(Float64Array.from(losses)));
    const note = this.#cutAt === null ? wentOn : 'its time was over before its last fold was done';
    return { ...common, state: 'completed', reached: this.#cutAt ?? 1, score, losses, note };
  }

  /** What it learned, all of it or the folds that it had; null: nothing whole, or nothing that counts. */
  member(): Member | null {
    return this.#problem === null ? this.#member.result() : null;
  }

  #whyStopped(rung: number, loss: number): string {
    const others = this.#othersAt(rung);
    const place = 1 + others.filter((other) => other < loss).length;
    return `${this.#rungWords(rung)}, ${place} of ${others.length + 1}`;
  }

  #rungWords(rung: number): string {
    const { count } = this.#rows;
    if (rung >= 1) return `after fold ${rung} of ${count}`;
    const { here } = placesOf(rung, this.#task.units);
    return `at ${here} of ${this.#task.units}${count > 1 ? ' in fold 1' : ''}`;
  }

  /** A validation loss on the way: of the first fold, at its next rung. */
  #watch({ series, epoch, value }: MetricPoint): void {
    if (series !== 'val_loss' || this.#member.folds > 0 || this.#stoppedAt !== null) return;
    this.#least = Math.min(this.#least, value);
    const rung = this.#task.rungs[this.#passed.length];
    if (rung === undefined || rung >= 1) return;
    const { here, halfway } = placesOf(rung, this.#task.units);
    if (epoch <= halfway) this.#halfway = this.#least;
    if (epoch >= here) this.#pass(rung, forecastLoss(rung, this.#least, this.#halfway));
  }

  #scoreFold(): void {
    const member = this.#member.result()!;
    const own = { outOfFold: member.outOfFold, models: member.models.slice(-1) };
    this.#folds.push(meanOf(lossesOfMember(own, this.#rows, this.#output)));
    const done = this.#folds.length;
    // A fold that stopped by itself before a rung has come to it.
    for (const rung of this.#task.rungs.slice(this.#passed.length)) {
      if (rung > done || this.#stoppedAt !== null) break;
      this.#pass(rung, rung < 1 ? this.#least : meanOf(Float64Array.from(this.#folds)));
    }
  }

  #othersAt(rung: number): readonly number[] {
    return this.#task.before[this.#task.rungs.indexOf(rung)] ?? [];
  }

  #pass(rung: number, loss: number): void {
    this.#passed.push([rung, loss]);
    if (goesOn(rung, loss, this.#othersAt(rung))) return;
    this.#stoppedAt = rung;
    this.#member.abandon();
  }

  #groupLosses(): readonly number[] {
    const losses = lossesOfMember(this.#member.result()!, this.#rows, this.#output);
    const count = Math.min(groups, losses.length);
    return Array.from({ length: count }, (_, group) => meanOf(losses.filter((_loss, row) => row % count === group)));
  }
}
