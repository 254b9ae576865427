// Best of all at work: candidate after candidate is trained on the folds until time is up, or all that were chosen are done; after each the ensemble is chosen anew, so that
// there is an answer whenever it ends. A member that is at work then is stopped, and what it has is used.

import type { PhaseSeconds } from '../../protocol/bill.ts';
import type { KeptMember } from '../../protocol/hosts.ts';
import type { LeaderboardRow, LeftOutModel } from '../../protocol/leaderboard.ts';
import type { RunResult, TrainingProgress } from '../../protocol/runs.ts';
import { countText, timeText } from '../../protocol/words.ts';
import { Course } from '../course.ts';
import { DoneBy } from '../done-by.ts';
import type { LearnerJob, Training } from '../learner.ts';
import { encodeState, type AutoState } from './checkpoint.ts';
import { chosenMembers } from '../declared/chosen-members.ts';
import type { AutoConfig } from './declaration.ts';
import { CurveAtWork } from './curve-work.ts';
import { Standing } from './leaderboard.ts';
import { comesToNothing, MemberAtWork, type Member } from './member.ts';
import { ensembleFiles, handOver } from './model.ts';
import type { PartRows } from './part-rows.ts';
import { candidates, type Candidate, type PlannedFor } from './plan.ts';
import { autoScores, type AutoScores } from './scores.ts';
import { RowsForMembers, matrixRecipe, valuesPerRow } from './trained.ts';
import { noBetter, noMember, shown, tooShort } from './words.ts';

/** Steps of progress a second of the budget. */
const stepsPerSecond = 10;
/** Seconds kept for choosing and writing at the end, beside what choosing took before. */
const reserve = 0.3;
/** A model is handed over before the end where that takes this share of the time since the last at most. */
const handOverShare = 0.05;
/** Of the time, where a learning curve is asked for. */
const curveShare = 0.2;

export interface AutoRows {
  readonly rows: PartRows;
  /** [test rows] */
  readonly testTargets: Float32Array;
}

export class AutoTraining implements Training {
  readonly #job: LearnerJob<AutoConfig>;
  readonly #rows: PartRows;
  readonly #testTargets: Float32Array;
  readonly #test: RowsForMembers;
  readonly #course: Course;
  readonly #members: Member[];
  readonly #leftOut: LeftOutModel[];
  readonly #plannedFor: PlannedFor;
  readonly #candidates: Iterator<Candidate, void, void>;
  readonly #secondsBefore: number;
  readonly #doneBy: DoneBy | null;
  /** Members that somebody chose, and that are all trained where no time is given; 0: those of every kind, for its minutes. */
  readonly #chosen: number;
  #next: number;
  #atWork: MemberAtWork | null = null;
  #standing: Standing | null = null;
  #weights: readonly number[] = [];
  #board: readonly LeaderboardRow[] = [];
  /** Seconds the last choice took. */
  #choosing = 0;
  #lastHandOver = -Infinity;
  #handOverTook = 0;
  #exhausted = false;
  #curve: CurveAtWork | null = null;
  #result: RunResult | null = null;

