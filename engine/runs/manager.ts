// The run manager: what the main process and the command line both use to start, queue, pause, resume and stop runs. It
// reaches the history, the data and the trainers only through their services. Runs of one device take turns; runs of
// another process are asked through the history.

import { InputError } from '../protocol/errors.ts';
import type { DataService, PreparedData } from '../protocol/data.ts';
import { takesOver } from '../protocol/family.ts';
import { nobody, type QueueWish } from '../protocol/queue.ts';
import { finalStates } from '../protocol/runs.ts';
import type { LogLine, MetricPoint, RunConfig, RunProgress, RunRecord, RunRequest } from '../protocol/runs.ts';
import type { Trial } from '../protocol/search.ts';
import { namedDevices, onDevice } from '../protocol/several-devices.ts';
import type { Family, NewRun, RunsChanged, StoreService } from '../protocol/store.ts';
import { learnerNamed } from '../learners/registry.ts';
import type { JobStart } from '../protocol/hosts.ts';
import { runRows } from '../learners/declared/prepared.ts';
import { checkLearner, declarationOf } from '../learners/declared/registry.ts';
import { Listeners } from '../protocol/listeners.ts';
import { onRowsOf } from '../protocol/division.ts';
import { foldConfig, isCrossValidation } from '../protocol/folds.ts';
import { startEnergyMeter } from '../system/energy.ts';
import { Attempt, dataOf, type Work } from './attempt.ts';
import { CrossValidation, refuseTwice, type FoldRuns } from './cross-validation.ts';
import type { ContinuationRequest, TransferRequest } from '../protocol/going-on.ts';
import { continuationOf, refuseOtherTokens, transferOf } from './continuation.ts';
import type { EnergyMeter } from './bill.ts';
import { coalesced } from './coalesced.ts';
import { laneOf } from './hosts.ts';
import type { Lane, RunHosts } from './hosts.ts';
import { mayBegin, placeFor, queueAgain, requestsOfWaiting } from './queue.ts';
import { patientStore } from './patient-store.ts';
import { nextState } from './states.ts';

export interface RunManagerOptions {
  readonly store: StoreService;
  readonly data: Pick<DataService, 'list' | 'prepare' | 'release' | 'cancel'>;
  readonly hosts: RunHosts;
  /** This process, from `processOwner()`. */
  readonly owner: NewRun['owner'];
  /** Throws, with the reason, while nothing may train here: another process measures this machine. What waits already goes on waiting. */
  readonly refuse?: () => void;
  /**
   * Works off the queue of the history: in its order, held back while it is paused and by what a run waits for. Absent: runs begin in the
   * order in which they were asked for, since somebody sits before each.
   */
  readonly worksOffQueue?: boolean;
  /** Measures energy; default: the processor's own meter. */
  readonly meter?: EnergyMeter;
  /** How long a host may take to stop before it is ended; default one minute. */
  readonly stopMilliseconds?: number;
}

export interface RunReport {
  readonly run: number;
  readonly points: readonly MetricPoint[];
  readonly progress: RunProgress;
}

