// The queue as it stands in the history, for whoever works it off and whoever changes it: the app, and the command line beside it.

import { InputError } from '../protocol/errors.ts';
import {
  alike,
  atOnceKey,
  atOnceOf,
  holdOf,
  inOrder,
  inTurn,
  mostCuts,
  nobody,
  placeAt,
  placeOf,
  positionAt,
  queuePausedKey,
  type CutRuns,
  type Priority,
  type QueueChange,
  type QueuePlace,
  type QueueView,
  type QueueWish,
  type Waiting,
} from '../protocol/queue.ts';
import { finalStates, type RunConfig, type RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';
import { momentText } from '../protocol/words.ts';

type Store = Pick<StoreService, 'runs' | 'run' | 'updateRun' | 'getSetting' | 'setSetting'>;

/** Waiting runs at most that are put in order; nobody has seen so many. */
const mostWaiting = 100_000;

/** Runs that wait, in the order in which they begin; folds and members wait within their run. */
export async function waitingRuns(store: Pick<Store, 'runs'>): Promise<readonly Waiting[]> {
  const query = { states: ['queued'], withoutFolds: true, limit: mostWaiting, fields: ['id', 'queue'] } as const;
  return inTurn((await store.runs(query)).runs);
}

/** Waiting runs that somebody wants stopped. */
export async function requestsOfWaiting(store: Pick<Store, 'runs'>): Promise<readonly number[]> {
  const { runs } = await store.runs({ states: ['queued'], limit: mostWaiting, fields: ['id', 'request'] });
  return runs.flatMap(({ id, request }) => (request === 'stop' ? [id] : []));
}

export async function isQueuePaused(store: Pick<Store, 'getSetting'>): Promise<boolean> {
  return (await store.getSetting({ key: queuePausedKey })) === true;
}

/** Runs that train at a time, as a person chose; null: by itself. */
export async function readAtOnce(store: Pick<Store, 'getSetting'>): Promise<number | null> {
  return atOnceOf(await store.getSetting({ key: atOnceKey }));
}

export const pauseQueue = (store: Pick<Store, 'setSetting'>, paused: boolean): Promise<void> =>
  store.setSetting({ key: queuePausedKey, value: paused });

export async function readQueue(store: Store): Promise<QueueView> {
  const [waiting, paused] = await Promise.all([waitingRuns(store), isQueuePaused(store)]);
  const awaited = new Set(waiting.flatMap(({ queue }) => queue?.after ?? []));
  const goOn = await Promise.all([...awaited].map((run) => store.run({ run }).then(goesOn, () => false)));
  const open = new Set([...awaited].filter((_, at) => goOn[at]));
  return { paused, places: new Map(waiting.map((run) => [run.id, placeOf(run)])), open };
}

/** Whether a run has not ended: one that was cut short and goes on by itself has not. */
const goesOn = ({ state, deletedAt, queue }: RunRecord): boolean =>
  deletedAt === null && (!finalStates.has(state) || (state === 'interrupted' && queue?.taken === true));

/** Of those that wait once the queue has been read, the runs that nothing holds back, in their order; folds begin as their cross-validation has it. */
export async function mayBegin<Run extends { readonly run: number; readonly within: unknown }>(
  store: Store,
  waiting: () => readonly Run[],
): Promise<readonly Run[]> {
  if (waiting().length === 0) return [];
  const view = await readQueue(store);
  const place = ({ run }: Run): QueuePlace => view.places.get(run) ?? { position: run };
  return waiting()
    .filter((run) => run.within || holdOf(place(run), view, Date.now()) === null)
    .sort((a, b) => Number(!a.within) - Number(!b.within) || inOrder(place(a), place(b)));
}

/** A run that was stopped to go on later stands first among those that wait, for whoever works the queue off. */
export async function queueAgain(store: Store, run: number): Promise<void> {
  const record = await store.run({ run });
  if (record.state === 'stopped') await putFirst(store, record, placeOf(record));
}

async function putFirst(store: Store, { id: run, state }: Pick<RunRecord, 'id' | 'state'>, was: QueuePlace) {
  const { priority, position } = placeAt(await waitingRuns(store), 0, was.priority);
  const place = { ...was, ...worded(priority), position: position ?? 0 };
  const patch = { state: 'queued', owner: nobody, endedAt: null, result: null, error: null, request: null } as const;
  await store.updateRun({ run, patch: { ...patch, queue: place }, when: [state] });
}

/**
 * What makes a run that begins, pauses or goes on one that goes on by itself should its process be lost, or keeps it from that; nothing where
 * that is so already.
 */
export async function marked(
  store: Pick<Store, 'run'>,
  run: number,
  taken: boolean,
): Promise<{ readonly queue?: QueuePlace }> {
  const place = placeOf(await store.run({ run }));
  return (place.taken ?? false) === taken ? {} : { queue: { ...place, taken: taken || undefined } };
}

/**
 * Runs whose process was lost as it worked the queue off wait again, first of all. One that comes no farther however often it is put back stays
 * as it is, which its log says: it may be what ends its process.
 */
export async function queueCut(store: Store & Pick<StoreService, 'append'>): Promise<CutRuns> {
  const query = { states: ['interrupted'], withoutFolds: true, limit: mostWaiting } as const;
  const fields = ['id', 'state', 'queue', 'progress'] as const;
  const goOn: number[] = [];
  const left: number[] = [];
  for (const run of inTurn((await store.runs({ ...query, fields })).runs).toReversed()) {
    const place = placeOf(run);
    if (!place.taken) continue;
    const { step: farthest, times } = place.cut ?? { step: 0, times: 0 };
    const step = Math.max(farthest, run.progress?.step ?? 0);
    const cut = { step, times: step > farthest ? 1 : times + 1 };
    const isLeft = cut.times > mostCuts;
    // Another process may have been quicker.
    const isOurs = await (
      isLeft ? leave(store, run.id, { ...place, cut }) : putFirst(store, run, { ...place, cut })
    ).then(
      () => true,
      () => false,
    );
    if (isOurs) (isLeft ? left : goOn).unshift(run.id);
  }
  return { goOn, left };
}

async function leave(store: Store & Pick<StoreService, 'append'>, run: number, place: QueuePlace): Promise<void> {
  await store.updateRun({ run, patch: { queue: { ...place, taken: undefined } }, when: ['interrupted'] });
  const message = `It was cut short ${mostCuts} times in a row without coming farther, and does not go on by itself any more.`;
  await store.append({ run, points: [], log: [{ time: Date.now(), level: 'warning', message }] });
}

/**
 * The place that a new run asks for; undefined: its number's. Throws `input.unknown_run`, and `input.queue` for a run that has ended
 * already.
 */
export async function placeFor(store: Store, wish: QueueWish): Promise<QueuePlace | undefined> {
  const { after, notBefore, first, priority = 'normal' } = wish;
  if (after === undefined && notBefore === undefined && !first && priority === 'normal') return undefined;
  if (after !== undefined) await refuseEnded(store, after);
  const others = await waitingRuns(store);
  const at = first ? placeAt(others, 0, priority) : { priority, position: endOf(alike(others, priority)) };
  return {
    position: at.position ?? 0,
    ...worded(at.priority),
    ...(after === undefined ? {} : { after }),
    ...(notBefore === undefined ? {} : { notBefore }),
  };
}

/** As it is kept: what is usual has no word. */
const worded = (priority: Priority): { readonly priority?: Priority } =>
  priority === 'normal' ? { priority: undefined } : { priority };

const endOf = (others: readonly Waiting[]): number => positionAt(others, others.length) ?? 0;

/**
 * Changes where a waiting run stands and what it waits for. Throws `input.queue` for a run that does not wait, and where it would wait for
 * itself or for one that has ended.
 */
export async function changeQueue(store: Store, change: QueueChange): Promise<void> {
  const { run, to, priority, after, notBefore } = change;
  if (priority !== undefined || after !== undefined || notBefore !== undefined) {
    const record = await store.run({ run });
    if (record.state !== 'queued') throw notWaiting(run, record.state);
    if (typeof after === 'number') await refuseAfter(store, run, after);
    refuseLate(record.config, notBefore);
    const { after: heldBy, notBefore: heldUntil, ...place } = placeOf(record);
    const changed = {
      ...place,
      ...(priority !== undefined &&
        priority !== (place.priority ?? 'normal') &&
        (await behindAll(store, run, priority))),
      ...withChange('after', heldBy, after),
      ...withChange('notBefore', heldUntil, notBefore),
    };
    await store.updateRun({ run, patch: { queue: changed }, when: ['queued'] });
  }
  if (to !== undefined) await moveInQueue(store, run, to);
}

async function behindAll(store: Store, run: number, priority: Priority): Promise<Omit<QueuePlace, 'after'>> {
  const others = (await waitingRuns(store)).filter(({ id }) => id !== run);
  return { ...worded(priority), position: endOf(alike(others, priority)) };
}

function withChange(name: string, before: number | undefined, now: number | null | undefined): object {
  const value = now === undefined ? before : (now ?? undefined);
  return value === undefined ? {} : { [name]: value };
}

/** Those that a run waits for, and that these wait for. */
async function refuseAfter(store: Store, run: number, after: number): Promise<void> {
  const places = new Map((await waitingRuns(store)).map((waiting) => [waiting.id, placeOf(waiting)]));
  for (let next: number | undefined = after; next !== undefined; next = places.get(next)?.after) {
    if (next !== run) continue;
    throw new InputError(
      'input.queue',
      run === after
        ? `Run ${run} cannot wait for itself.`
        : `Run ${after} waits for run ${run}: neither would ever begin.`,
      'Choose another run.',
    );
  }
  await refuseEnded(store, after);
}

/** Throws `input.deadline` for a run that is to begin when it is to be done already. */
export function refuseLate({ until }: Pick<RunConfig, 'until'>, notBefore: number | null | undefined): void {
  if (until === undefined || typeof notBefore !== 'number' || notBefore < until) return;
  throw new InputError(
    'input.deadline',
    `A run that is to be done by ${momentText(until)} cannot wait until ${momentText(notBefore)}.`,
    'Let it begin earlier, or be done later.',
  );
}

async function refuseEnded(store: Store, after: number): Promise<void> {
  if (goesOn(await store.run({ run: after }))) return;
  throw new InputError(
    'input.queue',
    `Run ${after} has ended already: there is nothing to wait for.`,
    'Leave out what it waits for, or name a run that waits or trains.',
  );
}

/** Moves a waiting run to place `to` of the queue, 0 = first. Throws `input.queue` for a run that does not wait. */
export async function moveInQueue(store: Store, run: number, to: number): Promise<void> {
  const all = await waitingRuns(store);
  const moved = all.find(({ id }) => id === run);
  if (moved === undefined) throw notWaiting(run, (await store.run({ run })).state);
  const others = all.filter(({ id }) => id !== run);
  const { priority, position } = placeAt(others, to, placeOf(moved).priority);
  if (position !== null) {
    await place(store, moved, { ...worded(priority), position });
    return;
  }
  const order = [...others.slice(0, to), moved, ...others.slice(to)];
  for (const [at, each] of order.entries())
    await place(store, each, { ...(each === moved ? worded(priority) : {}), position: at });
}

async function place(store: Store, run: Waiting, at: QueuePlace): Promise<void> {
  await store.updateRun({ run: run.id, patch: { queue: { ...placeOf(run), ...at } }, when: ['queued'] });
}

export function notWaiting(run: number, state: RunRecord['state']): InputError {
  return new InputError('input.queue', `Run ${run} does not wait: it is ${state}.`, 'See `trainyard queue`.');
}
