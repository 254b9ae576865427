// The queue: waiting runs of the history, in their order. Every process that works it off, and everyone who looks at it, goes by these
// few functions; the order and what holds a run back stand in its row.

/** Those of a higher priority begin first, whatever their places: low ones when nothing else may. */
export const priorities = ['high', 'normal', 'low'] as const;
export type Priority = (typeof priorities)[number];

/** Where a waiting run stands, and what it waits for besides its turn. */
export interface QueuePlace {
  /** Runs begin in this order; fractions lie between others. Absent places are those of a run that nobody has moved: its number. */
  readonly position: number;
  /** Absent: normal. */
  readonly priority?: Priority;
  /** Begins when this run has ended, however it ended. */
  readonly after?: number;
  /** Begins no earlier than this: milliseconds since 1970. */
  readonly notBefore?: number;
  /** Bytes it is going to take, by the forecast. Absent: nobody knows. */
  readonly bytes?: number;
  /** Seconds it is going to take, by the forecast; at most, where it may stop early. Absent: nobody knows. */
  readonly seconds?: number;
  /** Whoever works the queue off trains it, and nobody has paused it: cut short with its process, it goes on by itself. */
  readonly taken?: boolean;
  /** The farthest step it had come to when it was put back so, and how often it has been since it came there. */
  readonly cut?: { readonly step: number; readonly times: number };
}

/** Without what is remembered of earlier attempts: a person has decided on it since. */
export const unmarked = (queue: QueuePlace): QueuePlace => ({ ...queue, taken: undefined, cut: undefined });

/** Runs that trained when the process was lost that worked the queue off. */
export interface CutRuns {
  /** They wait again, first, in this order, and go on from their checkpoints. */
  readonly goOn: readonly number[];
  /** They were put back several times in a row without coming farther: they wait for a person. */
  readonly left: readonly number[];
}

/** Milliseconds that the note on them stays: nobody has asked for what it tells. */
export const cutNoteLife = 20_000;

/** Times in a row that a run is put back without having come farther. */
export const mostCuts = 3;

/** When a waiting run begins and ends, by the forecasts: milliseconds since 1970, null where nobody knows. */
export interface PlannedRun {
  readonly run: number;
  readonly starts: number | null;
  readonly ends: number | null;
  /** It would begin when it should be done, and be refused then. */
  readonly late: boolean;
}

/** What of a plan is done by a time. */
export interface DoneByThen {
  readonly done: readonly number[];
  readonly late: readonly number[];
  /** Nobody knows when they end. */
  readonly unknown: readonly number[];
}

export function doneByThen(plan: readonly PlannedRun[], by: number): DoneByThen {
  const runs = (of: (planned: PlannedRun) => boolean): readonly number[] => plan.filter(of).map(({ run }) => run);
  const isDone = ({ ends, late }: PlannedRun): boolean => !late && ends !== null && ends <= by;
  const isUnknown = ({ starts, ends }: PlannedRun): boolean => ends === null && (starts === null || starts < by);
  return {
    done: runs(isDone),
    late: runs((planned) => !isDone(planned) && !isUnknown(planned)),
    unknown: runs(isUnknown),
  };
}

/** What a new run asks of the queue. */
export interface QueueWish {
  readonly first?: boolean;
  readonly priority?: Priority;
  readonly after?: number;
  readonly notBefore?: number;
  /** It is only put there: whoever works the queue off trains it. */
  readonly only?: boolean;
}

/** The owner of runs that wait for whoever works the queue off: no process has this number. */
export const nobody = { pid: 0, startedAt: 0 } as const;

/** The setting of the history that says whether the queue is paused. */
export const queuePausedKey = 'queue.paused';

/** The setting of the history that says how many runs train at a time; absent: by itself, as cores and memory allow. */
export const atOnceKey = 'queue.at-once';
export const mostAtOnce = 64;

/** null: by itself, whatever else stands there. */
export function atOnceOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= mostAtOnce ? value : null;
}

/** A change of a waiting run; what is absent stays as it is, null takes it away. */
export interface QueueChange {
  readonly run: number;
  /** Its place, 0 = first. */
  readonly to?: number;
  /** It stands behind all of this priority then. */
  readonly priority?: Priority;
  readonly after?: number | null;
  readonly notBefore?: number | null;
}

export interface Waiting {
  readonly id: number;
  readonly queue: QueuePlace | null;
}

export const placeOf = ({ id, queue }: Waiting): QueuePlace => queue ?? { position: id };

/** A time that people write, in milliseconds since 1970: 22:30 is the next one there is, else 2026-12-24 22:30; null: it is none. */
export function timeAsked(text: string, now: Date): number | null {
  const clock = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text.trim());
  if (!clock) return timeOfDay(text.trim());
  return nextAt(Number(clock[1]), Number(clock[2]), now);
}

/**
 * Where clocks are put back an hour is there twice, and the second one may be to come; where they are put forward one is not there: asked for
 * before, it is as many minutes after midnight.
 */
