// One attempt at a run, from its turn to its end: prepare the data, hand the job to a host, keep what the host reports,
// and say how it ended. The manager queues attempts; a resumed run makes a new one.

import { CancelledError, toWire, TrainyardError } from '../protocol/errors.ts';
import { forPage } from '../protocol/shown-errors.ts';
import type { DataService, PreparedData } from '../protocol/data.ts';
import { takesOver } from '../protocol/family.ts';
import { isWaitedFor } from '../protocol/runs.ts';
import type {
  LogLine,
  MetricPoint,
  RunConfig,
  RunData,
  RunProgress,
  RunRecord,
  RunRequest,
  RunResult,
  RunState,
  TrainingProgress,
} from '../protocol/runs.ts';
import type { Trial } from '../protocol/search.ts';
import type { NewRun, RunPatch, StoreService } from '../protocol/store.ts';
import { timeText } from '../protocol/words.ts';
import { runRows } from '../learners/declared/prepared.ts';
import { declarationOf } from '../learners/declared/registry.ts';
import { checkpointOf, startOf } from './beginnings.ts';
import { Bill, type EnergyMeter } from './bill.ts';
import { hostEnded, preferDeath, stoppedAtOnce, stoppedBefore, stoppedHard } from './endings.ts';
import type { RunHost, RunHosts } from './hosts.ts';
import { thinCheckpoints } from './checkpoints.ts';
import { chooseDevice } from './choose-device.ts';
import { unlessDatasetGone } from './dataset-gone.ts';
import { mayPass, patiently } from './patient-store.ts';
import { MemberRuns } from './member-runs.ts';
import { marked } from './queue.ts';
import { createRecorder } from './recorder.ts';
import type { Recorder } from './recorder.ts';
import { nextState, stateAfter } from './states.ts';
import type { RunEvent } from './states.ts';
import { orEnded, startMilliseconds, within } from './within.ts';

export interface AttemptOptions {
  /** A patient one (patient-store.ts). */
  readonly store: StoreService;
  readonly data: Pick<DataService, 'prepare' | 'release' | 'cancel'>;
  readonly hosts: RunHosts;
  readonly record: RunRecord;
  /** Data prepared already; the attempt releases it. */
  readonly prepared: PreparedData | null;
  /** Milliseconds that took. */
  readonly preparing: number;
  /** How long a host may take to stop before it is killed. */
  readonly stopMilliseconds: number;
  /** How long the GPU's page may say nothing to that. A CPU's process answers behind the step it is at, however long that is. */
  readonly answerMilliseconds: number;
  readonly meter: EnergyMeter;
  /** Goes on by itself should this process be lost, unless a person has paused it. */
  readonly goesOn: boolean;
  /** This process. */
  readonly owner: NewRun['owner'];
  readonly onLog: (line: LogLine) => void;
  readonly onReport: (event: { points: readonly MetricPoint[]; progress: RunProgress }) => void;
  /** Of a search: trials, once the history has them. */
  readonly onTrials: (trials: readonly Trial[]) => void;
  /** What it trains on, and on how many threads. */
  readonly onDevice: (device: string, threads: number) => void;
}

/** What the manager queues: it trains when its turn comes. */
export interface Work {
  readonly state: RunState;
  /** Somebody has told it to stop, here or from another process. */
  readonly stopRequested: boolean;
  /** `threads`: so many of the CPU and no more, where the run does not say itself; 0: as many as it likes. */
  run(threads?: number): Promise<RunRecord>;
  /** `held`: for whoever needs the machine, until `continue` is called so too. What a person pauses, before it or meanwhile, stays paused. */
  pause(held?: boolean): Promise<void>;
  /** `held`: only where it was paused so, and no person has decided otherwise. */
  continue(held?: boolean): Promise<void>;
  stop(now?: boolean): Promise<void>;
}

/** How an attempt ended, as a change of the run. */
type Ending = Required<Pick<RunPatch, 'state' | 'result' | 'error'>>;

