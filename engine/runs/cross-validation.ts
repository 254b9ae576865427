// A cross-validation from its turn to its end: its folds are runs of their own, one after the other, under its turn. Each is begun when the
// one before has ended, so that there is never more than one to pause, stop or lose; what was done already is not done again.

import { InputError, toWire, TrainyardError } from '../protocol/errors.ts';
import { foldConfig, isCrossValidation, missingFolds, spreadOfFolds } from '../protocol/folds.ts';
import { forPage } from '../protocol/shown-errors.ts';
import { finalStates } from '../protocol/runs.ts';
import type {
  FoldResult,
  FoldsResult,
  LogLine,
  MetricPoint,
  Metrics,
  RunProgress,
  RunRecord,
  RunResult,
  RunState,
} from '../protocol/runs.ts';
import type { RunPatch, StoreService } from '../protocol/store.ts';
import type { Work } from './attempt.ts';
import { mayPass, patiently } from './patient-store.ts';
import { marked } from './queue.ts';
import { nextState } from './states.ts';

/** What it asks of the manager about its folds. */
export interface FoldRuns {
  /** Records and queues a fold; returns its number. */
  begin(parent: RunRecord, fold: number, config: RunRecord['config']): Promise<number>;
  /** Goes on with one that had ended before its time; `auto`: on the device, or the several, that it names. */
  resume(run: number, device: RunRecord['config']['device']): Promise<void>;
  finished(run: number): Promise<RunRecord>;
  isActive(run: number): boolean;
  pause(run: number): Promise<void>;
  continue(run: number): Promise<void>;
  stop(run: number, now: boolean): Promise<void>;
  onProgress(run: number, listener: (progress: RunProgress) => void): () => void;
}

export interface CrossValidationOptions {
  /** A patient one (patient-store.ts). */
  readonly store: StoreService;
  readonly record: RunRecord;
  readonly runs: FoldRuns;
  /** Goes on by itself should this process be lost, unless a person has paused it. */
  readonly goesOn: boolean;
  readonly onLog: (line: LogLine) => void;
  readonly onReport: (event: { points: readonly MetricPoint[]; progress: RunProgress }) => void;
}

/** How often the history learns how far it is, and says what others ask of it. */
const tellMilliseconds = 250;

type Ending = Required<Pick<RunPatch, 'state' | 'result' | 'error'>>;

export class CrossValidation implements Work {
  readonly #options: CrossValidationOptions;
  readonly #run: number;
  readonly #of: number;
  #state: RunState;
  #stopRequested = false;
  #child: number | null = null;
  #progress: RunProgress | null;
  /** It is paused for whoever needs the machine, by no person. */
  #held = false;
  /** Resolves when it may go on. */
  #resumed: Promise<void> = Promise.resolve();
  #goOn: () => void = () => undefined;

  constructor(options: CrossValidationOptions) {
    const { record } = options;
    this.#options = options;
    this.#run = record.id;
    this.#of = record.config.folds ?? 1;
    this.#state = record.state;
    this.#progress = record.progress;
  }

  get stopRequested(): boolean {
    return this.#stopRequested;
  }

  get state(): RunState {
    return this.#state;
  }