export interface RunManager {
  /**
   * Checks data and model, then records the run and trains it when its device is free. Rejects with the errors of
   * `DataService.prepare` and of the model, and then leaves nothing behind.
   */
  start(request: {
    readonly name?: string;
    readonly config: RunConfig;
    /** Weights to begin with. */
    readonly from?: TransferRequest;
    /** The run about which a finding advised these settings: it is its parent, and nothing of it is taken over. */
    readonly advisedBy?: number;
    /** Where in the queue. Throws `input.queue` where it is to wait for a run that has ended. */
    readonly queue?: QueueWish;
  }): Promise<RunRecord>;
  /**
   * Goes on where a finished or stopped run was, as a new run that knows it: for longer, or with other settings. Rejects as `start`
   * does, and with `input.continue` and `run.no_start`.
   */
  goOn(request: ContinuationRequest & { readonly name?: string }): Promise<RunRecord>;
  /**
   * Goes on with a stopped, failed or interrupted run from its checkpoint, or from the start if it has none; on another
   * device if one is named.
   */
  resume(request: { readonly run: number; readonly device?: RunConfig['device'] }): Promise<RunRecord>;
  /** Takes over queued runs whose process is gone, in their order; returns their numbers. */
  adopt(): Promise<readonly number[]>;
  pause(request: { readonly run: number }): Promise<void>;
  continue(request: { readonly run: number }): Promise<void>;
  /** `now`: a run that is stopping already ends without its last evaluation, with the best weights it has handed over. */
  stop(request: { readonly run: number; readonly now?: boolean }): Promise<void>;
  /** The run when it has ended; at once if it has already. Rejects if the history could not keep its end. */
  finished(request: { readonly run: number }): Promise<RunRecord>;
  /** Runs of this manager that have not ended. */
  active(): readonly number[];
  /** Those of them whose turn has come. */
  begun(): readonly number[];
  /**
   * Stops them all, keeping their checkpoints; resolves when the last has ended. With `queue` they go on when the queue is worked off again:
   * what waits goes on waiting, and what trained stands first.
   */
  stopAll(request?: { readonly queue?: boolean }): Promise<void>;
  /**
   * Pauses what trains and lets nothing begin, for whoever needs the machine to itself. What is returned lets those go on that
   * were paused by it; it is called once.
   */
  hold(): Promise<() => Promise<void>>;
  /** At most 10 a second a run. */
  onReport(listener: (report: RunReport) => void): () => void;
  /** What runs say, as it is said. */
  onLog(listener: (event: { readonly run: number; readonly line: LogLine }) => void): () => void;
  /** Trials of searches that have ended, once the history has them. */
  onTrials(listener: (event: { readonly run: number; readonly trials: readonly Trial[] }) => void): () => void;
  /** Runs whose record has changed, whoever changed it. */
  onChanged(listener: (event: RunsChanged) => void): () => void;
  /** Called when the last active run has ended. */
  onIdle(listener: () => void): () => void;
}

/** A run of this manager that has not ended. */
interface Entry {
  readonly run: number;
  readonly lane: Lane;
  /** The cross-validation of this manager whose turn it shares. */
  readonly within: Entry | null;
  readonly attempt: Work;
  begun: boolean;
  readonly ended: Promise<RunRecord>;
  readonly begin: () => void;
}

/** Milliseconds until all of them have paused, at most: one that evaluates pauses at its end. */
const pauseMilliseconds = 5_000;