export class Attempt implements Work {
  readonly #options: AttemptOptions;
  readonly #run: number;
  #state: RunState;
  #stopRequested = false;
  #pauseRequested = false;
  /** It is paused for whoever needs the machine, by no person. */
  #held = false;
  #running: RunHost | null = null;
  #onGpu = false;
  /** When the attempt began to work, in milliseconds, put off by every pause; null while it waits its turn. */
  #begun: number | null = null;
  #pausedAt: number | null = null;
  /** When the device was asked for. */
  #deviceAsked = 0;
  #progress: RunProgress | null;
  /** What it costs; null while it waits its turn. */
  #bill: Bill | null = null;
  /** That it was given; 0: as many as it likes. */
  #threads = 0;
  #stopTimer: NodeJS.Timeout | undefined;
  /** Ends the attempt with an error, whatever the host does. */
  #giveUp: (error: Error) => void = () => undefined;
  readonly #queuedAt = performance.now();
  readonly #members: MemberRuns;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#run = options.record.id;
    this.#state = options.record.state;
    this.#progress = options.record.progress;
    this.#members = new MemberRuns(options);
  }

  get stopRequested(): boolean {
    return this.#stopRequested;
  }

  get state(): RunState {
    return this.#state;
  }

  /** Trains to the end and returns the run as it is then. Rejects only if the store cannot keep that. */
  async run(threads = 0): Promise<RunRecord> {
    const { store } = this.#options;
    this.#threads = threads;
    const ending = await this.#train().catch((error: unknown) => this.#endingOf(error));
    if (ending.error) await this.#say('error', ending.error.message, true).catch(() => undefined);
    this.#state = ending.state;
    // What ended before its first report has cost something too.
    const last = this.#progress ?? (this.#bill && noneYet(this.#options.record.config));
    const progress = last && this.#asOfNow(last);
    const patch = { ...ending, progress, endedAt: Date.now(), request: null };
    // Without its end a run stands there as running, and cannot be resumed, for as long as this program lives.
    return patiently(() => store.updateRun({ run: this.#run, patch }), mayPass);
  }

  /** Throws `input.run_state` unless the run is running, or held before it has begun. */
  async pause(held = false): Promise<void> {
    if (this.#pauseRequested && (held || this.#held)) {
      this.#held &&= held;
      return;
    }
    if (!held || this.#state !== 'queued') nextState(this.#run, this.#state, 'pause');
    this.#held = held;
    this.#pauseRequested = true;
    await this.#running?.host.pause();
  }

  /** Throws `input.run_state` unless the run is paused. */
  async continue(held = false): Promise<void> {
    if (held && !this.#held) return;
    if (!this.#pauseRequested) nextState(this.#run, this.#state, 'resume');
    this.#held = this.#pauseRequested = false;
    await this.#running?.host.resume();
  }

  /** `now`: if it has been asked to stop already, it ends without waiting for its host. */
  async stop(now = false): Promise<void> {
    if (this.#stopRequested) {
      if (now) this.#giveUp(stoppedAtOnce());
      return;
    }
    nextState(this.#run, this.#state, 'stop');
    this.#stopRequested = true;
    if (this.#running === null) {
      this.#giveUp(stoppedBefore());
      await this.#options.data.cancel({ job: this.#job });
      return;
    }
    const { stopMilliseconds, answerMilliseconds } = this.#options;
    const giveUpAfter = (milliseconds: number): NodeJS.Timeout =>
      setTimeout(() => this.#giveUp(stoppedHard(milliseconds)), milliseconds);
    this.#stopTimer = giveUpAfter(this.#onGpu ? Math.min(answerMilliseconds, stopMilliseconds) : stopMilliseconds);
    // A host that has gone needs no stopping: that it is gone ends the attempt.
    await this.#running.host.stop().catch(() => undefined);
    if (!this.#onGpu || this.#running === null) return;
    clearTimeout(this.#stopTimer);
    this.#stopTimer = giveUpAfter(stopMilliseconds);
  }

  get #job(): string {
    return `run-${this.#run}`;
  }

  /** Writes a line into the run's log. */
  async #say(level: LogLine['level'], message: string, detail = false): Promise<void> {
    const line: LogLine = { time: Date.now(), level, message, detail };
    await this.#options.store.append({ run: this.#run, points: [], log: [line] });
    this.#options.onLog(line);
  }

  /** Seconds at work: those of earlier attempts whose work goes on, and of this one without its pauses. */
  #secondsElapsed(): number {
    const { hasCheckpoint, progress } = this.#options.record;
    const before = hasCheckpoint ? (progress?.secondsElapsed ?? 0) : 0;
    return this.#begun === null ? before : before + ((this.#pausedAt ?? performance.now()) - this.#begun) / 1000;
  }

  #asOfNow(progress: TrainingProgress): RunProgress {
    const { spent, auto, ...rest } = progress;
    this.#bill?.spent(spent);
    const board = auto && { auto: { ...auto, ...this.#members.withNumbers(auto, this.#run) } };
    return {
      ...rest,
      ...board,
      secondsElapsed: this.#secondsElapsed(),
      bill: this.#bill?.total ?? this.#progress?.bill,
    };
  }

  /** Changes the state as a person would see it at once. */
  async #change(event: RunEvent, patch: RunPatch = {}): Promise<void> {
    const before = this.#state;
    this.#state = nextState(this.#run, before, event);
    await this.#options.store.updateRun({ run: this.#run, patch: { ...patch, state: this.#state }, when: [before] });
  }

  #marked(goesOn: boolean): Promise<RunPatch> {
    return marked(this.#options.store, this.#run, goesOn && this.#options.goesOn);
  }

  /** The host has paused or gone on. It may say so twice, or say so of itself. */
  async #follow(event: 'pause' | 'resume'): Promise<void> {
    this.#bill?.[event]();
    if (stateAfter(this.#state, event) !== null)
      await this.#change(event, await this.#marked(event === 'resume' || this.#held));
    const now = performance.now();
    if (event === 'pause') this.#pausedAt ??= now;
    else if (this.#pausedAt !== null && this.#begun !== null) {
      this.#begun += now - this.#pausedAt;
      this.#pausedAt = null;
    }
  }

  async #train(): Promise<Ending> {
    const { data, hosts, record, store } = this.#options;
    let prepared = this.#options.prepared;
    try {
      const { request } = await store.append({ run: this.#run, points: [] });
      if (request === 'stop') this.#stopRequested = true;
      this.#checkStop();
      this.#begun = performance.now();
      this.#bill = new Bill(record.progress?.bill, this.#options.meter, () => this.#secondsElapsed());
      await this.#change('start', { startedAt: record.startedAt ?? Date.now(), ...(await this.#marked(true)) });
      await this.#sayBeginning();
      const { dataset } = record.config;
      const start = performance.now();
      const { preparing } = this.#options;
      const options = runRows(record.config);
      prepared ??= await unlessDatasetGone(record, data.prepare({ job: this.#job, dataset, options }));
      const milliseconds = preparing + performance.now() - start;
      this.#bill.add('preparing', milliseconds);
      const took = timeText(milliseconds);
      await this.#say('info', `The data was prepared in ${took}.`, true);
      this.#checkStop();
      await store.updateRun({ run: this.#run, patch: { data: dataOf(prepared) } });
      const config = await this.#withThreads(await this.#unlessStopped(this.#withDevice(prepared)));
      this.#checkStop();
      this.#deviceAsked = performance.now();
      const created = await orEnded(hosts.create(config.device, config.devices), (host) =>
        this.#unlessStopped(within(host, startMilliseconds, 'The process that trains')),
      );
      try {
        this.#checkStop();
        this.#onGpu = config.device === 'gpu' && !config.devices;
        this.#running = created;
        return this.#endingOfResult(await this.#trainOn(created, prepared, config));
      } finally {
        this.#running = null;
        clearTimeout(this.#stopTimer);
        created.kill();
      }
    } finally {
      if (prepared) await data.release({ handle: prepared.handle }).catch(() => undefined);
    }
  }

  /** What came before: waiting, and an attempt that ended. */
  async #sayBeginning(): Promise<void> {
    const { record } = this.#options;
    const waited = performance.now() - this.#queuedAt;
    if (waited > worthSaying) await this.#say('info', `Waited ${timeText(waited)} for its turn.`);
    if (record.startedAt === null) return;
    const over =
      record.relation === null || !takesOver(record.relation)
        ? ''
        : ` It has only what it took over from run ${record.parent}.`;
    await this.#say(
      'info',
      record.hasCheckpoint ? 'Resumed from its checkpoint.' : `Starts over: there was no checkpoint yet.${over}`,
    );
  }

  /** The run's settings with `auto` replaced by the device that measures faster. */
  async #withDevice(data: PreparedData): Promise<RunConfig> {
    const { store, hosts, record } = this.#options;
    const { config } = record;
    if (config.device !== 'auto') return config;
    const { devices } = declarationOf(config);
    if (!devices.includes('auto')) return { ...config, device: devices[0] };
    const log: LogLine[] = [];
    const device = await chooseDevice({ store, hosts, run: this.#run, config, data, log: (line) => log.push(line) });
    if (log.length > 0) await store.append({ run: this.#run, points: [], log });
    for (const line of log) this.#options.onLog(line);
    return { ...config, device };
  }

  /** With the threads that the others have left it. */
  async #withThreads(config: RunConfig): Promise<RunConfig> {
    if (this.#threads === 0 || config.threads > 0 || config.devices || config.device === 'gpu') return config;
    const many = this.#threads === 1 ? 'one thread' : `${this.#threads} threads`;
    await this.#say('info', `Cores are left for runs beside it: it has ${many}.`);
    return { ...config, threads: this.#threads };
  }

  async #trainOn(running: RunHost, prepared: PreparedData, config: RunConfig): Promise<RunResult> {
    const { store, record } = this.#options;
    const checkpoint = await checkpointOf(store, record, (message) => this.#say('warning', message));
    if (checkpoint) await this.#members.read();
    const start = checkpoint ? undefined : await startOf(store, record);
    const gaveUp = new Promise<never>((_resolve, reject) => (this.#giveUp = reject));
    const died = running.exited.then((reason): never => {
      throw hostEnded(reason);
    });
    for (const promise of [gaveUp, died]) promise.catch(() => undefined);

    const recorder = createRecorder({
      store,
      run: this.#run,
      onRequest: (request) => void this.#obey(request).catch(() => undefined),
      onFailure: (error) => this.#giveUp(error instanceof Error ? error : new Error(String(error))),
    });
    const stopListening = this.#listen(running, recorder);
    try {
      const trials = config.learner === 'search' ? await store.trials({ run: this.#run }) : undefined;
      const result = running.host.train({ run: this.#run, config, data: prepared, checkpoint, start, trials });
      // What was asked for while the host was being made.
      if (this.#pauseRequested) running.host.pause().catch(() => undefined);
      if (this.#stopRequested) running.host.stop().catch(() => undefined);
      const lost = (error: unknown): never => {
        this.#bill?.lost();
        throw error;
      };
      // Its connection ends with it; news of its death may come later.
      const answer = result.catch(lost).catch((error: unknown) => preferDeath(error, died));
      const ended = await Promise.race([answer, died, gaveUp]).catch(lost);
      recorder.inOrder(() => this.#thin());
      await recorder.done();
      return { ...ended, ...this.#members.withNumbers(ended, this.#run) };
    } finally {
      for (const stop of stopListening) stop();
      await recorder.close();
    }
  }

  /** The states it keeps take no more than they may. */
  async #thin(): Promise<void> {
    const { store, record } = this.#options;
    const budget = declarationOf(record.config).checkpointBudget?.(record.config);
    if (budget !== undefined) await thinCheckpoints(store, this.#run, budget);
  }

  #listen({ host }: RunHost, recorder: Recorder): readonly (() => void)[] {
    const { record, store, onReport, onLog } = this.#options;
    const begunBefore = record.startedAt !== null;
    return [
      host.onStarted(({ device, name, threads, parameters, bytes, step = 0 }) => {
        const afterStep = step > 0 ? step : -1;
        if (begunBefore) recorder.inOrder(() => store.truncate({ run: this.#run, afterStep }));
        recorder.inOrder(() => store.updateRun({ run: this.#run, patch: { device, threads, parameters } }));
        const milliseconds = performance.now() - this.#deviceAsked;
        this.#bill?.add('starting', milliseconds);
        this.#bill?.began({ device, name, bytes });
        this.#options.onDevice(device, threads);
        const took = timeText(milliseconds);
        const message = `The device was ready after ${took}: started, tested, with the model and the rows.`;
        const line: LogLine = { time: Date.now(), level: 'info', message, detail: true };
        recorder.log(line);
        onLog(line);
      }),
      host.onReport((event) => {
        this.#progress = this.#asOfNow(event.progress);
        recorder.report(event.points, this.#progress);
        onReport({ points: event.points, progress: this.#progress });
      }),
      host.onLog((line) => {
        recorder.log(line);
        onLog(line);
      }),
      host.onTrials((trials) =>
        recorder.inOrder(async () => {
          await store.keepTrials({ run: this.#run, trials });
          this.#options.onTrials(trials);
        }),
      ),
      host.onMember((member) => recorder.inOrder(() => this.#members.keep(member))),
      host.onPaused(({ paused }) => recorder.inOrder(() => this.#follow(paused ? 'pause' : 'resume'))),
      host.onFile((written) => {
        const { file } = written;
        const kept = recorder.file(written);
        if (file.startsWith('epoch-')) recorder.inOrder(() => this.#thin());
        // A host that has gone waits for nothing.
        if (isWaitedFor(file))
          void (file.startsWith('epoch-') ? recorder.done() : kept)
            .then(() => host.checkpointKept())
            .catch(() => undefined);
      }),
    ];
  }

  /** What another process asked for; it may come too late to make sense. */
  async #obey(request: RunRequest): Promise<void> {
    switch (request) {
      case 'pause':
        return this.pause();
      case 'resume':
        return this.continue();
      case 'stop':
        return this.stop();
    }
    request satisfies never;
  }

  #checkStop(): void {
    if (this.#stopRequested) throw stoppedBefore();
  }

  /** A stop does not wait for a device that does not answer. */
  #unlessStopped<T>(work: Promise<T>): Promise<T> {
    const stopped = new Promise<never>((_resolve, reject) => (this.#giveUp = reject));
    return Promise.race([work, stopped]);
  }

  #endingOfResult({ spent, ...result }: RunResult): Ending {
    const { divergence } = result;
    this.#bill?.spent(spent);
    const event = result.reason === 'stopped' ? 'stop' : divergence ? 'diverge' : 'complete';
    const error = divergence
      ? forPage(toWire(new TrainyardError('run.diverged', divergence.message, divergence.hint)))
      : null;
    return { state: nextState(this.#run, this.#state, event), result, error };
  }

  #endingOf(error: unknown): Ending {
    this.#bill?.lost();
    if (!this.#stopRequested) return { state: 'failed', result: null, error: forPage(toWire(error)) };
    return { state: 'stopped', result: null, error: error instanceof CancelledError ? null : forPage(toWire(error)) };
  }
}

/** Of a run that ended before its first report. */
function noneYet(config: RunConfig): TrainingProgress {
  const epochs = declarationOf(config).units(config);
  const nothing = { epoch: 0, step: 0, steps: 0, examplesPerSecond: 0, secondsTraining: 0 };
  return { ...nothing, epochs, secondsLeft: null, loss: null };
}

/** What the history keeps of prepared data. */
export function dataOf({ counts, givenSplits = [], leftOut = [] }: PreparedData): RunData {
  return { counts, givenSplits, leftOut };
}

/** Milliseconds of waiting that are worth a line. */
const worthSaying = 1_000;
