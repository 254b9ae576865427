// A search at work: one trial after the other, in this process, on rows that lie in memory once, or several at a time in threads (crew.ts).
// Each trial that ends is told at once and kept by the history, which is what a search that was killed goes on from; the models of the best
// one are in the checkpoint.

import type { PhaseSeconds } from '../../protocol/bill.ts';
import { TrainyardError } from '../../protocol/errors.ts';
import type { RunConfig, RunResult, TrainingProgress } from '../../protocol/runs.ts';
import type { SearchEnd, SearchStanding, Trial, TrialSettings } from '../../protocol/search.ts';
import { countText } from '../../protocol/words.ts';
import { rungsOf } from '../../search/asha.ts';
import type { ReadSpace } from '../../search/read-space.ts';
import { nextChosen } from '../../search/sampler.ts';
import { sizeOf } from '../../search/space.ts';
import { quietOf } from '../../settings/values.ts';
import type { Member } from '../auto/member.ts';
import { ensembleFiles, handOver } from '../auto/model.ts';
import { encodeState, type AutoState } from '../auto/checkpoint.ts';
import { autoFields } from '../auto/declaration.ts';
import type { PartRows } from '../auto/part-rows.ts';
import { autoScores } from '../auto/scores.ts';
import { RowsForMembers, matrixRecipe, valuesPerRow } from '../auto/trained.ts';
import { Course } from '../course.ts';
import { DoneBy } from '../done-by.ts';
import { declarationOf } from '../declared/registry.ts';
import type { LearnerJob, Training } from '../learner.ts';
import { lookBack, threadsOfEach, type Crew } from './crew.ts';
import { comparesLosses, type SearchConfig } from './declaration.ts';
import { Trials } from './standing.ts';
import { configOfTrial, type TrialData } from '../declared/searched-trial.ts';
import { TrialAtWork, type TrialTask } from './trial-work.ts';

/** Of the time of a search, what finding out which settings matter may take while it goes on. */
const importanceShare = 0.02;
/** A model is handed over before the end where that takes this share of the time since the last at most. */
const handOverShare = 0.02;
/** Trials that were stopped after a fold or more, of which what they learned is kept. */
const mostFolds = 20;
/** Trials in a row that have nothing new to try. */
const mostRepeats = 200;

export class SearchTraining implements Training {
  readonly #job: LearnerJob<SearchConfig>;
  readonly #rows: PartRows;
  readonly #test: RowsForMembers;
  readonly #space: ReadSpace;
  readonly #trials: Trials;
  readonly #course: Course;
  readonly #trialData: TrialData;
  readonly #secondsBefore: number;
  readonly #doneBy: DoneBy | null;
  /** Trials there is time for. */
  #planned: number | null = null;
  readonly #crew: Crew | null;
  /** How many trials back those are that decide a trial. */
  readonly #lookBack: number;
  #atWork: TrialAtWork | null = null;
  /** The best trial that was completed, as a model. */
  #best: Member | null;
  /** What those that were stopped learned in whole folds: they may go on. */
  readonly #folds = new Map<number, Member>();
  /** Trials that others went on with or are to. */
  readonly #taken = new Set<number>();
  /** Settings that were drawn. */
  #drawn: number;
  /** A trial was given that comes to its end whatever the others are, since time was short. */
  #closed = false;
  #stopped = false;
  #importance = { took: 0, at: -Infinity };
  #handOver = { took: 0, at: -Infinity };
  #result: RunResult | null = null;