  constructor(job: LearnerJob<AutoConfig>, { rows, testTargets }: AutoRows, before: AutoState | null) {
    this.#job = job;
    this.#rows = rows;
    this.#testTargets = testTargets;
    this.#test = new RowsForMembers(job, matrixRecipe(job.data.preprocessing));
    this.#members = [...(before?.members ?? [])];
    this.#leftOut = [...(before?.leftOut ?? [])];
    this.#secondsBefore = before?.seconds ?? 0;
    this.#doneBy = DoneBy.of(job);
    const fold = rows.targets.length - Math.round(rows.targets.length / Math.max(2, rows.count));
    const chosen = chosenMembers(job.config.auto);
    this.#chosen = chosen?.length ?? 0;
    // Those that were chosen are what they were where they were chosen: a search goes by the rows of its first fold.
    const learned = chosen ? rows.learnedFrom(1).length : fold;
    this.#plannedFor = { common: commonOf(job.config), data: job.data, rows: learned, chosen };
    this.#candidates = candidates(this.#plannedFor);
    this.#next = before?.next ?? 0;
    for (let skipped = 0; skipped < this.#next; skipped++) this.#candidates.next();
    this.#course = new Course(job, { progress: () => this.#progress(), snapshot: () => this.#snapshot() });
    job.control.onStop(() => this.#atWork?.stop());
    this.#announce();
  }

  async advance(milliseconds: number): Promise<boolean> {
    const { clock } = this.#job.surroundings;
    const end = clock() + milliseconds;
    while (this.#result === null && clock() < end) await this.#step();
    return this.#result === null;
  }

  result(): RunResult {
    if (this.#result === null) throw new RangeError('the training goes on');
    return this.#result;
  }

  get #spent(): number {
    return this.#secondsBefore + this.#course.seconds;
  }

  /** Of this attempt: the bill has those before. */
  get #phases(): PhaseSeconds {
    return { training: this.#course.seconds };
  }

  /** Seconds in all: a pause takes none of them, unless it is to be done by a time. */
  get #budget(): number {
    if (this.#doneBy) return this.#spent + Math.max(0, this.#doneBy.left(0) / 1000);
    if (this.#chosen > 0) return Infinity;
    return 60 * this.#job.config.auto.minutes;
  }

  /** Seconds for the members. */
  get #left(): number {
    if (this.#budget === Infinity) return Infinity;
    return this.#leftInAll - (this.#job.config.auto.curve ? curveShare * this.#budget : 0);
  }

  get #leftInAll(): number {
    const ending = 2 * this.#choosing + this.#handOverTook + (this.#atWork?.ending ?? 0);
    return this.#budget - this.#spent - reserve - ending;
  }

  /** A moment of work, and what others ask for after it. */
  async #step(): Promise<void> {
    const goesOn = await this.#course.between();
    // Without any member there is no answer: the first fold comes to an end with what it has.
    const last = !goesOn || this.#left <= 0;
    const nothing = this.#members.length === 0;
    if (this.#exhausted || (last && this.#atWork === null && !nothing)) {
      if (goesOn && (await this.#drawCurve())) return;
      return this.#finish(!goesOn);
    }
    this.#atWork ??= this.#begin();
    // All are done: what is left to do is seen to in the next step.
    if (this.#atWork === null) return;
    const atWork = this.#atWork;
    try {
      if (await atWork.advance(last, nothing && atWork.folds === 0, this.#left)) return;
    } catch (error) {
      // One that cannot be trained leaves the others their time.
      if (!comesToNothing(error)) throw error;
      this.#leftOut.push({ title: atWork.candidate.title, reason: error.message });
      this.#course.say(`${atWork.candidate.title} is left out: ${error.message}`, 'warning');
      this.#atWork = null;
      return;
    }
    await this.#keep(atWork, last);
  }

  /** A moment of work on the learning curve, of the best member that has all its folds. True while there is more to do. */
  async #drawCurve(): Promise<boolean> {
    if (!this.#job.config.auto.curve) return false;
    if (this.#curve === null) {
      const row = this.#board.find(({ member, folds, ofFolds }) => member !== null && folds.length === ofFolds);
      const best = this.#members.find(({ number }) => number === row?.member);
      if (!best) return false;
      const all = candidates(this.#plannedFor);
      const candidate = [...Array(best.number + 1)].map(() => all.next().value).at(-1);
      if (!candidate) return false;
      this.#curve = new CurveAtWork(this.#job, this.#rows, this.#test, candidate, best);
    }
    return this.#curve.advance(this.#leftInAll <= 0);
  }

  #begin(): MemberAtWork | null {
    const { value } = this.#candidates.next();
    if (!value) {
      this.#exhausted = true;
      return null;
    }
    return new MemberAtWork(this.#next++, value, this.#job, this.#rows, this.#test);
  }

  /** A member that has come to its end, or to the end of time: what is kept then is kept once, at the end. */
  async #keep(atWork: MemberAtWork, last: boolean): Promise<void> {
    this.#atWork = null;
    const member = atWork.result();
    if (member === null) return;
    this.#members.push(member);
    const standing = this.#choose();
    const [ensemble, ...others] = this.#board;
    const own = others.find((row) => row.member === member.number)!;
    const folds =
      member.models.length < this.#rows.count ? `, ${member.models.length} of ${this.#rows.count} folds` : '';
    this.#course.say(
      `${member.title}: ${shown(own.score)}${folds}, in ${timeText(1000 * member.seconds)}; together ${shown(ensemble.score)}.`,
    );
    const { metrics } = this.#scores(standing);
    const at = { step: Math.round(this.#spent * stepsPerSecond), epoch: this.#members.length, seconds: this.#spent };
    for (const [series, value] of Object.entries(metrics))
      if (series.startsWith('val_')) this.#course.point({ series, value, ...at });
    this.#tell(member);
    if (last) return;
    this.#handOverWhereQuick();
    await this.#course.saveCheckpoint();
  }

  /** Of the members there are; chosen anew where there are more than before. */
  #choose(): Standing {
    if (this.#standing?.members.length === this.#members.length) return this.#standing;
    const { clock } = this.#job.surroundings;
    const start = clock();
    const standing = new Standing([...this.#members], this.#rows, this.#job.data.output);
    this.#standing = standing;
    this.#weights = standing.select();
    this.#board = standing.board(this.#weights);
    this.#choosing = (clock() - start) / 1000;
    return standing;
  }

  /** The history keeps it as a run of its own. */
  #tell(member: Member): void {
    const { events, data, config } = this.#job;
    const standing = new Standing([member], this.#rows, data.output);
    const { metrics, evaluation } = this.#scoresOf(standing, [1], member.test);
    const files = ensembleFiles([member], [1], config, data);
    const kept: KeptMember = {
      member: member.number,
      title: member.title,
      config: member.config,
      parameters: member.parameters,
      files: { ...files, 'evaluation.json': evaluation },
      result: {
        reason: 'completed',
        device: 'cpu',
        threads: 1,
        epochs: member.models.length,
        steps: member.models.length,
        seconds: member.seconds,
        examplesPerSecond: 0,
        metrics,
        bestEpoch: member.models.length,
        remark: `the mean of ${countText(member.models.length, 'model')}, one a fold`,
        spent: member.spent,
      },
    };
    events.onMember?.(kept);
  }

  #handOverWhereQuick(): void {
    const { clock } = this.#job.surroundings;
    const since = clock() - this.#lastHandOver;
    if ((this.#handOverTook * 1000) / since <= handOverShare) this.#handOver();
  }

  #handOver(): void {
    const { clock } = this.#job.surroundings;
    const { config, data, events } = this.#job;
    const start = clock();
    handOver(ensembleFiles(this.#members, this.#weights, config, data), events.onFile);
    this.#lastHandOver = clock();
    this.#handOverTook = (this.#lastHandOver - start) / 1000;
  }

  #scores(standing: Standing): AutoScores {
    const test = new Float64Array(this.#testTargets.length * valuesPerRow(this.#job.data.output));
    standing.members.forEach((member, index) => {
      for (let i = 0; i < test.length; i++) test[i] += this.#weights[index] * member.test[i];
    });
    return this.#scoresOf(standing, this.#weights, test);
  }

  #scoresOf(standing: Standing, weights: readonly number[], test: Float64Array): AutoScores {
    const { rows, values } = standing.outOfFold(weights);
    const targets = Float32Array.from(rows, (row) => this.#rows.targets[row]);
    const known = { values: test, targets: this.#testTargets };
    return autoScores(this.#job.data, this.#members.length, { values, targets }, known);
  }

  async #finish(stopped: boolean): Promise<void> {
    const { events } = this.#job;
    if (this.#members.length === 0) throw noMember(this.#leftOut);
    const standing = this.#choose();
    this.#handOver();
    const { metrics, evaluation } = this.#scores(standing);
    void events.onFile({ file: 'evaluation.json', data: evaluation });
    const leaderboard = this.#board;
    const of = this.#members.length;
    this.#result = {
      reason: stopped ? 'stopped' : 'completed',
      device: 'cpu',
      threads: 1,
      epochs: of,
      steps: Math.round(this.#spent * stepsPerSecond),
      seconds: this.#members.reduce((sum, { seconds }) => sum + seconds, 0),
      examplesPerSecond: 0,
      metrics,
      bestEpoch: of,
      ...noBetter(leaderboard),
      remark: `${leaderboard[0].title.toLowerCase()}, of ${countText(of, 'model')}${this.#budget < Infinity ? tooShort(this.#members) : ''}`,
      leaderboard,
      ...(this.#doneBy ? { deadline: this.#doneBy.result(of) } : {}),
      ...(this.#curve ? { learningCurve: this.#curve.result() } : {}),
      ...(this.#leftOut.length > 0 ? { leftOutModels: this.#leftOut } : {}),
      spent: { phases: this.#phases },
    };
    if (stopped) await this.#course.saveCheckpoint();
    this.#course.report(true);
  }

  #announce(): void {
    const { counts, warnings } = this.#job.data;
    for (const { message } of warnings) this.#course.say(message, 'warning');
    const how = this.#rows.count > 1 ? `${this.#rows.count} folds` : 'one part of them held out';
    const what = this.#chosen > 0 ? `Ensemble of ${countText(this.#chosen, 'model')}` : 'Best of all';
    const time = this.#budget < Infinity ? `, for ${timeText(1000 * this.#budget)}` : '';
    this.#course.say(
      `${what} on ${countText(counts.train, 'row')}, ${how}${time}; ${countText(counts.test, 'row')} kept for the test.`,
    );
    if (this.#members.length > 0) this.#course.say(`Goes on after ${countText(this.#members.length, 'model')}.`);
  }

  #progress(): TrainingProgress {
    const of = this.#members.length;
    const end = this.#result !== null;
    const now = this.#atWork;
    const budget = this.#budget < Infinity ? this.#budget : end ? this.#spent : this.#expected();
    return {
      epoch: of,
      epochs: end ? of : Math.max(of + (this.#chosen > 0 ? 0 : 1), this.#chosen - this.#leftOut.length),
      step: Math.round((end ? budget : Math.min(this.#spent, budget)) * stepsPerSecond),
      steps: Math.round(budget * stepsPerSecond),
      examplesPerSecond: 0,
      secondsTraining: this.#spent,
      secondsLeft: end ? 0 : Math.max(0, budget - this.#spent),
      loss: null,
      auto: {
        at: now && {
          title: now.candidate.title,
          fold: now.part,
          folds: this.#rows.count,
          share: Number(now.share.toFixed(3)),
        },
        leaderboard: this.#board,
        leftOut: this.#leftOut,
      },
      spent: { phases: this.#phases },
    };
  }

  /** Seconds in all, where those that were chosen take as long as those that are done; at first as long as they took before. */
  #expected(): number {
    const share = (this.#members.length + this.#leftOut.length + (this.#atWork?.share ?? 0)) / this.#chosen;
    const before = 60 * this.#job.config.auto.minutes;
    return share > 0 ? this.#spent / Math.min(1, share) : Math.max(before, this.#spent);
  }

  #snapshot(): Uint8Array {
    const state = { members: this.#members, leftOut: this.#leftOut, seconds: this.#spent };
    return encodeState({ ...state, next: this.#next - (this.#atWork === null ? 0 : 1) });
  }
}

/** What members have in common with the run; the time it is to be done by is not theirs. */
function commonOf({ auto: _, learner: __, until: ___, ...common }: AutoConfig): Omit<AutoConfig, 'auto' | 'learner'> {
  return { ...common, device: 'cpu' };
}
