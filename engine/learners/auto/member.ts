// One member of an ensemble at work: its folds, one after the other, each a training of an ordinary learner that is told to stop when time
// is up. What comes of it: the files of each fold's model, what they say of the rows they did not learn from, and of the test rows.

import { withoutTexts } from '../../data/preprocess/modelled-rows.ts';
import type { HostSpending } from '../../protocol/bill.ts';
import { TrainyardError } from '../../protocol/errors.ts';
import type { LogLine, MetricPoint, RunConfig } from '../../protocol/runs.ts';
import { RunControl } from '../../train/control.ts';
import { decodeSafetensors, decodeText } from '../../train/safetensors.ts';
import { declarationOf } from '../declared/registry.ts';
import { rowsOfSplit } from '../split-rows.ts';
import type { LearnerEvents, LearnerJob, OtherLearners, Training } from '../learner.ts';
import type { PartRows } from './part-rows.ts';
import type { Candidate } from './plan.ts';
import { meaningOf, valuesPerRow, type RowsForMembers } from './trained.ts';

/** The files of a fold's model. */
export interface FoldModel {
  /** The part of the rows that it was validated on, from 1. */
  readonly part: number;
  readonly model: Uint8Array;
  readonly weights: Uint8Array;
}

export interface Member {
  /** Place in the order of candidates, from 0. */
  readonly number: number;
  readonly title: string;
  readonly config: RunConfig;
  readonly models: readonly FoldModel[];
  /** [N, values]: what it says of each row that it did not learn from; those of folds that are missing are NaN. */
  readonly outOfFold: Float64Array;
  /** [test rows, values]: the mean of its folds. */
  readonly test: Float64Array;
  /** Of training. */
  readonly seconds: number;
  /** All it took, scoring of its folds included; absent: a checkpoint of an earlier version. */
  readonly spent?: HostSpending;
  /** To predict a row; 0 = there was no row to measure with. */
  readonly microseconds: number;
  readonly parameters: number;
}

/** Reading and scoring a fold takes this share of its training, where no fold before says it: much of it for deep trees. */
const finishingShare = 0.3;
/** Telling of a fold and handing it over take this share of reading and scoring it. */
const writingShare = 0.6;
/** Milliseconds of a member's work between two looks at the clock and at messages. */
const slice = 100;

interface FoldAtWork {
  readonly part: number;
  readonly control: RunControl;
  readonly training: Training;
  readonly files: Map<string, Uint8Array>;
}

export class MemberAtWork {
  readonly candidate: Candidate;
  readonly config: RunConfig;
  readonly #number: number;
  readonly #job: LearnerJob;
  readonly #rows: PartRows;
  readonly #test: RowsForMembers;
  readonly #onPoint: ((point: MetricPoint) => void) | undefined;
  readonly #models: FoldModel[] = [];
  readonly #outOfFold: Float64Array;
  readonly #testSum: Float64Array;
  #seconds = 0;
  #scoring = 0;
  #cpuSeconds = 0;
  #predicting = 0;
  #parameters = 0;
  #steps = 0;
  #stepSeconds = 0;
  #fold: FoldAtWork | null = null;
  #abandoned = false;
  /** It was asked to stop, maybe in the middle of a moment of work. */
  #stopping = false;
  /** Of the fold at work. */
  #share = 0;

  /** `onPoint` hears of the points of the fold at work; `from`: the folds that it had before, of a job without test rows. */
  constructor(
    number: number,
    candidate: Candidate,
    job: LearnerJob,
    rows: PartRows,
    test: RowsForMembers,
    onPoint?: (point: MetricPoint) => void,
    from?: Pick<Member, 'models' | 'outOfFold' | 'parameters'>,
  ) {
    this.#onPoint = onPoint;
    this.#number = number;
    this.candidate = candidate;
    this.config = candidate.config(0);
    this.#job = job;
    this.#rows = rows;
    this.#test = test;
    const values = valuesPerRow(job.data.output);
    this.#outOfFold = new Float64Array(rows.targets.length * values).fill(NaN);
    this.#testSum = new Float64Array(job.data.counts.test * values);
    if (from === undefined) return;
    this.#models.push(...from.models);
    this.#outOfFold.set(from.outOfFold);
    this.#parameters = from.parameters;
  }