  /** `crew`: who trains; null: this thread. */
  constructor(
    job: LearnerJob<SearchConfig>,
    rows: PartRows,
    space: ReadSpace,
    before: AutoState | null,
    crew: Crew | null,
  ) {
    const { config, data, trials = [] } = job;
    // The test rows stay closed: as far as its trials know there are none.
    this.#job = { ...job, data: { ...data, counts: { ...data.counts, test: 0 } } };
    this.#rows = rows;
    this.#test = new RowsForMembers(job, matrixRecipe(data.preprocessing));
    this.#space = space;
    this.#crew = crew;
    const { parallel } = config.search;
    this.#lookBack = lookBack(parallel);
    this.#trialData = { data, rows: rows.learnedFrom(1).length };
    this.#trials = new Trials(space.space, config.seed, data.output, rows.count, (settings) =>
      alone(this.#configOf(settings)),
    );
    for (const trial of trials) {
      this.#trials.add(trial);
      if (trial.after !== undefined) this.#taken.add(trial.after);
    }
    this.#drawn = trials.length - this.#taken.size;
    this.#best = before?.members[0] ?? null;
    this.#secondsBefore = trials.reduce((sum, { seconds }) => sum + seconds, 0) / parallel;
    this.#doneBy = DoneBy.of(job);
    this.#course = new Course(this.#job, { progress: () => this.#progress(), snapshot: () => this.#snapshot() });
    job.control.onStop(() => {
      this.#atWork?.abandon();
      this.#crew?.close();
    });
    this.#announce();
  }

  async advance(milliseconds: number): Promise<boolean> {
    const { clock } = this.#job.surroundings;
    const end = clock() + milliseconds;
    while (this.#result === null && clock() < end) await this.#step();
    return this.#result === null;
  }

  result(): RunResult {
    if (this.#result === null) throw new RangeError('the search goes on');
    return this.#result;
  }

  get #spent(): number {
    return this.#secondsBefore + this.#course.seconds;
  }

  /** Seconds that the trials have trained, without what is around them. */
  get #trained(): number {
    return this.#trials.all.reduce((sum, { training }) => sum + training, 0);
  }

  get #phases(): PhaseSeconds {
    return { training: this.#course.seconds };
  }

