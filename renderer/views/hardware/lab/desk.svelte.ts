// The labs of this history: the latest of this machine, the one before it, the one laid beside; and measuring, which goes on while other
// tabs are open. One desk for the window, shared by the tabs that show what was measured.

import type { AppState } from '../../../app/state.svelte.ts';
import { failureOf, wasCancelled, type Failure } from '../../../app/failure.ts';
import { labOfMachine } from '../../../../engine/hardware/machine.ts';
import { chooseTargets } from '../../../../engine/lab/machine.ts';
import type {
  LabDevice,
  LabProgress,
  LabRecord,
  LabSummary,
  RaceRequest,
  RaceTimes,
} from '../../../../engine/protocol/lab.ts';
import { comparison } from './reading.ts';

/** A device that is to be measured, with its share of the time. */
export interface LabTurn {
  readonly id: string;
  readonly kind: 'cpu' | 'gpu';
  readonly software: boolean;
  readonly seconds: number;
}

export interface Measuring {
  readonly seconds: number;
  readonly turns: readonly LabTurn[];
  readonly progress: LabProgress | null;
  /** What is known so far, by device. */
  readonly measured: ReadonlyMap<string, LabDevice>;
  readonly pausedRuns: number;
  readonly cancelling: boolean;
}

/** A race that is being timed. */
export interface Racing {
  readonly key: string;
  readonly done: number;
  readonly points: number;
  readonly pausedRuns: number;
}

export class LabDesk {
  list: readonly LabSummary[] = $state.raw([]);
  /** The one this machine's figures are taken from; null = none yet. */
  mine: LabRecord | null = $state.raw(null);
  /** The one before it, of this machine. */
  before: LabRecord | null = $state.raw(null);
  beside: LabRecord | null = $state.raw(null);
  measuring: Measuring | null = $state.raw(null);
  /** What races came to, by model and devices, while the window is open. */
  timed: ReadonlyMap<string, readonly RaceTimes[]> = $state.raw(new Map());
  racing: Racing | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  loaded: boolean = $state(false);
  /** What reading the labs failed with, until it succeeds. */
  #unread: Failure | null = null;
  readonly #app: AppState;

  constructor(app: AppState) {
    this.#app = app;
    app.service.onLabProgress((event) => this.#take(event));
    app.service.onRace(({ races, points }) => {
      if (!this.racing) return;
      this.racing = { ...this.racing, done: races.length, points };
      this.timed = new Map(this.timed).set(this.racing.key, races);
    });
  }

  /** How the latest compares with the one before: '' where there is none. */
  readonly words: string = $derived.by(() =>
    this.mine && this.before ? comparison(this.mine.result, this.before.result) : '',
  );
  /** A newer lab of this machine that is too short to take its place: shown only where it is laid beside. */
  readonly shorter: LabSummary | null = $derived.by(() => {
    const { mine } = this;
    return mine
      ? (this.list.find(({ imported, startedAt }) => !imported && startedAt > mine.result.startedAt) ?? null)
      : null;
  });
  readonly others: readonly LabSummary[] = $derived.by(() => this.list.filter(({ id }) => id !== this.mine?.id));

  async load(): Promise<void> {
    const { service } = this.#app;
    try {
      const list = await service.labs();
      const own = list.filter(({ imported }) => !imported);
      const latest = labOfMachine(own);
      const earlier = own.find((one) => latest !== null && one.startedAt < latest.startedAt);
      const [mine, before] = await Promise.all(
        [latest, earlier].map((one) => (one ? service.lab({ lab: one.id }) : null)),
      );
      this.list = list;
      this.mine = mine;
      this.before = before;
      if (this.beside && !list.some(({ id }) => id === this.beside?.id)) this.beside = null;
      if (this.failure === this.#unread) this.failure = null;
      this.#unread = null;
    } catch (error) {
      this.failure = this.#unread = failureOf(error);
    }
    this.loaded = true;
  }

  async layBeside(id: number | null): Promise<void> {
    await this.#trying(async () => {
      this.beside = id === null ? null : await this.#app.service.lab({ lab: id });
    });
  }

