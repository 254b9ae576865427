// What trains and what waits, kept up to date; and the changes a person makes to the order.

import type { AppService } from '../../../engine/protocol/app.ts';
import {
  inTurn,
  placeAt,
  placeOf,
  placeWithin,
  type PlannedRun,
  type Priority,
  type QueueChange,
} from '../../../engine/protocol/queue.ts';
import type { PowerHold } from '../../../engine/protocol/choices.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import type { RecordField } from '../../../engine/protocol/store.ts';
import { failureOf, type Failure } from '../../app/failure.ts';
import { dayAndTime, dayOfYear, timeOfDay } from '../../lib/format.ts';
import { throttle } from '../../lib/throttle.ts';

const fields = [
  'id',
  'name',
  'state',
  'datasetName',
  'device',
  'threads',
  'queue',
  'progress',
] as const satisfies readonly RecordField[];
export type QueuedRun = Pick<RunRecord, (typeof fields)[number]>;

/** Runs shown at most. */
const most = 10_000;
/** How often it is asked whether another process has paused the queue: no other change tells of it. */
const pausePoll = 2_000;
/** How often the plan is made anew while nothing changes but the clock. */
const planPoll = 10_000;

const idsOf = (runs: readonly Pick<RunRecord, 'id'>[]): readonly number[] => runs.map(({ id }) => id);

export class Queue {
  training: readonly QueuedRun[] = $state.raw([]);
  waiting: readonly QueuedRun[] = $state.raw([]);
  paused = $state(false);
  /** What else holds all runs: battery, heat. */
  power: PowerHold | null = $state(null);
  /** When waiting runs begin and end, by the forecasts. */
  plan: readonly PlannedRun[] = $state.raw([]);
  loaded = $state(false);
  failure: Failure | null = $state.raw(null);
  readonly #service: AppService;

  constructor(service: AppService) {
    this.#service = service;
  }

  /** Follows the history; returns the function that stops it. */
  follow(): () => void {
    const refresh = throttle(() => void this.refresh(), 250);
    const stop = this.#service.onRunsChanged(({ runs, trained }) => {
      if (runs.length > trained.length) refresh();
    });
    const timer = setInterval(() => void this.#readPause(), pausePoll);
    const planTimer = setInterval(() => void this.#readPlan(), planPoll);
    void this.refresh();
    return () => {
      stop();
      clearInterval(planTimer);
      clearInterval(timer);
    };
  }

  async refresh(): Promise<void> {
    const [{ runs }] = await Promise.all([
      this.#service.runs({ states: ['running', 'paused', 'queued'], withoutFolds: true, limit: most, fields }),
      this.#readPause(),
    ]);
    this.training = runs.filter(({ state }) => state !== 'queued').toSorted((a, b) => a.id - b.id);
    this.waiting = inTurn(runs.filter(({ state }) => state === 'queued'));
    this.loaded = true;
    await this.#readPlan();
  }

  /** After what is shown anyway: it takes longer, and the list is whole without it. */
  async #readPlan(): Promise<void> {
    this.plan = this.waiting.length === 0 ? [] : await this.#service.queuePlan().catch(() => []);
  }

  async #readPause(): Promise<void> {
    [this.paused, this.power] = await Promise.all([this.#service.queuePaused(), this.#service.powerHold()]);
  }

  async setPaused(paused: boolean): Promise<void> {
    await this.#try(() => this.#service.pauseQueue({ paused }));
  }

  /**
   * To where it stands in `order`, by its neighbours there: others may begin meanwhile. The list shows it at once. `priority`: other than the
   * one it has. Returns whether it waits at all.
   */
  async move(run: number, order: readonly number[], priority?: Priority): Promise<boolean> {
    const moved = this.waiting.find(({ id }) => id === run);
    if (!moved) return false;
    const others = this.waiting.filter(({ id }) => id !== run);
    const to = placeWithin(order, run, idsOf(others));
    const placed = { ...placeOf(moved), priority: placeAt(others, to, priority ?? placeOf(moved).priority).priority };
    this.waiting = [...others.slice(0, to), { ...moved, queue: placed }, ...others.slice(to)];
    await this.#try(async () => {
      const waiting = { states: ['queued'], withoutFolds: true, limit: most, fields: ['id', 'queue'] } as const;
      const now = idsOf(inTurn((await this.#service.runs(waiting)).runs)).filter((id) => id !== run);
      await this.#service.changeQueue({ run, to: placeWithin(order, run, now), ...(priority && { priority }) });
    });
    return true;
  }

  /** What it waits for; null takes it away. */
  async hold(run: number, hold: Pick<QueueChange, 'priority' | 'after' | 'notBefore'>): Promise<void> {
    await this.#try(() => this.#service.changeQueue({ run, ...hold }));
  }

  /** Takes a run out: it is stopped before it has begun. */
  async takeOut(run: number): Promise<void> {
    await this.#try(() => this.#service.stopRun({ run }));
  }

  /** A run that was taken out waits again, where it stood. */
  async putBack({ id }: QueuedRun): Promise<void> {
    await this.#try(async () => void (await this.#service.resumeRun({ run: id })));
  }

  async #try(work: () => Promise<void>): Promise<void> {
    this.failure = null;
    try {
      await work();
    } catch (error) {
      this.failure = failureOf(error);
    }
    await this.refresh();
  }
}

/** Its priority where that is not the usual one, and what a waiting run waits for besides its turn; empty: nothing. */
export function heldText(run: QueuedRun, names: ReadonlyMap<number, string>, now: number): string {
  const { after, notBefore, priority = 'normal' } = placeOf(run);
  const parts = [
    ...(priority === 'normal' ? [] : [`${priority} priority`]),
    ...(after !== undefined && names.has(after) ? [`after ${names.get(after)}`] : []),
    ...(notBefore !== undefined && notBefore > now ? [`from ${dayAndTime(notBefore, now)}`] : []),
  ];
  return parts.join(', ');
}

/** `19:40 – 21:05`, as far as it is known; a day is named where it is a day off or more: `23:10 – 01:12` is the next night. */
export function planText({ starts, ends, late }: PlannedRun, now: number): string {
  if (starts === null) return 'unknown';
  const start = `${dayText(starts, now)}${timeOfDay(starts)}`;
  if (late) return `${start}, too late`;
  return `${start} – ${ends === null ? '?' : `${dayText(ends, starts)}${timeOfDay(ends)}`}`;
}

/** Empty: the clock alone says which time is meant. */
function dayText(time: number, after: number): string {
  if (time - after < 24 * 3_600_000) return '';
  return `${dayOfYear(time)} `;
}