  /** It is to be done by a time, and there is none for more. */
  get #isLate(): boolean {
    const end = 2 * this.#importance.took + this.#handOver.took;
    return this.#doneBy !== null && this.#doneBy.left(end) < 0;
  }

  /** As `#endOf`; where nothing was completed yet and nothing is at work, one more comes to its end first. */
  #end(begun: number, known: number): SearchEnd | null {
    const end = this.#endOf(begun, known);
    const isOver = end === 'minutes' || end === 'exhausted';
    return isOver && this.#lacksOne && (this.#crew?.size ?? 0) === 0 ? null : end;
  }

  /** Nothing was completed, and nothing is to be whatever the others are. */
  get #lacksOne(): boolean {
    return this.#job.config.search.asha && this.#trials.best === null && !this.#closed;
  }

  /** Whether the next trial comes to its end whatever the others are: nothing has yet, and it is the last one or half of the time is over. */
  #closes(begun: number, known: number): boolean {
    const { trials, minutes, asha } = this.#job.config.search;
    if (!asha) return false;
    if (trials > 0 && begun === trials - 1) return !this.#trials.anyCompleted(known);
    const halfOver = minutes > 0 && this.#spent >= 30 * minutes;
    const halfLeft = this.#doneBy !== null && this.#spent >= this.#doneBy.left(0) / 1000;
    return this.#lacksOne && (halfOver || halfLeft || this.#endOf(begun, known) !== null);
  }

  /** Why there is no further trial behind those that have begun; null: there is one. `known`: trials that decide whether there is a further one. */
  #endOf(begun: number, known: number): SearchEnd | null {
    const { trials, minutes } = this.#job.config.search;
    if (this.#stopped) return 'stopped';
    if (trials > 0 && begun >= trials) return 'trials';
    // One at least: else there is no answer. Where that one failed, nothing says that another would not.
    if (minutes > 0 && this.#spent >= 60 * minutes && this.#trials.all.length > 0) return 'minutes';
    if (this.#isLate && this.#trials.all.length > 0) return 'minutes';
    const { space } = this.#space;
    return this.#trials.repeats(known) >= Math.min(mostRepeats, 10 * sizeOf(space)) ? 'exhausted' : null;
  }

  async #step(): Promise<void> {
    if (!(await this.#course.between())) this.#stopped = true;
    if (this.#crew !== null) return this.#stepTogether(this.#crew);
    if (this.#atWork === null) {
      const trial = this.#trials.all.length + 1;
      const end = this.#end(trial - 1, this.#knownTo(trial));
      if (end !== null) return this.#finish(end);
      const task = this.#next(trial);
      if ('state' in task) this.#tell(task);
      else this.#atWork = this.#workOn(task);
    }
    const atWork = this.#atWork;
    if (atWork === null) return;
    // Without any trial there is no answer: the first one comes to an end with what it has.
    const late = this.#isLate;
    if (this.#stopped || (late && this.#trials.best !== null)) atWork.abandon();
    if (await atWork.advance(late)) return;
    this.#atWork = null;
    // Also where it was asked to stop meanwhile.
    if (atWork.abandoned) return;
    await this.#keep(atWork.result(), atWork.member());
  }

  /** As many as may be are given to the threads; what came of the first of them is kept. */
  async #stepTogether(crew: Crew): Promise<void> {
    try {
      const told = this.#trials.all.length;
      let end: SearchEnd | null = null;
      while (crew.size < this.#lookBack) {
        const trial = told + crew.size + 1;
        end = this.#end(trial - 1, this.#knownTo(trial));
        if (end !== null) break;
        const task = this.#next(trial);
        if ('state' in task) crew.know({ trial: task, member: null, said: [] });
        else crew.train(task);
      }
      if (this.#stopped || crew.size === 0) {
        crew.close();
        return await this.#finish(end ?? 'stopped');
      }
      const { trial, member, said } = await crew.first();
      for (const line of said) this.#job.events.onLog(line);
      await this.#keep(trial, member);
    } catch (error) {
      crew.close();
      // To be stopped ends the threads at their work: the next step sees to the rest.
      if (!this.#job.control.stopRequested || this.#stopped) throw error;
    }
  }

  /** The first so many trials decide a trial. */
  #knownTo(trial: number): number {
    return Math.max(0, trial - this.#lookBack);
  }

  /** A trial to train, or, of settings that were tried already, what it comes to. */
  #next(trial: number): TrialTask | Trial {
    const { search, seed } = this.#job.config;
    const known = this.#knownTo(trial);
    const closes = this.#closes(trial - 1, known);
    this.#closed ||= closes;
    const before = search.asha ? this.#trials.toGoOn(known, this.#taken, closes) : undefined;
    if (before !== undefined) {
      this.#taken.add(before.trial);
      return this.#taskOf(trial, before.settings, !closes, before);
    }
    const chosen = nextChosen(search.sampler, this.#space.space, seed, this.#drawn++, this.#trials.seen(known));
    const like = this.#trials.like(chosen, known);
    if (like === undefined) return this.#taskOf(trial, chosen, search.asha && !closes);
    const { after: _, anew: __, ...same } = like;
    return { ...same, trial, rungs: [], steps: 0, seconds: 0, training: 0, note: `as trial ${like.trial}` };
  }

  #configOf(chosen: TrialSettings): RunConfig {
    return configOfTrial(this.#job.config, { ...this.#space.fixed, ...chosen }, this.#trialData);
  }

  /** `early`: it may be stopped early; `before`: what it goes on with. */
  #taskOf(trial: number, settings: TrialSettings, early: boolean, before?: Trial): TrialTask {
    const config = this.#configOf(settings);
    const units = declarationOf(config).units(config);
    const all = early ? rungsOf(this.#rows.count, units) : [];
    const rungs = comparesLosses(this.#space) ? all : all.filter((rung) => rung >= 1);
    const known = this.#knownTo(trial);
    const others = rungs.map((rung) => this.#trials.atRung(rung, known));
    const task = { trial, settings, config, units, rungs, before: others };
    if (before === undefined) return task;
    const member = this.#folds.get(before.trial);
    const folds = member && { member, losses: before.losses };
    return { ...task, after: { trial: before.trial, rungs: before.rungs, ...(folds && { folds }) } };
  }

  #workOn(task: TrialTask): TrialAtWork {
    return new TrialAtWork(task, () => this.#course.seconds, this.#job, this.#rows, this.#test);
  }

  async #keep(trial: Trial, member: Member | null): Promise<void> {
    this.#tell(trial);
    if (trial.after !== undefined) this.#folds.delete(trial.after);
    if (trial.state === 'stopped' && member !== null) this.#keepFolds(trial.trial, member);
    if (member === null || this.#trials.best?.trial !== trial.trial) return;
    this.#best = member;
    const { metrics } = this.#scores(member);
    const at = { step: trial.trial, epoch: trial.trial, seconds: this.#spent };
    for (const [series, value] of Object.entries(metrics)) this.#course.point({ series, value, ...at });
    this.#handOverWhereQuick(member);
  }

  /** Those that are the least likely to go on are trained anew if they do. */
  #keepFolds(trial: number, member: Member): void {
    this.#folds.set(trial, member);
    if (this.#folds.size <= mostFolds) return;
    const rank = (at: number): number => this.#trials.all[at - 1].reached;
    const loss = (at: number): number => this.#trials.all[at - 1].score ?? Infinity;
    const [last] = [...this.#folds.keys()].sort((a, b) => rank(a) - rank(b) || loss(b) - loss(a));
    this.#folds.delete(last);
  }

  #tell(trial: Trial): void {
    this.#trials.add(trial);
    this.#job.events.onTrial?.(trial);
    this.#planTrials();
  }

  #scores({ number, outOfFold, models }: Member): ReturnType<typeof autoScores> {
    const { data } = this.#job;
    const values = valuesPerRow(data.output);
    const rows = Uint32Array.from(models.flatMap(({ part }) => [...this.#rows.rowsOf(part)])).sort();
    const said = new Float64Array(rows.length * values);
    rows.forEach((row, at) => said.set(outOfFold.subarray(row * values, (row + 1) * values), at * values));
    const known = { values: said, targets: Float32Array.from(rows, (row) => this.#rows.targets[row]) };
    return autoScores(data, number, known, null);
  }

  #handOverWhereQuick(member: Member): void {
    const { clock } = this.#job.surroundings;
    const { took, at } = this.#handOver;
    if (took > handOverShare * (clock() - at)) return;
    const start = clock();
    this.#handOverModel(member);
    this.#handOver = { took: clock() - start, at: clock() };
  }

  #handOverModel(member: Member): void {
    const { config, data, events } = this.#job;
    const own = { auto: quietOf(autoFields), seed: config.seed };
    handOver(ensembleFiles([member], [1], own, data), events.onFile);
  }

  async #finish(ended: SearchEnd): Promise<void> {
    const { events } = this.#job;
    const best = await this.#bestModel();
    if (ended === 'stopped') await this.#course.saveCheckpoint();
    if (best === null && ended !== 'stopped') throw noTrial(this.#trials.all);
    if (best !== null) this.#handOverModel(best);
    const scores = best && this.#scores(best);
    if (scores) void events.onFile({ file: 'evaluation.json', data: scores.evaluation });
    this.#trials.findImportance();
    const standing = this.#trials.standing();
    const of = standing.trials;
    const { threads, search } = this.#job.config;
    this.#result = {
      reason: ended === 'stopped' ? 'stopped' : 'completed',
      device: 'cpu',
      threads: this.#crew === null ? 1 : search.parallel * threadsOfEach(threads, search.parallel),
      epochs: of,
      steps: of,
      seconds: this.#trained,
      examplesPerSecond: 0,
      metrics: scores?.metrics ?? {},
      bestEpoch: standing.best?.trial ?? 0,
      remark: remarkOf(standing),
      search: { ...standing, ended },
      ...(this.#doneBy ? { deadline: this.#doneBy.result(of, search.trials || Infinity) } : {}),
      spent: { phases: this.#phases },
    };
    this.#course.report(true);
  }

  /** The best trial as a model: one that a killed process took along is trained again, and comes to the same. */
  async #bestModel(): Promise<Member | null> {
    const best = this.#trials.best;
    if (best === null) return null;
    if (this.#best?.number === best.trial) return this.#best;
    this.#course.say(`Trial ${best.trial}, the best one, is trained once more: its model was not kept yet.`);
    const again = this.#workOn(this.#taskOf(best.trial, best.settings, false));
    while (await again.advance()) await this.#job.surroundings.breathe();
    return (this.#best = again.member());
  }

  #announce(): void {
    const { config, data } = this.#job;
    const { counts, warnings } = data;
    for (const { message } of warnings) this.#course.say(message, 'warning');
    const folds = this.#rows.count > 1 ? `${this.#rows.count} folds` : 'one part of them held out';
    const names = Object.keys(this.#space.space);
    this.#course.say(
      `Searches ${countText(names.length, 'setting')} (${names.join(', ')}) on ${countText(counts.train, 'row')}, ${folds}; the test rows stay closed.`,
    );
    if (this.#trials.all.length > 0)
      this.#course.say(`Goes on after ${countText(this.#trials.all.length, 'trial')}, seed ${config.seed}.`);
  }

  /** How many trials there is time for until it is to be done: told when enough have been seen to know. */
  #planTrials(): void {
    if (this.#doneBy === null) return;
    const before = this.#planned;
    this.#planned = this.#doneBy.plan(this.#trials.all.length, 0) ?? before;
    if (before === null && this.#planned !== null) {
      const most = this.#job.config.search.trials || Infinity;
      const time = `There is time for about ${countText(Math.min(this.#planned, most), 'trial')} until ${this.#doneBy.words}`;
      this.#course.say(this.#planned >= most ? `${time}: all that it may have.` : `${time}.`);
    }
  }

  #progress(): TrainingProgress {
    this.#findImportanceWhereQuick();
    const { trials, minutes } = this.#job.config.search;
    const done = this.#trials.all.length;
    // One that was stopped stands where it is.
    const end = this.#result !== null && this.#result.reason !== 'stopped';
    const [byTrials, byTime] = [trials > 0 ? done / trials : 0, minutes > 0 ? this.#spent / (60 * minutes) : 0];
    const left = this.#doneBy ? Math.max(0, this.#doneBy.left(0) / 1000) : Infinity;
    const share = Math.min(1, Math.max(byTrials, byTime, this.#spent / (this.#spent + left)));
    // Before the first one is done nobody knows better than who asked.
    const expected = this.#planned ?? (done > 0 ? Math.round(done / Math.max(share, 1e-3)) : trials);
    const all = end ? done : Math.min(trials > 0 ? trials : Infinity, Math.max(done + 1, expected));
    return {
      epoch: done,
      epochs: Math.max(all, end ? 0 : 1),
      step: end ? 1_000 : Math.round(1_000 * share),
      steps: 1_000,
      examplesPerSecond: 0,
      secondsTraining: this.#trained,
      secondsLeft: end ? 0 : share > 0 ? (this.#spent * (1 - share)) / share : null,
      loss: this.#trials.best?.score ?? null,
      search: this.#trials.standing(),
      spent: { phases: this.#phases },
    };
  }

  /** Which settings matter is found out now and then, where it takes little of the time. */
  #findImportanceWhereQuick(): void {
    const { clock } = this.#job.surroundings;
    const { took, at } = this.#importance;
    if (took > importanceShare * (clock() - at)) return;
    const start = clock();
    this.#trials.findImportance();
    this.#importance = { took: clock() - start, at: clock() };
  }

  #snapshot(): Uint8Array {
    const members = this.#best ? [this.#best] : [];
    return encodeState({ members, leftOut: [], next: this.#trials.all.length, seconds: this.#spent });
  }
}

function remarkOf({ best, trials, stopped }: SearchStanding): string {
  if (best === null) return 'no trial was completed';
  const early = `${stopped.toLocaleString('en')} of them stopped early`;
  const remark = `trial ${best.trial} of ${countText(trials, 'trial')}, ${early}`;
  return best.cut === undefined ? remark : `${remark}; ${best.cut}`;
}

/** The same for a run by itself, which has a validation split. */
function alone({ settings: { joined: _, ...settings }, ...config }: RunConfig): RunConfig {
  return { ...config, settings };
}

/** What was told of a trial, which names itself where its own training came to nothing. */
const noteOf = ({ trial, note }: Trial): string =>
  note.startsWith(`Trial ${trial} `) ? note : `Trial ${trial}: ${note}`;

function noTrial(trials: readonly Trial[]): TrainyardError {
  const failed = trials.find(({ state }) => state === 'failed');
  return new TrainyardError(
    'run.no_trial',
    failed ? `No trial came to a model. ${noteOf(failed)}` : 'No trial came to a model.',
    'Narrow the space to settings that this data can be trained with.',
  );
}