  /** The fold at work, from 1. */
  get part(): number {
    return Math.min(this.#rows.count, this.#models.length + 1);
  }

  /** How far it is, 0 … 1. */
  get share(): number {
    return Math.min(1, (this.#models.length + this.#share) / this.#rows.count);
  }

  /** Folds that are done. */
  get folds(): number {
    return this.#models.length;
  }

  /** Seconds that a fold takes at its end, to be read and scored: as those before, or a share of its training. */
  get #finishing(): number {
    const done = this.#models.length;
    return done > 0 ? this.#scoring / done : finishingShare * this.#seconds;
  }

  /** Seconds that its end takes if it ends now: the fold at work, where it may count, and all that is written of those that do. */
  get ending(): number {
    const counts = this.#fold !== null && this.#fold.part === this.#rows.count;
    const folds = this.#models.length + (counts ? 1 : 0);
    return this.#finishing * ((counts ? 1 : 0) + writingShare * folds);
  }

  /** Steps of training of the folds that have ended, and the seconds of those steps alone. */
  get trained(): { readonly steps: number; readonly seconds: number } {
    return { steps: this.#steps, seconds: this.#stepSeconds };
  }

  get complete(): boolean {
    return this.#models.length === this.#rows.count;
  }

  /**
   * Works for a moment; `last`: the fold at work comes to its end with what it has. That counts where it completes the member, or where
   * nothing else answers (`needed`). A fold that is done counts if there is time to score it, of the `left` seconds. True while there is more to do.
   */
  async advance(last: boolean, needed: boolean, left = Infinity): Promise<boolean> {
    // A fold that has not begun has nothing to come to an end with.
    if (this.#fold === null && (this.#abandoned || (last && !needed))) return false;
    const { clock, used } = this.#job.surroundings;
    const cpuBefore = used?.().cpuSeconds ?? 0;
    try {
      const start = clock();
      this.#fold ??= await this.#open(this.#models.length + 1);
      // Cut short, a fold counts where it is the last one or nothing else answers: others are given up where they stand.
      if (last && (needed || this.#fold.part === this.#rows.count)) this.#fold.control.stop();
      else if (last) this.#fold.control.abandon();
      const goesOn = await this.#fold.training.advance(slice);
      const trained = clock();
      this.#seconds += (trained - start) / 1000;
      if (goesOn) return true;
      const { steps, seconds } = this.#fold.training.result();
      this.#steps += steps;
      this.#stepSeconds += seconds;
      // Of the last fold that time is kept back already.
      const ends = last || this.#stopping;
      const kept = needed || ends || this.#fold.part === this.#rows.count;
      const inTime = kept || (1 + writingShare) * this.#finishing <= left;
      const counts = !this.#abandoned && inTime && (!ends || needed || this.#completes(this.#fold));
      if (counts) await this.#finishFold(this.#fold);
      this.#scoring += (clock() - trained) / 1000;
      this.#fold = null;
      this.#share = 0;
      return !ends && counts && !this.complete;
    } finally {
      this.#cpuSeconds += (used?.().cpuSeconds ?? 0) - cpuBefore;
    }
  }

  /** Whether a fold that was cut short makes the member whole; one that has learned nothing yet is no fold. */
  #completes({ part, training }: FoldAtWork): boolean {
    return part === this.#rows.count && training.result().bestEpoch > 0;
  }

  /** Ends the fold at work as soon as it can: it counts as with `last`. */
  stop(): void {
    this.#stopping = true;
    this.#fold?.control.stop();
  }

  /** Gives it up: the fold at work ends as soon as it can, and counts for nothing. */
  abandon(): void {
    this.#abandoned = true;
    this.#fold?.control.abandon();
  }

  /** Null: not one fold came to anything. */
  result(): Member | null {
    const folds = this.#models.length;
    if (folds === 0) return null;
    const { counts } = this.#job.data;
    return {
      number: this.#number,
      title: this.candidate.title,
      config: this.config,
      models: this.#models,
      outOfFold: this.#outOfFold,
      test: this.#testSum.map((sum) => sum / folds),
      seconds: this.#seconds,
      spent: { phases: { training: this.#seconds, scoring: this.#scoring }, cpuSeconds: this.#cpuSeconds },
      microseconds: counts.test > 0 ? (this.#predicting * 1e6) / counts.test : 0,
      parameters: this.#parameters,
    };
  }

  get #others(): OtherLearners {
    if (!this.#job.others) throw new RangeError('an ensemble is made of others');
    return this.#job.others;
  }

  async #open(part: number): Promise<FoldAtWork> {
    const config = this.candidate.config(part - 1);
    const { forms } = declarationOf(config);
    const form = forms.includes('columns') ? 'columns' : 'matrix';
    const files = new Map<string, Uint8Array>();
    const control = new RunControl();
    const { surroundings, dataBudget, backend } = this.#job;
    const job = {
      ...withoutTexts(await this.#rows.fold(part, form)),
      surroundings,
      dataBudget,
      backend,
      config,
      control,
      modelAlone: true,
    } as const;
    declarationOf(config).check(config, job.data);
    const training = await this.#others.named(config.learner).open({ ...job, events: this.#events(files) });
    return { part, control, training, files };
  }

  #events(files: Map<string, Uint8Array>): LearnerEvents {
    return {
      onStarted: ({ parameters }) => (this.#parameters = parameters),
      onReport: ({ progress }) => (this.#share = progress.step / Math.max(1, progress.steps)),
      // What its own fold has to say is nothing to whoever watches the whole, unless something is wrong.
      onLog: (line: LogLine) => {
        if (line.level === 'error')
          this.#job.events.onLog({ ...line, message: `${this.candidate.title}: ${line.message}` });
      },
      onPoint: this.#onPoint,
      onPaused: () => undefined,
      onFile: ({ file, data }) => {
        if (file === 'model.json' || file === 'best.safetensors') files.set(file, data);
      },
    };
  }

  /** Predicts the rows that validated and the test rows; a fold without a model, or that diverged, comes to nothing. */
  async #finishFold({ part, training, files }: FoldAtWork): Promise<void> {
    const model = files.get('model.json');
    const weights = files.get('best.safetensors');
    const none = (why: string): NoModel => new NoModel(this.candidate.title, part, why);
    if (training.result().reason === 'diverged') throw none('its loss was no number');
    if (!model || !weights) throw none('it was not trained far enough');
    const { output } = this.#job.data;
    const values = valuesPerRow(output);
    const { surroundings, dataBudget, backend } = this.#job;
    const trained = this.#others.readOwn(JSON.parse(decodeText(model)) as object, decodeSafetensors(weights).tensors);
    const form = trained.file.input.kind === 'columns' ? 'columns' : 'matrix';
    const own = this.#rows.rowsOf(part);
    const said = await trained.outputs({ ...withoutTexts(await this.#rows.only(part, form)), dataBudget, backend });
    const meaning = meaningOf(output, said.outputs, own.length);
    if (!meaning.every(Number.isFinite)) throw none('it predicts what is no number');
    own.forEach((row, at) => this.#outOfFold.set(meaning.subarray(at * values, (at + 1) * values), row * values));
    const tested = this.#job.data.counts.test;
    if (tested > 0) {
      const start = surroundings.clock();
      const { outputs } = await trained.outputs(rowsOfSplit(this.#test.of(trained.file.input), 'test'));
      this.#predicting += (surroundings.clock() - start) / 1000;
      meaningOf(output, outputs, tested).forEach((value, i) => (this.#testSum[i] += value));
    }
    this.#models.push({ part, model, weights });
  }
}

/** A fold that came to nothing: its model diverged, or says what is no number. */
class NoModel extends Error {
  constructor(title: string, part: number, why: string) {
    super(`${title} came to no model in fold ${part}: ${why}.`);
  }
}

/** Whether an error says of a member that it cannot be trained, and nothing of the others. */
export const comesToNothing = (error: unknown): error is Error =>
  error instanceof NoModel || error instanceof TrainyardError;