function nextAt(hours: number, minutes: number, now: Date): number {
  const at = (day: number): number => {
    const time = new Date(now);
    time.setDate(time.getDate() + day);
    return time.setHours(hours, minutes, 0, 0);
  };
  const isThere = (time: number): boolean => {
    const shown = new Date(time);
    return shown.getHours() === hours && shown.getMinutes() === minutes;
  };
  const today = at(0);
  const next = [today, today + 3_600_000].find((time) => time > now.getTime() && isThere(time));
  if (next !== undefined) return next;
  const passed = 60 * now.getHours() + now.getMinutes() >= 60 * hours + minutes;
  return today > now.getTime() && !passed ? today : at(1);
}

/** 2026-12-24T7:00, to the second and with a zone where they are written; a day alone is where it begins here. None: a day that its month has not, which would be read as one of the next. */
function timeOfDay(text: string): number | null {
  const parts = /^(\d{4}-\d\d-(\d\d))(?:[T ](\d?)(\d:.*))?$/.exec(text);
  if (!parts) return null;
  const [, date, day, tens = '', rest = '0:00'] = parts;
  const time = Date.parse(`${date}T${tens || '0'}${rest}`);
  const exists = !Number.isNaN(time) && new Date(`${date}T00:00Z`).getUTCDate() === Number(day);
  return exists ? time : null;
}

const rankOf = ({ priority = 'normal' }: Pick<QueuePlace, 'priority'>): number => priorities.indexOf(priority);

/** Of two places: below 0 where the first begins earlier. */
export const inOrder = (a: QueuePlace, b: QueuePlace): number => rankOf(a) - rankOf(b) || a.position - b.position;

/** In the order in which they begin. */
export function inTurn<Run extends Waiting>(runs: readonly Run[]): readonly Run[] {
  return [...runs].sort((a, b) => inOrder(placeOf(a), placeOf(b)) || a.id - b.id);
}

/** Those of one priority. */
export const alike = <Run extends Waiting>(runs: readonly Run[], priority: Priority): readonly Run[] =>
  runs.filter((run) => (placeOf(run).priority ?? 'normal') === priority);

/**
 * The priority and the position that a run has at place `to` (0 = first) among the others: its own priority, or the nearest that may stand
 * there. `position` null: as for `positionAt`.
 */
export function placeAt(
  others: readonly Waiting[],
  to: number,
  own: Priority = 'normal',
): { readonly priority: Priority; readonly position: number | null } {
  const order = inTurn(others);
  const at = Math.min(Math.max(0, to), order.length);
  const [above, below] = [order.at(at - 1), order.at(at)].map((run) => run && rankOf(placeOf(run)));
  const least = at > 0 ? above! : 0;
  const most = at < order.length ? below! : priorities.length - 1;
  const priority = priorities[Math.min(Math.max(least, priorities.indexOf(own)), most)];
  const before = alike(order.slice(0, at), priority).length;
  return { priority, position: positionAt(alike(order, priority), before) };
}

/**
 * The position at place `to` (0 = first) among the others of one priority, in their order. Halving the gap between two neighbours runs out of
 * digits after fifty moves to one place: null then, and they are to be numbered anew.
 */
export function positionAt(others: readonly Waiting[], to: number): number | null {
  const places = inTurn(others).map((run) => placeOf(run).position);
  const at = Math.min(Math.max(0, to), places.length);
  if (places.length === 0) return 0;
  if (at === 0) return places[0] - 1;
  // Behind the last, and before the number of every run still to come.
  const next = at === places.length ? Math.floor(places[at - 1]) + 1 : places[at];
  const between = (places[at - 1] + next) / 2;
  return between > places[at - 1] && between < next ? between : null;
}

/**
 * The place (0 = first) that a run has among the others where it stands as in `order`, which may name runs that wait no more: behind the
 * nearest before it that still waits, else before the nearest behind it.
 */
export function placeWithin(order: readonly number[], run: number, others: readonly number[]): number {
  const at = order.indexOf(run);
  const above = order.slice(0, at).findLast((id) => others.includes(id));
  if (above !== undefined) return others.indexOf(above) + 1;
  const below = order.slice(at + 1).find((id) => others.includes(id));
  return below === undefined ? others.length : others.indexOf(below);
}

/** What holds runs back. */
export interface QueueView {
  readonly paused: boolean;
  readonly places: ReadonlyMap<number, QueuePlace>;
  /** Runs that others wait for and that have not ended. */
  readonly open: ReadonlySet<number>;
}

export type Hold =
  | { readonly kind: 'paused' }
  | { readonly kind: 'after'; readonly run: number }
  | { readonly kind: 'time'; readonly until: number };

/** Why a run may not begin though it is its turn; null: it may. */
export function holdOf(place: QueuePlace, { paused, open }: Omit<QueueView, 'places'>, now: number): Hold | null {
  if (paused) return { kind: 'paused' };
  if (place.after !== undefined && open.has(place.after)) return { kind: 'after', run: place.after };
  if (place.notBefore !== undefined && place.notBefore > now) return { kind: 'time', until: place.notBefore };
  return null;
}
