// Whose turn it is among the runs of a manager: those that wait begin as the queue, the machine and a person's choices let them.

import type { RunConfig, RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';
import type { Work } from './attempt.ts';
import { claimOf } from './claim.ts';
import { coalesced } from './coalesced.ts';
import { mayBegin, readAtOnce, requestsOfWaiting } from './queue.ts';
import { turns, type Claim, type Room } from './schedule.ts';

/** What runs may share. Absent: one at a time on each device, as where all train in one process. */
export interface Machine {
  /** Cores worth a thread each. */
  readonly cores: number;
  /** Bytes that can be used now. */
  readonly available: () => number;
}

/** A run of a manager that has not ended. */
export interface Entry {
  readonly run: number;
  /** The cross-validation of this manager whose turn it shares. */
  readonly within: Entry | null;
  readonly attempt: Work;
  claim: Claim;
  /** Threads it was given; 0: as many as it likes. */
  threads: number;
  begun: boolean;
  readonly ended: Promise<RunRecord>;
  readonly begin: () => void;
}

export interface TurnsOptions {
  readonly store: Pick<StoreService, 'runs' | 'run' | 'updateRun' | 'getSetting' | 'setSetting'>;
  readonly machine?: Machine;
  /** So many train at a time; absent: as the setting of the history has it. */
  readonly atOnce?: number;
  readonly worksOffQueue: boolean;
  /** Whether anything may begin at all. */
  readonly mayTrain: () => boolean;
  /** Ends one that waits and that somebody wants stopped. */
  readonly stop: (entry: Entry) => Promise<void>;
}

/** How often the history is asked what another process wants of those that wait. */
const pollMilliseconds = 1_000;
/** Share of the memory that was free which runs may take together. */
const shareOfMemory = 0.9;

/** `free`: bytes that could be used when nothing trained. */
export function roomFor(machine: Machine, atOnce: number | null, going: readonly Claim[], free = Infinity): Room {
  const taken = going.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  return { cores: machine.cores, bytes: shareOfMemory * Math.min(free, machine.available() + taken), atOnce };
}

export class Turns {
  readonly entries = new Map<number, Entry>();
  readonly #options: TurnsOptions;
  readonly #inQueueOrder: () => void;
  #poll: NodeJS.Timeout | null = null;
  /** Bytes that could be used when nothing trained. */
  #free = Infinity;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#inQueueOrder = coalesced(async () => {
      // Where the history cannot be read it is asked again within a second.
      const [order, atOnce] = await Promise.all([
        mayBegin(options.store, () => this.#waiting()),
        this.#readAtOnce(),
      ]).catch(() => [[], null] as const);
      this.#begin(order, atOnce);
    });
  }

  /** What a run takes, before it has said what it uses. */
  claimOf(run: number, config: RunConfig, bytes: number | null): Claim {
    return claimOf(run, config, bytes, this.#options.machine?.cores ?? null);
  }

  add(entry: Entry): void {
    this.entries.set(entry.run, entry);
    this.next();
  }

  remove(run: number): void {
    this.entries.delete(run);
    this.next();
  }

  /** A run has its one device, and so many threads. */
  uses(run: number, device: string, threads: number): void {
    const entry = this.entries.get(run);
    const turn = entry?.within ?? entry;
    const { machine } = this.#options;
    if (!turn || !machine) return;
    turn.claim = { ...turn.claim, device: device.startsWith('gpu') ? 'gpu' : 'cpu', threads: Math.max(1, threads) };
    this.next();
  }

  /** Whether a run that is asked for now begins at once, as far as those go that train, or wait before it. */
  async isFree(claim: Claim): Promise<boolean> {
    const { mayTrain } = this.#options;
    const atOnce = await this.#readAtOnce();
    const before = this.#waiting().flatMap((entry) => (entry.within ? [] : [entry.claim]));
    const chosen = turns(this.#room(atOnce), this.#going(), [...before, claim]);
    return mayTrain() && chosen.some(({ run }) => run === claim.run);
  }

  /** Lets those begin whose turn it is. */
  next(): void {
    if (this.#options.worksOffQueue) this.#inQueueOrder();
    else this.#begin(this.#waiting(), null);
    const waits = this.#waiting().length > 0;
    if (waits && this.#poll === null) this.#poll = setInterval(() => void this.#obeyRequests(), pollMilliseconds);
    if (!waits && this.#poll !== null) {
      clearInterval(this.#poll);
      this.#poll = null;
    }
  }

  #waiting(): readonly Entry[] {
    return [...this.entries.values()].filter(({ begun }) => !begun);
  }

  #going(): readonly Claim[] {
    return [...this.entries.values()].filter(({ begun, within }) => begun && !within).map(({ claim }) => claim);
  }

  #begin(order: readonly Entry[], atOnce: number | null): void {
    const here = order.filter(({ begun, run }) => !begun && this.entries.has(run));
    // Folds share the turn of their cross-validation, one after the other.
    for (const entry of here.filter(({ within }) => within)) {
      const siblings = [...this.entries.values()].filter(({ within }) => within === entry.within);
      if (entry.within!.begun && !siblings.some(({ begun }) => begun)) this.#beginOne(entry, entry.within!.threads);
    }
    const own = here.filter(({ within }) => !within);
    const claims = own.map(({ claim }) => claim);
    for (const { run, threads } of turns(this.#room(atOnce), this.#going(), claims))
      this.#beginOne(this.entries.get(run)!, threads);
  }

  #beginOne(entry: Entry, threads: number): void {
    if (!this.#options.mayTrain()) return;
    entry.threads = threads;
    if (threads > 0) entry.claim = { ...entry.claim, threads };
    entry.begin();
  }

  async #readAtOnce(): Promise<number | null> {
    const { machine, atOnce, store } = this.#options;
    return machine ? (atOnce ?? readAtOnce(store)) : null;
  }

  #room(atOnce: number | null): Room {
    const { machine } = this.#options;
    if (!machine) return { cores: 1, bytes: Infinity, atOnce };
    const going = this.#going();
    if (going.length === 0) this.#free = machine.available();
    return roomFor(machine, atOnce, going, this.#free);
  }

  async #obeyRequests(): Promise<void> {
    const asked = await requestsOfWaiting(this.#options.store).catch(() => []);
    for (const run of asked) {
      const entry = this.entries.get(run);
      if (entry && !entry.begun) await this.#options.stop(entry);
    }
    this.next();
  }
}
