// What a run manager is asked and what it tells; manager.ts makes one.

import type { DataService } from '../protocol/data.ts';
import type { ContinuationRequest, TransferRequest } from '../protocol/going-on.ts';
import type { QueueWish } from '../protocol/queue.ts';
import type { LogLine, MetricPoint, RunConfig, RunProgress, RunRecord } from '../protocol/runs.ts';
import type { Trial } from '../protocol/search.ts';
import type { NewRun, RunsChanged, StoreService } from '../protocol/store.ts';
import type { EnergyMeter } from './bill.ts';
import type { RunHosts } from './hosts.ts';
import type { Machine } from './turns.ts';

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
  /** Lets several runs train at once where cores and memory allow. Absent: one on each device. */
  readonly machine?: Machine;
  /** So many train at a time; absent: as the setting of the history has it. */
  readonly atOnce?: number;
  /** Measures energy; default: the processor's own meter. */
  readonly meter?: EnergyMeter;
  /** How long a host may take to stop before it is ended; default one minute. */
  readonly stopMilliseconds?: number;
  /** How long the GPU's page may say nothing to being asked to stop, which takes it no step, before it is ended; default ten seconds. */
  readonly answerMilliseconds?: number;
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
    /**
     * The run about which a finding advised these settings: it is its parent, and nothing of it is taken over; one that began with the weights
     * of another is trained anew from those, and they are of its parent then.
     */
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
   * device if one is named, and to be done by another time (`until`, milliseconds since 1970). Its own time, passed before it had
   * a checkpoint, counts no more.
   */
  resume(request: {
    readonly run: number;
    readonly device?: RunConfig['device'];
    readonly until?: number;
    /** Only puts it into the queue, there (`only`). */
    readonly queue?: QueueWish;
  }): Promise<RunRecord>;
  /** Takes over queued runs whose process is gone, in their order; returns their numbers. None once it has left the queue to others. */
  adopt(): Promise<readonly number[]>;
  pause(request: { readonly run: number }): Promise<void>;
  continue(request: { readonly run: number }): Promise<void>;
  /** `now`: a run that is stopping already ends without its last evaluation, with the best weights it has handed over. */
  stop(request: { readonly run: number; readonly now?: boolean }): Promise<void>;
  /** The run when it has ended; at once if it has already. Rejects if the history could not keep its end. */
  finished(request: { readonly run: number }): Promise<RunRecord>;
  /** Runs of this manager that have not ended. */
  active(): readonly number[];
  /** Those of them that nobody has told to stop. */
  goingOn(): readonly number[];
  /** Those of them whose turn has come. */
  begun(): readonly number[];
  /**
   * Stops them all, keeping their checkpoints; resolves when the last has ended. With `queue` they go on when the queue is worked off again:
   * what waits goes on waiting, and what trained stands first. This manager takes none of it over again: whoever calls it so is ending.
   */
  stopAll(request?: { readonly queue?: boolean }): Promise<void>;
  /**
   * Pauses what trains and lets nothing begin, for whoever needs the machine to itself. What is returned is called once; with the last of
   * several who hold the machine those go on that were paused for them, but for those that a person has paused or stopped.
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