  /** Measures this machine. Cancelled or failed, the last lab stays. */
  async measure(seconds: number): Promise<void> {
    if (this.measuring) return;
    const nothing = { seconds, turns: [], progress: null, measured: new Map(), pausedRuns: 0, cancelling: false };
    this.failure = null;
    this.measuring = nothing;
    try {
      if (this.#app.devices.length === 0) await this.#app.loadDevices();
    } catch (error) {
      this.failure = failureOf(error);
      this.measuring = null;
      return;
    }
    const { shares } = chooseTargets(this.#app.devices);
    const whole = shares.reduce((sum, { weight }) => sum + weight, 0);
    const { devices } = this.#app;
    const turns = shares.map(({ target: { id, kind }, weight }) => ({
      id,
      kind,
      software:
        kind === 'gpu' && !devices.some((device) => device.kind === 'gpu' && device.available && !device.software),
      seconds: (seconds * weight) / whole,
    }));
    const pausedRuns = this.#running();
    this.measuring = { ...nothing, turns, pausedRuns };
    try {
      await this.#app.service.measureLab({ seconds });
      this.measuring = null;
      await this.load();
      this.#app.announcer.say(`This machine is measured. ${this.words}`);
    } catch (error) {
      if (!wasCancelled(error)) this.failure = failureOf(error);
      else this.#app.announcer.say('Measuring was cancelled; the last lab is kept.');
    } finally {
      this.measuring = null;
    }
  }

  /** Times two devices in turns; what came of it is under `key`. Cancelled or failed, what was timed before is there again. */
  async race(key: string, request: RaceRequest): Promise<void> {
    if (this.measuring || this.racing) return;
    const before = this.timed;
    this.failure = null;
    const pausedRuns = this.#running();
    this.racing = { key, done: 0, points: request.points.length, pausedRuns };
    try {
      const races = await this.#app.service.timeRaces(request);
      this.timed = new Map(this.timed).set(key, races);
      this.#app.announcer.say('Both devices were timed.');
    } catch (error) {
      this.timed = before;
      if (!wasCancelled(error)) this.failure = failureOf(error);
      else this.#app.announcer.say('Timing was cancelled.');
    } finally {
      this.racing = null;
    }
  }

  #running(): number {
    return this.#app.activeRuns.list.filter(({ state }) => state === 'running').length;
  }

  async cancel(): Promise<void> {
    if (this.racing) return this.#app.service.cancelLab();
    if (!this.measuring) return;
    this.measuring = { ...this.measuring, cancelling: true };
    await this.#app.service.cancelLab();
  }

  async export(): Promise<void> {
    const shown = this.mine;
    if (!shown) return;
    await this.#trying(async () => {
      const { saved } = await this.#app.service.exportLab({ lab: shown.id });
      if (saved) this.#app.toasts.show(`Saved as ${saved}`);
    });
  }

  /** Takes up a lab of another machine, or an older one, and lays it beside. */
  async import(): Promise<void> {
    await this.#trying(async () => {
      const chosen = await this.#app.service.choose({ kind: 'file' });
      if (!chosen) return;
      const record = await this.#app.service.importLab({ token: chosen.token });
      await this.load();
      if (record.id !== this.mine?.id) this.beside = record;
    });
  }

  async remove(id: number): Promise<void> {
    await this.#trying(async () => {
      await this.#app.service.deleteLab({ lab: id });
      await this.load();
    });
  }

  async #trying(work: () => Promise<void>): Promise<void> {
    this.failure = null;
    try {
      await work();
    } catch (error) {
      this.failure = failureOf(error);
    }
  }

  #take(progress: LabProgress): void {
    if (!this.measuring) return;
    const { measured } = progress;
    const known = measured ? new Map(this.measuring.measured).set(progress.device, measured) : this.measuring.measured;
    this.measuring = { ...this.measuring, progress, measured: known };
  }
}

const desks = new WeakMap<AppState, LabDesk>();

/** The desk of this window. */
export function labDesk(app: AppState): LabDesk {
  let desk = desks.get(app);
  if (!desk) {
    desk = new LabDesk(app);
    desks.set(app, desk);
  }
  return desk;
}
