// The run manager: what the main process and the command line both use to start, queue, pause, resume and stop runs. It
// reaches the history, the data and the trainers only through their services. Runs of one device take turns; runs of
// another process are asked through the history.

import { InputError } from '../protocol/errors.ts';
import { beginningOf } from '../protocol/beginning.ts';
import type { PreparedData } from '../protocol/data.ts';
import { takesOver } from '../protocol/family.ts';
import { nobody, unmarked, type QueueWish } from '../protocol/queue.ts';
import { finalStates } from '../protocol/runs.ts';
import type { LogLine, RunConfig, RunRecord, RunRequest } from '../protocol/runs.ts';
import type { Trial } from '../protocol/search.ts';
import { onDevice } from '../protocol/several-devices.ts';
import type { Family } from '../protocol/store.ts';
import { learnerNamed } from '../learners/registry.ts';
import type { JobStart } from '../protocol/hosts.ts';
import { runRows } from '../learners/declared/prepared.ts';
import { declarationOf } from '../learners/declared/registry.ts';
import { Listeners } from '../protocol/listeners.ts';
import { onRowsOf } from '../protocol/division.ts';
import { foldConfig, isCrossValidation } from '../protocol/folds.ts';
import { startEnergyMeter } from '../system/energy.ts';
import { Attempt, dataOf } from './attempt.ts';
import { checkDeadline, checkDevice, seenBefore, timed } from './begin-checks.ts';
import { checkpointsOf } from './checkpoints.ts';
import { CrossValidation, refuseTwice, type FoldRuns } from './cross-validation.ts';
import { continuationOf, refuseOtherTokens, transferOf } from './continuation.ts';
import { needsOf } from './needs.ts';
import { mayBegin, pauseQueue, placeFor, queueAgain, refuseLate, waitingRuns } from './queue.ts';
import type { RunManager, RunManagerOptions, RunReport } from './run-manager.ts';
import { patientStore } from './patient-store.ts';
import { nextState } from './states.ts';
import { Turns, type Entry } from './turns.ts';

export type { RunManager, RunManagerOptions, RunReport };

/** Milliseconds until all of them have paused, at most: one that evaluates pauses at its end. */
const pauseMilliseconds = 5_000;