  /** Trains its folds and returns the run as it is then. Rejects only if the store cannot keep that. */
  async run(): Promise<RunRecord> {
    const { store } = this.#options;
    const timer = setInterval(() => void this.#tell().catch(() => undefined), tellMilliseconds);
    const ending = await this.#train().catch((error: unknown): Ending => {
      const state = this.#stopRequested ? 'stopped' : 'failed';
      return { state, result: null, error: forPage(toWire(error)) };
    });
    clearInterval(timer);
    if (ending.error) await this.#say('error', ending.error.message).catch(() => undefined);
    this.#state = ending.state;
    const patch = { ...ending, progress: this.#progress, endedAt: Date.now(), request: null };
    return patiently(() => store.updateRun({ run: this.#run, patch }), mayPass);
  }

  async pause(held = false): Promise<void> {
    if (this.#state === 'paused' && (held || this.#held)) {
      this.#held &&= held;
      return;
    }
    await this.#change('pause', held);
    this.#held = held;
    this.#resumed = new Promise((resolve) => (this.#goOn = resolve));
    await this.#pauseChild();
  }

  async continue(held = false): Promise<void> {
    if (held && !this.#held) return;
    await this.#change('resume', true);
    this.#held = false;
    this.#goOn();
    // One that was paused by itself, or not at all, is left alone.
    if (this.#child !== null) await this.#options.runs.continue(this.#child).catch(() => undefined);
  }

  async stop(now = false): Promise<void> {
    if (!this.#stopRequested) nextState(this.#run, this.#state, 'stop');
    this.#stopRequested = true;
    this.#goOn();
    if (this.#child !== null) await this.#options.runs.stop(this.#child, now).catch(() => undefined);
  }

  /** A fold that is only being begun cannot be paused yet: it is asked again. */
  async #pauseChild(): Promise<void> {
    if (this.#child !== null) await this.#options.runs.pause(this.#child).catch(() => undefined);
  }

  /** `goesOn`: by itself, should this process be lost. */
  async #change(event: 'start' | 'pause' | 'resume', goesOn: boolean, patch: RunPatch = {}): Promise<void> {
    const { store } = this.#options;
    const before = this.#state;
    const state = nextState(this.#run, before, event);
    this.#state = state;
    const mark = await marked(store, this.#run, goesOn && this.#options.goesOn);
    await store.updateRun({ run: this.#run, patch: { ...patch, ...mark, state }, when: [before] });
  }

  async #say(level: LogLine['level'], message: string): Promise<void> {
    const line: LogLine = { time: Date.now(), level, message };
    await this.#options.store.append({ run: this.#run, points: [], log: [line] });
    this.#options.onLog(line);
  }

  /** Tells how far it is, and obeys what another process asked. */
  async #tell(): Promise<void> {
    const progress = this.#progress ?? undefined;
    const { request } = await this.#options.store.append({ run: this.#run, points: [], progress });
    if (request === 'stop') await this.stop();
    else if (request === 'pause') await this.pause();
    else if (request === 'resume') await this.continue();
    else if (this.#state === 'paused') await this.#pauseChild();
  }

  async #train(): Promise<Ending> {
    const { store, record } = this.#options;
    const { request } = await store.append({ run: this.#run, points: [] });
    if (request === 'stop') this.#stopRequested = true;
    if (!this.#stopRequested) await this.#change('start', true, { startedAt: record.startedAt ?? Date.now() });
    const ended: RunRecord[] = [];
    const results: FoldResult[] = [];
    const known = await foldsOf(store, this.#run);
    for (let fold = 1; fold <= this.#of; fold++) {
      if (!this.#stopRequested) await this.#resumed;
      if (this.#stopRequested) {
        // Those trained before stand, though it is stopped before it comes to them, or in the queue.
        const done = known.get(fold);
        if (done) results.push(resultOf(fold, done));
        if (done && standsAsFold(done)) ended.push(done);
        continue;
      }
      try {
        const child = await this.#trainFold(fold, known, ended);
        ended.push(child);
        if (ended.length === 1) await this.#keepDevice(child);
        results.push(resultOf(fold, child));
      } catch (error) {
        results.push({ fold, state: 'failed', metrics: {}, problem: toWire(error).message });
      }
      const { problem } = results.at(-1)!;
      if (problem !== null && !this.#stopRequested)
        await this.#say('warning', `Fold ${fold} does not stand: ${problem}`);
    }
    return this.#endingOf(ended, results);
  }

  async #trainFold(
    fold: number,
    begun: ReadonlyMap<number, RunRecord>,
    before: readonly RunRecord[],
  ): Promise<RunRecord> {
    const { record, runs } = this.#options;
    const known = begun.get(fold);
    // One that diverged would do so again.
    if (known?.state === 'completed' || known?.state === 'diverged') return known;
    const { device, devices } = record.config;
    const run = known?.id ?? (await runs.begin(record, fold, this.#configOf(fold, before, [...begun.values()][0])));
    if (known && !runs.isActive(run)) await runs.resume(run, devices === undefined ? device : 'auto');
    this.#child = run;
    const deafen = runs.onProgress(run, (progress) => this.#follow(progress, before));
    try {
      if (this.#stopRequested) await runs.stop(run, false).catch(() => undefined);
      await this.#say('info', `Fold ${fold} of ${this.#of} is run ${run}.`);
      return await runs.finished(run);
    } finally {
      deafen();
      this.#child = null;
    }
  }

  /** What the first of them found out of the model and the device. */
  async #keepDevice({ device, threads, parameters }: RunRecord): Promise<void> {
    await this.#options.store.updateRun({ run: this.#run, patch: { device, threads, parameters } });
  }

  /** All folds train on the device that was chosen for the first, and divide the rows as it did, be it of an earlier version. */
  #configOf(fold: number, before: readonly RunRecord[], begun: RunRecord | undefined): RunRecord['config'] {
    const config = foldConfig(this.#options.record.config, fold, begun?.config);
    const chosen = before.find(({ result }) => result !== null)?.device;
    return config.device === 'auto' && (chosen === 'cpu' || chosen === 'gpu') ? { ...config, device: chosen } : config;
  }

  /** Its own progress: as if all folds took as many steps as the one at work. */
  #follow(progress: RunProgress, before: readonly RunRecord[]): void {
    const done = before.length;
    const sum = (of: (one: RunProgress) => number): number =>
      before.reduce((total, run) => total + (run.progress ? of(run.progress) : 0), of(progress));
    const secondsElapsed = sum((one) => one.secondsElapsed);
    const share = (done + progress.step / Math.max(1, progress.steps)) / this.#of;
    const { bill: _, ...rest } = progress;
    this.#progress = {
      ...rest,
      epoch: done * progress.epochs + progress.epoch,
      epochs: this.#of * progress.epochs,
      step: done * progress.steps + progress.step,
      steps: this.#of * progress.steps,
      secondsElapsed,
      secondsTraining: sum((one) => one.secondsTraining),
      secondsLeft: share > 0 ? (secondsElapsed * (1 - share)) / share : null,
    };
    this.#options.onReport({ points: [], progress: this.#progress });
  }

  async #endingOf(ended: readonly RunRecord[], folds: readonly FoldResult[]): Promise<Ending> {
    const standing = ended.filter((run) => standsAsFold(run));
    const stopped = this.#stopRequested;
    if (standing.length === 0) {
      if (stopped) return { state: 'stopped', result: null, error: null };
      throw new TrainyardError(
        'run.no_fold',
        `None of the ${this.#of} folds stands: fold 1: ${folds[0]?.problem ?? ''}`,
        // One that diverged is not trained again.
        folds.every(({ state }) => state === 'diverged')
          ? 'Look at the run of that fold, and train with other settings.'
          : 'Look at the run of that fold; resume this one to try again.',
      );
    }
    const result = this.#resultOf(standing, { of: this.#of, folds, ...spreadOfFolds(folds.flatMap(standingMetrics)) });
    await this.#keepScores(result);
    return { state: nextState(this.#run, this.#state, stopped ? 'stop' : 'complete'), result, error: null };
  }

  #resultOf(standing: readonly RunRecord[], folds: FoldsResult): RunResult {
    const results = standing.flatMap(({ result }) => (result ? [result] : []));
    const sum = (of: (one: RunResult) => number): number => results.reduce((total, one) => total + of(one), 0);
    const seconds = sum((one) => one.seconds);
    const doubt = missingFolds(folds) ?? results.find((one) => one.doubt)?.doubt;
    return {
      reason: this.#stopRequested ? 'stopped' : 'completed',
      device: results[0].device,
      threads: results[0].threads,
      epochs: sum((one) => one.epochs),
      steps: sum((one) => one.steps),
      seconds,
      examplesPerSecond: seconds > 0 ? sum((one) => one.examplesPerSecond * one.seconds) / seconds : 0,
      metrics: spreadOfFolds(results.map(({ metrics }) => metrics)).mean,
      bestEpoch: 0,
      folds,
      ...(doubt === undefined ? {} : { doubt }),
    };
  }

  /** What lists sort and compare by: the means over the folds, as its last point. */
  async #keepScores({ metrics, steps, seconds }: RunResult): Promise<void> {
    const { store, onReport } = this.#options;
    const points = Object.entries(metrics).flatMap(([series, value]): MetricPoint[] =>
      series.startsWith('test_') ? [] : [{ series, step: steps, epoch: this.#of, seconds, value }],
    );
    await store.truncate({ run: this.#run, afterStep: -1 });
    await store.append({ run: this.#run, points });
    if (this.#progress) onReport({ points, progress: this.#progress });
  }
}

const standingMetrics = ({ metrics, problem }: FoldResult): readonly Metrics[] => (problem === null ? [metrics] : []);

/** A fold that was trained to its end. */
export const standsAsFold = ({ state, result }: RunRecord): boolean => state === 'completed' && result !== null;

/** What a fold came to. */
export function resultOf(fold: number, run: RunRecord): FoldResult {
  const stands = standsAsFold(run);
  const scores = Object.entries(run.result?.metrics ?? {}).filter(([name]) => name.startsWith('test_'));
  const problem = stands ? null : (run.error?.message ?? `it is ${run.state}`);
  return { fold, state: run.state, metrics: stands ? Object.fromEntries(scores) : {}, problem };
}

/** The runs of the folds of a cross-validation, by their numbers; of two of one fold the later. `deleted`: those in the trash, else the others. */
export async function foldsOf(
  store: Pick<StoreService, 'runs'>,
  run: number,
  { deleted = false }: { readonly deleted?: boolean } = {},
): Promise<ReadonlyMap<number, RunRecord>> {
  const { runs } = await store.runs({ parent: run, deleted, sort: { by: 'createdAt', descending: false } });
  return new Map(
    runs.flatMap((one) => (one.relation === 'fold' && one.start?.fold !== undefined ? [[one.start.fold, one]] : [])),
  );
}

/**
 * A fold trains under its cross-validation or by itself, never both at once. `isActive`: of runs of this process.
 * @throws InputError `input.fold_twice` to whoever would resume the second of them.
 */
export async function refuseTwice(
  store: Pick<StoreService, 'run' | 'runs'>,
  { id, config, relation, parent, start }: RunRecord,
  isActive: (run: number) => boolean,
): Promise<void> {
  if (relation === 'fold' && parent !== null) {
    const { state } = await store.run({ run: parent });
    if (finalStates.has(state)) return;
    throw new InputError(
      'input.fold_twice',
      `Run ${id} is fold ${start?.fold ?? '?'} of run ${parent}, which is ${state} and trains it when it comes to it.`,
      `Stop run ${parent} to train the fold by itself.`,
    );
  }
  if (!isCrossValidation(config)) return;
  for (const [fold, child] of await foldsOf(store, id)) {
    if (child.state !== 'running' && child.state !== 'paused' && !isActive(child.id)) continue;
    throw new InputError(
      'input.fold_twice',
      `Fold ${fold} of run ${id} is at work by itself: run ${child.id} is ${child.state}.`,
      `Wait until run ${child.id} has ended, or stop it.`,
    );
  }
}
