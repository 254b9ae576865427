// When each waiting run begins and ends, by the forecasts of what they take: the queue is worked off in thought, by the same rules by which it
// is worked off (schedule.ts, holdOf). Pure but for `readQueuePlan`, which reads what is needed from the history.

import { holdOf, inOrder, placeOf, type PlannedRun, type QueuePlace } from '../protocol/queue.ts';
import type { RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';
import { claimOf } from './claim.ts';
import { readAtOnce, readQueue } from './queue.ts';
import { turns, type Claim, type Room } from './schedule.ts';
import { roomFor, type Machine } from './turns.ts';

export interface Going {
  readonly claim: Claim;
  /** Milliseconds since 1970; null: nobody knows. */
  readonly ends: number | null;
}

export interface Awaiting {
  readonly claim: Claim;
  readonly place: QueuePlace;
  /** Milliseconds from its beginning to its end; null: nobody knows. */
  readonly takes: number | null;
  /** When it is to be done, in milliseconds since 1970: that is its end, unless it begins too late. */
  readonly until?: number;
}

export interface QueueState {
  readonly room: Room;
  readonly going: readonly Going[];
  /** In any order. */
  readonly waiting: readonly Awaiting[];
  readonly paused: boolean;
  /** Runs that waiting ones wait for, beside these, and that have not ended. */
  readonly open: ReadonlySet<number>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** In the order of the queue. What begins behind a run whose end nobody knows has no times, nor has what is held back for good. */
export function planQueue({ room, going, waiting, paused, open, now }: QueueState): readonly PlannedRun[] {
  const order = waiting.toSorted((a, b) => inOrder(a.place, b.place) || a.claim.run - b.claim.run);
  const times = new Map<number, Omit<PlannedRun, 'run'>>();
  const byRun = new Map(order.map((each) => [each.claim.run, each]));
  const unended = new Set([...open, ...going.map(({ claim }) => claim.run), ...byRun.keys()]);
  let left = order;
  let busy = [...going];
  for (let time = now; left.length > 0;) {
    const may = left.filter(({ place }) => holdOf(place, { paused, open: unended }, time) === null);
    const using = busy.map(({ claim }) => claim);
    const waits = may.map(({ claim }) => claim);
    for (const { run, threads } of turns(room, using, waits)) {
      const { claim, takes, until } = byRun.get(run)!;
      const late = until !== undefined && until <= time;
      const ends = late ? time : (until ?? (takes === null ? null : time + takes));
      times.set(run, { starts: time, ends, late });
      busy.push({ claim: { ...claim, threads: threads || claim.threads }, ends });
    }
    left = left.filter(({ claim }) => !times.has(claim.run));
    const next = Math.min(
      ...busy.flatMap(({ ends }) => ends ?? []),
      ...left.flatMap(({ place: { notBefore = 0 } }) => (notBefore > time ? [notBefore] : [])),
    );
    if (next === Infinity) break;
    // What takes longer than was thought ends any moment.
    time = Math.max(time, next);
    for (const { claim, ends } of busy) if (ends !== null && ends <= time) unended.delete(claim.run);
    busy = busy.filter(({ claim }) => unended.has(claim.run));
  }
  const unknown = { starts: null, ends: null, late: false } as const;
  return order.map(({ claim: { run } }) => ({ run, ...(times.get(run) ?? unknown) }));
}

const fields = ['id', 'state', 'config', 'queue', 'progress', 'device', 'threads'] as const;
type Planned = Pick<RunRecord, (typeof fields)[number]>;

/** Runs at most of which it is said when they begin: the plan of more is nothing that anybody reads. */
export const mostPlanned = 1_000;

/** The plan of the queue as it stands in the history, for a machine that works it off as the app does; none where too many wait. */
export async function readQueuePlan(
  store: Pick<StoreService, 'runs' | 'run' | 'updateRun' | 'getSetting' | 'setSetting'>,
  machine: Machine,
  now: number,
): Promise<readonly PlannedRun[]> {
  const [view, atOnce, { runs, total }] = await Promise.all([
    readQueue(store),
    readAtOnce(store),
    store.runs({ states: ['running', 'paused', 'queued'], withoutFolds: true, limit: mostPlanned, fields }),
  ]);
  if (total > mostPlanned) return [];
  const going = runs.filter(({ state }) => state !== 'queued').map((run) => goingOf(run, machine, now));
  const waiting = runs.filter(({ state }) => state === 'queued').map((run) => awaitingOf(run, machine));
  const room = roomFor(
    machine,
    atOnce,
    going.map(({ claim }) => claim),
  );
  return planQueue({ room, going, waiting, paused: view.paused, open: view.open, now });
}

/** What it uses it has said, once it trains; a run that is paused ends nobody knows when. */
function goingOf(
  { id, state, config, queue, progress, device, threads }: Planned,
  machine: Machine,
  now: number,
): Going {
  const asked = claimOf(id, config, queue?.bytes ?? null, machine.cores);
  const said = device !== '' && config.devices === undefined;
  const kind = device.startsWith('gpu') ? 'gpu' : 'cpu';
  const claim = said ? ({ ...asked, device: kind, threads: Math.max(1, threads) } as const) : asked;
  const left = progress?.secondsLeft ?? null;
  if (state === 'paused') return { claim, ends: null };
  if (config.until !== undefined) return { claim, ends: Math.max(now, config.until) };
  return { claim, ends: left === null ? null : now + Math.round(1_000 * left) };
}

function awaitingOf({ id, config, queue, progress }: Planned, machine: Machine): Awaiting {
  const claim = claimOf(id, config, queue?.bytes ?? null, machine.cores);
  // One that was stopped to go on later has less to do.
  const seconds = progress?.secondsLeft ?? queue?.seconds ?? null;
  // The one that never has more than a thread.
  const alone = config.learner === 'linear' ? { ...claim, threads: 1 } : claim;
  return {
    claim: alone,
    place: placeOf({ id, queue }),
    takes: seconds === null ? null : Math.round(1_000 * seconds),
    ...(config.until === undefined ? {} : { until: config.until }),
  };
}