async function untilPaused(entries: readonly Entry[]): Promise<void> {
  const end = performance.now() + pauseMilliseconds;
  while (entries.some(({ attempt }) => attempt.state === 'running') && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const defaultStopMilliseconds = 60_000;
const defaultAnswerMilliseconds = 10_000;

export function createRunManager(options: RunManagerOptions): RunManager {
  const { data, hosts, owner, meter = () => startEnergyMeter() } = options;
  const { stopMilliseconds = defaultStopMilliseconds, answerMilliseconds = defaultAnswerMilliseconds } = options;
  const patience = { stopMilliseconds, answerMilliseconds };
  const { refuse = () => undefined } = options;
  const store = patientStore(options.store);
  const reports = new Listeners<RunReport>();
  const logs = new Listeners<{ readonly run: number; readonly line: LogLine }>();
  const trials = new Listeners<{ readonly run: number; readonly trials: readonly Trial[] }>();
  const idle = new Listeners<void>();
  let preparations = 0;
  /** Nothing begins while anybody holds the machine. */
  let holds = 0;
  /** The queue is left to others: what is let go is not taken over again. */
  let leaves = false;

  const mayTrain = (): boolean => {
    try {
      refuse();
      return holds === 0;
    } catch {
      return false;
    }
  };

  /** A waiting run is stopped by letting it begin: it sees at once that it is to stop. */
  const stopEntry = async (entry: Entry, now = false): Promise<void> => {
    await entry.attempt.stop(now);
    if (!entry.begun) entry.begin();
  };
  const { worksOffQueue = false, machine, atOnce } = options;
  const turns = new Turns({ store, machine, atOnce, worksOffQueue, mayTrain, stop: stopEntry });
  const { entries } = turns;

  /** A full disk would fail all that wait, one after the other: they wait until somebody has made room. */
  const spareOthers = async (ended: RunRecord): Promise<RunRecord> => {
    const isFull = ended.error?.code === 'store.full' || ended.error?.code === 'data.disk_full';
    const spare = async (): Promise<void> => {
      if ((await waitingRuns(store)).length > 0) await pauseQueue(store, true);
    };
    // A disk so full that not even this can be written is no news of the run.
    if (worksOffQueue && isFull) await spare().catch(() => undefined);
    return ended;
  };

  const enqueue = (record: RunRecord, prepared: PreparedData | null, preparing = 0): void => {
    const run = record.id;
    const goesOn = worksOffQueue;
    const within = (record.relation === 'fold' && entries.get(record.parent ?? 0)) || null;
    const watched = {
      onLog: (line: LogLine) => logs.emit({ run, line }),
      onReport: (event: Omit<RunReport, 'run'>) => reports.emit({ run, ...event }),
      onTrials: (ended: readonly Trial[]) => trials.emit({ run, trials: ended }),
      onDevice: (device: string, threads: number) => {
        // Several devices that share its batches are its own until its end.
        if (record.config.devices === undefined) turns.uses(run, device, threads);
      },
    };
    const attempt = isCrossValidation(record.config)
      ? new CrossValidation({ store, record, runs: folds, goesOn, ...watched })
      : new Attempt({ store, data, hosts, record, prepared, preparing, ...patience, meter, owner, goesOn, ...watched });
    let begin = (): void => undefined;
    const turn = new Promise<void>((resolve) => (begin = resolve));
    const ended = turn
      .then(() => attempt.run(entry.threads))
      .then((record) => spareOthers(record))
      .finally(() => {
        turns.remove(run);
        if (entries.size === 0) idle.emit();
      });
    // Whoever waits for the end hears of an error; nobody has to wait.
    ended.catch(() => undefined);
    const entry: Entry = {
      run,
      within,
      attempt,
      claim: turns.claimOf(run, record.config, record.queue?.bytes ?? null),
      threads: 0,
      begun: false,
      ended,
      begin() {
        entry.begun = true;
        begin();
      },
    };
    turns.add(entry);
  };

  /** Takes over one queued run whose process is gone; null if it is none. */
  const adoptOne = async (
    run: number,
    device?: RunConfig['device'],
    until?: number | null,
  ): Promise<RunRecord | null> => {
    const [record] = await store.adopt({ owner, run });
    if (!record) return null;
    // Who only stops it asks for no other time.
    const asked = until === null ? record.config : timed(record.config, until, record.hasCheckpoint);
    const patch = { config: device === undefined ? asked : onDevice(asked, device) };
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
    const held = worksOffQueue && (await mayBegin(store, () => [{ run: record.id, within: null }])).length === 0;
    const claim = turns.claimOf(record.id, record.config, record.queue?.bytes ?? null);
    if (!held && (await turns.isFree(claim))) return prepared;
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
    checkDeadline(config);
    refuseLate(config, wish.notBefore);
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
      const info = (await data.list()).find(({ id }) => id === dataset);
      const datasetName = info?.name ?? dataset;
      const fullName = name?.trim() || `${declarationOf(config).preset(config) ?? 'model'} on ${datasetName}`;
      const needs = wish.only || machine ? await needsOf(store, config, prepared, info) : {};
      const record = await store.createRun({
        name: fullName,
        dataset,
        datasetName,
        config,
        owner: wish.only ? nobody : owner,
        ...(from ? { family: family as Family } : {}),
        // What it is going to take is there from the first on, for whoever takes it over at once.
        ...(queue || Object.keys(needs).length > 0 ? { queue: { ...queue, ...needs } } : {}),
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
  const resume = async (
    run: number,
    device?: RunConfig['device'],
    until?: number,
    wish?: QueueWish,
  ): Promise<RunRecord> => {
    const adopted = wish ? null : await adoptOne(run, device, until);
    if (adopted) return adopted;
    const before = await store.run({ run });
    const state = nextState(run, before.state, 'requeue');
    if (before.deletedAt !== null) {
      throw new InputError('input.run_deleted', `Run ${run} is in the trash.`, 'Restore it first.');
    }
    const timedConfig = timed(before.config, until, before.hasCheckpoint);
    const config = device ? onDevice(timedConfig, device) : timedConfig;
    checkDevice(config);
    if (wish) refuseLate(config, wish.notBefore);
    const { bytes, seconds } = before.queue ?? {};
    const placed = wish && { position: run, ...(await placeFor(store, wish)), bytes, seconds };
    const queue = placed ?? (before.queue && unmarked(before.queue));
    const patch = { state, config, queue, endedAt: null, result: null, error: null, request: null };
    const change = { ...patch, owner: wish ? nobody : owner };
    const record = await store.updateRun({ run, patch: change, when: [before.state] });
    if (!wish) enqueue(record, null);
    return record;
  };

  const manager: RunManager = {
    async start({ name, config, from, advisedBy, queue }) {
      if (!queue?.only) refuse();
      if (from) return begin(name, config, await transferOf(store, config, from), queue);
      if (advisedBy === undefined) return begin(name, config, undefined, queue);
      const parent = await store.run({ run: advisedBy });
      const changed = await onRowsOf(store, parent, config);
      const begun = await beginningOf({ ...store, checkpoints: ({ run }) => checkpointsOf(store, run) }, parent);
      if (begun === null) {
        throw new InputError(
          'run.no_start',
          `The weights that run ${parent.id} began with are not there any more.`,
          'Begin a new run with its settings: its weights are drawn by chance.',
        );
      }
      if (begun) return begin(name, changed, await transferOf(store, changed, begun), queue);
      return begin(name, changed, { parent: parent.id, relation: 'advised by', start: {} }, queue);
    },
    async goOn({ run, name, ...request }) {
      refuse();
      await store.recover();
      const parent = await store.run({ run });
      const { family, config: continued } = await continuationOf(store, parent, request);
      // The time its parent was to be done by is past.
      const config = timed(continued, undefined, false);
      const { units } = declarationOf(config);
      const more = units(config) - (family.start.epoch ?? 0);
      return begin(name?.trim() || `${parent.name} +${more}`, config, family);
    },
    async resume({ run, device, until, queue }) {
      if (!queue?.only) refuse();
      if (entries.has(run)) nextState(run, entries.get(run)!.attempt.state, 'requeue');
      await store.recover();
      await refuseTwice(store, await store.run({ run }), (child) => entries.has(child));
      return resume(run, device, until, queue?.only ? queue : undefined);
    },
    async adopt() {
      const adopted = leaves ? [] : await store.adopt({ owner });
      // Left meanwhile, they are those of a process that is gone soon.
      if (leaves) return [];
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
      if (!entries.has(run)) await adoptOne(run, undefined, null);
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
    goingOn: () => [...entries.values()].flatMap(({ run, attempt }) => (attempt.stopRequested ? [] : [run])),
    begun: () => [...entries.values()].flatMap(({ run, begun }) => (begun ? [run] : [])),
    async stopAll({ queue = false } = {}) {
      leaves ||= queue;
      const all = [...entries.values()];
      const waiting = all.filter(({ begun, within }) => queue && !begun && !within);
      for (const { run } of waiting) entries.delete(run);
      const going = all.filter((entry) => !waiting.includes(entry));
      await Promise.allSettled(going.map((entry) => stopEntry(entry)));
      await Promise.allSettled(going.map(({ ended }) => ended));
      if (!queue) return;
      for (const { run, within } of going.toReversed()) if (!within) await queueAgain(store, run);
      if (waiting.length > 0) await store.adopt({ owner: nobody, from: owner });
    },
    async hold() {
      holds++;
      const going = ({ begun, attempt: { state } }: Entry): boolean =>
        begun && (state === 'running' || state === 'queued');
      const running = [...entries.values()].filter(going);
      await Promise.allSettled(running.map(({ attempt }) => attempt.pause(true)));
      await untilPaused(running);
      return async () => {
        if (--holds > 0) return;
        await Promise.allSettled([...entries.values()].map(({ attempt }) => attempt.continue(true)));
        turns.next();
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