async function untilPaused(entries: readonly Entry[]): Promise<void> {
  const end = performance.now() + pauseMilliseconds;
  while (entries.some(({ attempt }) => attempt.state === 'running') && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** How often the history is asked whether another process wants a waiting run stopped. */
const queuePollMilliseconds = 1_000;
const defaultStopMilliseconds = 60_000;

/** Throws InputError `input.device` if the learner does not train on the device asked for, `run.learner` if there is none here. */
function checkDevice(config: RunConfig): void {
  checkLearner(config);
  const { devices, modelTitle, layers } = declarationOf(config);
  if (config.devices !== undefined) {
    namedDevices(config.devices);
    if (layers === undefined) {
      throw new InputError(
        'input.devices',
        `${modelTitle(config)} is trained on one device: batches to share are those of networks.`,
        'Leave --devices out, or train a network.',
      );
    }
  }
  if (config.device === 'auto' || devices.includes(config.device)) return;
  const [names, asked] = [devices.map(deviceWord).join(' or '), deviceWord(config.device)];
  throw new InputError(
    'input.device',
    `${modelTitle(config)}: it trains on the ${names}, not on the ${asked}.`,
    'Leave the device to be chosen by itself.',
  );
}

const deviceWord = (device: RunConfig['device']): string => (device === 'reference' ? device : device.toUpperCase());

/** Of a cross-validation: weights that learned from the rows of a fold would be tested on them. */
function seenBefore(): InputError {
  return new InputError(
    'input.folds',
    'A cross-validation begins with no weights of another run: they may have learned from the rows that test it.',
    'Leave out the folds, or the weights.',
  );
}

export function createRunManager(options: RunManagerOptions): RunManager {
  const { data, hosts, owner, meter = () => startEnergyMeter(), stopMilliseconds = defaultStopMilliseconds } = options;
  const { refuse = () => undefined } = options;
  const store = patientStore(options.store);
  const entries = new Map<number, Entry>();
  const reports = new Listeners<RunReport>();
  const logs = new Listeners<{ readonly run: number; readonly line: LogLine }>();
  const trials = new Listeners<{ readonly run: number; readonly trials: readonly Trial[] }>();
  const idle = new Listeners<void>();
  let poll: NodeJS.Timeout | null = null;
  let preparations = 0;
  /** Nothing begins while anybody holds the machine. */
  let holds = 0;

  const laneIsBusy = (lane: Lane, except?: Entry | null): boolean =>
    [...entries.values()].some((entry) => entry.begun && entry.lane === lane && entry !== except);

  const mayTrain = (): boolean => {
    try {
      refuse();
      return holds === 0;
    } catch {
      return false;
    }
  };

  const beginThese = (chosen: readonly Entry[]): void => {
    for (const entry of chosen) {
      if (!entry.begun && entries.has(entry.run) && !laneIsBusy(entry.lane, entry.within) && mayTrain()) entry.begin();
    }
  };
  const inQueueOrder = coalesced(async () => {
    const waiting = (): readonly Entry[] => [...entries.values()].filter(({ begun }) => !begun);
    // Where the history cannot be read it is asked again within a second.
    beginThese(await mayBegin(store, waiting).catch(() => []));
  });

  /** Lets the next run of each free lane begin, in the order of the queue. */
  const beginNext = (): void => {
    if (options.worksOffQueue) inQueueOrder();
    else beginThese([...entries.values()]);
    const waiting = [...entries.values()].some((entry) => !entry.begun);
    if (waiting && poll === null) poll = setInterval(() => void obeyRequests(), queuePollMilliseconds);
    if (!waiting && poll !== null) {
      clearInterval(poll);
      poll = null;
    }
  };

  const enqueue = (record: RunRecord, prepared: PreparedData | null, preparing = 0): void => {
    const run = record.id;
    const within = (record.relation === 'fold' && entries.get(record.parent ?? 0)) || null;
    const watched = {
      onLog: (line: LogLine) => {
        logs.emit({ run, line });
      },
      onReport: (event: Omit<RunReport, 'run'>) => {
        reports.emit({ run, ...event });
      },
      onTrials: (ended: readonly Trial[]) => trials.emit({ run, trials: ended }),
    };
    const attempt = isCrossValidation(record.config)
      ? new CrossValidation({ store, record, runs: folds, ...watched })
      : new Attempt({ store, data, hosts, record, prepared, preparing, stopMilliseconds, meter, owner, ...watched });
    let begin = (): void => undefined;
    const turn = new Promise<void>((resolve) => (begin = resolve));
    const ended = turn
      .then(() => attempt.run())
      .finally(() => {
        entries.delete(run);
        beginNext();
        if (entries.size === 0) idle.emit();
      });
    // Whoever waits for the end hears of an error; nobody has to wait.
    ended.catch(() => undefined);
    const entry: Entry = {
      run,
      lane: within?.lane ?? laneOf(record.config.device),
      within,
      attempt,
      begun: false,
      ended,
      begin() {
        entry.begun = true;
        begin();
      },
    };
    entries.set(run, entry);
    beginNext();
  };

  /** A waiting run is stopped by letting it begin: it sees at once that it is to stop. */
  const stopEntry = async (entry: Entry, now = false): Promise<void> => {
    await entry.attempt.stop(now);
    if (!entry.begun) entry.begin();
  };

  async function obeyRequests(): Promise<void> {
    const asked = await requestsOfWaiting(store).catch(() => []);
    for (const run of asked) {
      const entry = entries.get(run);
      if (entry && !entry.begun) await stopEntry(entry);
    }
    beginNext();
  }

  /** Takes over one queued run whose process is gone; null if it is none. */
  const adoptOne = async (run: number, device?: RunConfig['device']): Promise<RunRecord | null> => {
    const [record] = await store.adopt({ owner, run });
    if (!record) return null;
    const patch = { config: device === undefined ? record.config : onDevice(record.config, device) };
    const taken = await store.updateRun({ run, patch });
    enqueue(taken, null);
    return taken;
  };

  /** Asks the process that has the run. */
  const askOwner = async (run: number, request: RunRequest): Promise<void> => {
    await store.recover();
    const { state } = await store.run({ run });
    nextState(run, state, request);
    await store.updateRun({ run, patch: { request }, when: [state] });
  };

  const prepare = async (config: RunConfig): Promise<PreparedData> => {
    const { dataset } = config;
    const learner = declarationOf(config);
    checkDevice(config);
    const job = `prepare-${++preparations}`;
    const prepared = await data.prepare({ job, dataset, options: runRows(config) });
    try {
      learner.check(config, prepared);
      return prepared;
    } catch (error) {
      await data.release({ handle: prepared.handle });
      throw error;
    }
  };

  /** A waiting run holds no prepared data: it is prepared again when its turn comes. */
  const releaseUnlessFree = async (record: RunRecord, prepared: PreparedData): Promise<PreparedData | null> => {
    const held =
      options.worksOffQueue && (await mayBegin(store, () => [{ run: record.id, within: null }])).length === 0;
    if (!held && !laneIsBusy(laneOf(record.config.device))) return prepared;
    await data.release({ handle: prepared.handle });
    return null;
  };

  const begin = async (
    name: string | undefined,
    asked: RunConfig,
    from?: Family & { readonly job?: JobStart },
    wish: QueueWish = {},
  ): Promise<RunRecord> => {
    const config = declarationOf(asked).settled?.(asked) ?? asked;
    const { job: first, ...family } = from ?? {};
    const crossed = isCrossValidation(config);
    if (crossed && from && takesOver(from.relation)) throw seenBefore();
    const queue = await placeFor(store, wish);
    const start = performance.now();
    const prepared = await prepare(crossed ? foldConfig(config, 1) : config);
    const preparing = performance.now() - start;
    try {
      if (first) {
        learnerNamed(config.learner).checkStart?.(config, prepared, first);
        await refuseOtherTokens(store, first.parent, prepared.preprocessing);
      }
      const { dataset } = config;
      const datasetName = (await data.list()).find(({ id }) => id === dataset)?.name ?? dataset;
      const fullName = name?.trim() || `${declarationOf(config).preset(config) ?? 'model'} on ${datasetName}`;
      const record = await store.createRun({
        name: fullName,
        dataset,
        datasetName,
        config,
        owner: wish.only ? nobody : owner,
        ...(from ? { family: family as Family } : {}),
        ...(queue === undefined ? {} : { queue }),
      });
      if (wish.only) {
        await data.release({ handle: prepared.handle });
        return record;
      }
      if (crossed) {
        await data.release({ handle: prepared.handle });
        enqueue(await store.updateRun({ run: record.id, patch: { data: dataOf(prepared) } }), null);
      } else enqueue(record, await releaseUnlessFree(record, prepared), preparing);
      return record;
    } catch (error) {
      await data.release({ handle: prepared.handle });
      throw error;
    }
  };

  /** Goes on with a run that had ended before its time, or with a queued one that nobody answers for. */
  const resume = async (run: number, device?: RunConfig['device']): Promise<RunRecord> => {
    const adopted = await adoptOne(run, device);
    if (adopted) return adopted;
    const before = await store.run({ run });
    const state = nextState(run, before.state, 'requeue');
    if (before.deletedAt !== null) {
      throw new InputError('input.run_deleted', `Run ${run} is in the trash.`, 'Restore it first.');
    }
    const config = device ? { ...before.config, device } : before.config;
    checkDevice(config);
    const patch = { state, config, owner, endedAt: null, result: null, error: null, request: null };
    const record = await store.updateRun({ run, patch, when: [before.state] });
    enqueue(record, null);
    return record;
  };

  const manager: RunManager = {
    async start({ name, config, from, advisedBy, queue }) {
      if (!queue?.only) refuse();
      if (from) return begin(name, config, await transferOf(store, config, from), queue);
      if (advisedBy === undefined) return begin(name, config, undefined, queue);
      const parent = await store.run({ run: advisedBy });
      const changed = await onRowsOf(store, parent, config);
      return begin(name, changed, { parent: parent.id, relation: 'advised by', start: {} }, queue);
    },
    async goOn({ run, name, ...request }) {
      refuse();
      await store.recover();
      const parent = await store.run({ run });
      const { family, config } = await continuationOf(store, parent, request);
      const { units } = declarationOf(config);
      const more = units(config) - (family.start.epoch ?? 0);
      return begin(name?.trim() || `${parent.name} +${more}`, config, family);
    },
    async resume({ run, device }) {
      refuse();
      if (entries.has(run)) nextState(run, entries.get(run)!.attempt.state, 'requeue');
      await store.recover();
      await refuseTwice(store, await store.run({ run }), (child) => entries.has(child));
      return resume(run, device);
    },
    async adopt() {
      const adopted = await store.adopt({ owner });
      for (const record of adopted) enqueue(record, null);
      return adopted.map(({ id }) => id);
    },
    async pause({ run }) {
      await (entries.get(run)?.attempt.pause() ?? askOwner(run, 'pause'));
    },
    async continue({ run }) {
      refuse();
      await (entries.get(run)?.attempt.continue() ?? askOwner(run, 'resume'));
    },
    async stop({ run, now }) {
      // A queued run that nobody answers for is stopped by whoever is asked.
      if (!entries.has(run)) await adoptOne(run);
      const entry = entries.get(run);
      await (entry ? stopEntry(entry, now) : askOwner(run, 'stop'));
    },
    async finished({ run }) {
      const entry = entries.get(run);
      if (entry) return entry.ended;
      const record = await store.run({ run });
      if (finalStates.has(record.state)) return record;
      throw new InputError('input.run_elsewhere', `Run ${run} belongs to another process.`, 'Wait for it there.');
    },
    active: () => [...entries.keys()],
    begun: () => [...entries.values()].flatMap(({ run, begun }) => (begun ? [run] : [])),
    async stopAll({ queue = false } = {}) {
      const all = [...entries.values()];
      const waiting = all.filter(({ begun, within }) => queue && !begun && !within);
      for (const { run } of waiting) entries.delete(run);
      const going = all.filter((entry) => !waiting.includes(entry));
      await Promise.allSettled(going.map((entry) => stopEntry(entry)));
      await Promise.allSettled(going.map(({ ended }) => ended));
      if (!queue) return;
      for (const { run, within } of going.toReversed()) if (!within) await queueAgain(store, run);
      for (const { run } of waiting) await store.updateRun({ run, patch: { owner: nobody }, when: ['queued'] });
    },
    async hold() {
      holds++;
      const running = [...entries.values()].filter(({ begun, attempt }) => begun && attempt.state === 'running');
      await Promise.allSettled(running.map(({ attempt }) => attempt.pause()));
      await untilPaused(running);
      return async () => {
        holds--;
        // One that was stopped, or let go on, meanwhile is left alone.
        await Promise.allSettled(running.map(({ attempt }) => attempt.continue()));
        beginNext();
      };
    },
    onReport: (listener) => reports.add(listener),
    onLog: (listener) => logs.add(listener),
    onTrials: (listener) => trials.add(listener),
    onChanged: (listener) => store.onChanged(listener),
    onIdle: (listener) => idle.add(listener),
  };

  /** The folds of cross-validations are runs like any other. */
  const folds: FoldRuns = {
    async begin(parent, fold, config) {
      const { id, name, dataset, datasetName } = parent;
      const family: Family = { parent: id, relation: 'fold', start: { fold } };
      const called = `${name}, fold ${fold} of ${parent.config.folds ?? fold}`;
      const record = await store.createRun({ name: called, dataset, datasetName, config, owner, family });
      enqueue(record, null);
      return record.id;
    },
    async resume(run, device) {
      // Refused it would be taken for a fold that failed: it waits in the queue until somebody may train.
      await store.recover();
      await resume(run, device === 'auto' ? undefined : device);
    },
    finished: (run) => manager.finished({ run }),
    isActive: (run) => entries.has(run),
    pause: (run) => manager.pause({ run }),
    continue: (run) => manager.continue({ run }),
    stop: (run, now) => manager.stop({ run, now }),
    onProgress: (run, listener) => reports.add((report) => report.run === run && listener(report.progress)),
  };
  return manager;
}
