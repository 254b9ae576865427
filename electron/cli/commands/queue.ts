// `queue`: what waits to be trained, its order, and working it off without the app.

import { InputError } from '../../../engine/protocol/errors.ts';
import type { Hold } from '../../../engine/protocol/queue.ts';
import { doneByThen, inTurn, holdOf, mostAtOnce, mostCuts, placeOf } from '../../../engine/protocol/queue.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { declarationOf } from '../../../engine/learners/declared/registry.ts';
import {
  changeQueue,
  isQueuePaused,
  moveInQueue,
  pauseQueue,
  queueCut,
  readQueue,
  waitingRuns,
} from '../../../engine/runs/queue.ts';
import { about } from '../about.ts';
import { doneByText } from '../../../engine/protocol/deadline.ts';
import { readQueuePlan } from '../../../engine/runs/queue-plan.ts';
import { machineHere } from '../../../engine/system/cores.ts';
import { numberOption, runNumber, textOption, type Command, type CommandContext } from '../command.ts';
import { counted, formatBytes, formatNumber, formatTime } from '../output.ts';
import { priorityOf, timeOf } from '../queue-options.ts';
import { managerOf, queueManagerOf } from '../run-manager.ts';
import { headline } from './runs.ts';
import { wayOn } from './train.ts';

type Store = Awaited<CommandContext['services']['store']>;

export const queue: Command = {
  ...about.queue,
  positionals: [0, 2],
  options: {
    to: { type: 'string', value: 'N', help: 'move: to this place, 1 is the first' },
    before: { type: 'string', value: 'RUN', help: 'move: in front of this run' },
    priority: { type: 'string', value: 'high|normal|low', help: 'move: behind all of this priority' },
    by: { type: 'string', value: 'TIME', help: 'what is done by then, by the forecasts (default 7:00)' },
    'at-once': {
      type: 'string',
      value: 'N',
      help: 'run: so many train at a time (default: as in Settings, else as cores and memory allow)',
    },
  },
  run: async (context) => {
    const [word, run, ...rest] = context.positionals;
    if (word === 'move' && run !== undefined && rest.length === 0) return move(context, runNumber(run));
    if (run === undefined) {
      if (word === undefined) return list(context);
      if (word === 'pause' || word === 'resume') return setPaused(context, word === 'pause');
      if (word === 'clear') return clear(context);
      if (word === 'run') return workOff(context);
    }
    throw new InputError(
      'usage.arguments',
      `queue ${context.positionals.join(' ')} says nothing to do.`,
      'queue, queue move RUN --to N, queue pause, queue resume, queue clear, or queue run.',
    );
  },
};

const holdText = (hold: Hold | null): string => {
  if (hold === null) return '';
  if (hold.kind === 'paused') return 'queue is paused';
  return hold.kind === 'after' ? `after run ${hold.run}` : `from ${formatTime(hold.until)}`;
};

/** When those who went to bed look again. */
const usualBy = '7:00';

async function list({ options, output, services }: CommandContext): Promise<void> {
  const by = timeOf('by', textOption(options, 'by') ?? usualBy, new Date());
  const store = await services.store;
  const view = await readQueue(store);
  const query = { states: ['queued'], withoutFolds: true, limit: view.places.size + 1 } as const;
  const rows = inTurn((await store.runs(query)).runs);
  // What holds a run back by itself: that the queue is paused is said once.
  const holds = rows.map((run) => holdOf(placeOf(run), { ...view, paused: false }, Date.now()));
  const plan = await readQueuePlan(store, machineHere(), Date.now());
  const planned = new Map(plan.map((each) => [each.run, each]));
  const then = doneByThen(plan, by);
  output.event({ event: 'queue', paused: view.paused, waiting: rows.length });
  await output.events(
    rows.map((run, at) => {
      const { starts = null, ends = null, late = false } = planned.get(run.id) ?? {};
      return { event: 'waiting', place: at + 1, run: run.id, name: run.name, ...placeOf(run), starts, ends, late };
    }),
  );
  output.event({ event: 'plan', by, ...then });
  if (output.json) return;
  if (view.paused) output.line('The queue is paused: `trainyard queue resume` lets it go on.');
  if (rows.length === 0) return output.line('Nothing waits.');
  output.table(
    rows.map((run, at) => ({ run, at })),
    [
      { title: 'place', value: ({ at }) => String(at + 1), right: true },
      { title: 'run', value: ({ run }) => String(run.id), right: true },
      { title: 'name', value: ({ run }) => run.name },
      { title: 'dataset', value: ({ run }) => run.datasetName },
      { title: 'model', value: ({ run }) => declarationOf(run.config).label(run.config) },
      { title: 'device', value: ({ run }) => run.config.device },
      { title: 'memory', value: ({ run }) => (run.queue?.bytes ? formatBytes(run.queue.bytes) : ''), right: true },
      { title: 'priority', value: ({ run }) => run.queue?.priority ?? '' },
      { title: 'waits', value: ({ at }) => holdText(holds[at]) },
      { title: 'starts', value: ({ run }) => plannedText(planned.get(run.id)?.starts) },
      {
        title: 'ends',
        value: ({ run }) => (planned.get(run.id)?.late ? 'too late' : plannedText(planned.get(run.id)?.ends)),
      },
    ],
  );
  output.line(doneByText(then, by, Date.now()));
}

const plannedText = (time: number | null | undefined): string =>
  time === null || time === undefined ? 'unknown' : formatTime(time);

async function move({ options, output, services }: CommandContext, run: number): Promise<void> {
  const store = await services.store;
  const to = numberOption(options, 'to', { minimum: 1, whole: true });
  const before = textOption(options, 'before');
  const priority = textOption(options, 'priority');
  if ([to, before, priority].filter((each) => each !== undefined).length !== 1) {
    throw new InputError(
      'usage.arguments',
      'queue move takes --to N, --before RUN or --priority high|normal|low.',
      'Place 1 is the first.',
    );
  }
  if (priority !== undefined) await changeQueue(store, { run, priority: priorityOf(priority) });
  else await moveInQueue(store, run, to === undefined ? await placeBefore(store, run, runNumber(before!)) : to - 1);
  const place = (await waitingRuns(store)).findIndex(({ id }) => id === run) + 1;
  output.event({ event: 'moved', run, place });
  output.line(`Run ${run} waits at place ${place}.`);
}

async function placeBefore(
  store: Awaited<CommandContext['services']['store']>,
  run: number,
  before: number,
): Promise<number> {
  if (before === run)
    throw new InputError('input.queue', `Run ${run} cannot stand in front of itself.`, 'Name another.');
  const others = (await waitingRuns(store)).filter(({ id }) => id !== run);
  const place = others.findIndex(({ id }) => id === before);
  if (place >= 0) return place;
  throw new InputError('input.queue', `Run ${before} does not wait.`, 'See `trainyard queue`.');
}

async function setPaused({ output, services }: CommandContext, paused: boolean): Promise<void> {
  await pauseQueue(await services.store, paused);
  output.event({ event: 'queue', paused });
  output.line(paused ? 'The queue is paused: what trains goes on, nothing new begins.' : 'The queue goes on.');
}

async function clear(context: CommandContext): Promise<void> {
  const { output, services } = context;
  const { manager } = await managerOf(services);
  const waiting = await waitingRuns(await services.store);
  for (const { id } of waiting) await manager.stop({ run: id });
  await manager.stopAll();
  output.event({ event: 'cleared', runs: waiting.map(({ id }) => id) });
  output.line(
    waiting.length === 0
      ? 'Nothing waits.'
      : `${counted(waiting.length, 'run')} taken out of the queue; \`trainyard train --resume RUN\` trains one all the same.`,
  );
}

/** How often it is looked for runs that came into the queue meanwhile. */
const checkMilliseconds = 500;

function endText(run: RunRecord): string {
  const best = headline(run);
  const score = best === null ? '' : `, ${best.name.replace('_', ' ')} ${formatNumber(best.value)}`;
  return `Run ${run.id} (“${run.name}”) is ${run.state}${score}${run.error ? `: ${run.error.message} ${run.error.hint}${wayOn(run)}` : ''}`;
}

const runsText = (runs: readonly number[]): string => runs.map((run) => `run ${run}`).join(', ');

/** How far those are that train. */
function barOf(going: ReadonlyMap<number, number>): readonly [number, string] {
  const shares = [...going].map(([run, share]) => `run ${run} ${Math.floor(100 * share)} %`);
  const sum = [...going.values()].reduce((all, share) => all + share, 0);
  return [sum / going.size, going.size === 1 ? `run ${[...going.keys()][0]}` : shares.join(', ')];
}

/** Runs of the queue that are not this command's and not nobody's: it has taken over those. */
async function othersRuns(store: Store, own: ReadonlySet<number>): Promise<readonly number[]> {
  const query = { states: ['running', 'paused', 'queued'], withoutFolds: true, fields: ['id', 'queue'] } as const;
  return inTurn((await store.runs(query)).runs).flatMap(({ id }) => (own.has(id) ? [] : [id]));
}

/** Trains what waits, several at once where there is room, until nothing does that may begin. A signal stops it; what trained then stands first. */
async function workOff(context: CommandContext): Promise<void> {
  const { options, output, services, interruption } = context;
  const atOnce = numberOption(options, 'at-once', { minimum: 1, maximum: mostAtOnce, whole: true });
  const store = await services.store;
  const manager = await queueManagerOf(services, atOnce);
  let stopping = false;
  let leaving: Promise<void> | null = null;
  /** Once, whoever asks for it: a run that stands in the queue again is nobody's here. */
  const leave = (): Promise<void> => (leaving ??= manager.stopAll({ queue: true }));
  const deafen = interruption.listen((again) => {
    stopping = true;
    if (again) for (const run of manager.active()) manager.stop({ run, now: true }).catch(() => undefined);
    else output.note('Stops; what has not ended waits in the queue, and goes on from where it is.');
    leave().catch(() => undefined);
  });
  const taken = new Map<number, Promise<void>>();
  const going = new Map<number, number>();
  const follow = async (run: number): Promise<void> => {
    const ended = await manager.finished({ run });
    going.delete(run);
    if (stopping) return;
    const { state, error } = ended;
    output.event({ event: 'ended', run, state, ...(error ? { error } : {}) });
    output.line(endText(ended));
  };
  manager.onReport(({ run, progress }) => {
    // A cross-validation tells of its folds.
    if (!taken.has(run)) return;
    if (!going.has(run)) output.event({ event: 'started', run });
    going.set(run, progress.step / Math.max(1, progress.steps));
    output.bar(...barOf(going));
  });
  const take = async (): Promise<void> => {
    if (stopping) return;
    const { goOn, left } = await queueCut(store);
    if (goOn.length > 0) output.note(`Goes on with ${runsText(goOn)}: what worked the queue off was killed.`);
    for (const run of left)
      output.note(
        `Run ${run} was cut short ${mostCuts} times in a row without coming farther: \`trainyard train --resume ${run}\` tries again.`,
      );
    for (const run of await manager.adopt())
      taken.set(
        run,
        follow(run).catch(() => undefined),
      );
  };
  // Runs whose process is lost meanwhile are found for whoever listens.
  const stopListening = store.onChanged(() => undefined);
  try {
    await store.recover();
    for (await take(); !stopping && manager.active().length > 0; await take()) {
      if (manager.begun().length === 0 && (await isQueuePaused(store))) break;
      await new Promise((resolve) => setTimeout(resolve, checkMilliseconds));
    }
    const left = new Set(manager.active());
    // One that is stopped may be nobody's already.
    const elsewhere = stopping ? [] : await othersRuns(store, new Set([...taken.keys(), ...left]));
    await leave();
    // Each end is told before the last line; what never began has none.
    if (!stopping) await Promise.all([...taken].flatMap(([run, told]) => (left.has(run) ? [] : [told])));
    output.clearBar();
    const waiting = (await waitingRuns(store)).length;
    if (elsewhere.length > 0)
      output.note(
        `Another process has ${runsText(elsewhere)}: the app, or another \`trainyard queue run\`, trains what it has.`,
      );
    if (waiting > 0 && (await isQueuePaused(store)))
      output.note('The queue is paused: `trainyard queue resume` lets it go on.');
    output.event({ event: 'finished', waiting });
    output.line(waiting === 0 ? 'Nothing waits any more.' : `${counted(waiting, 'run')} left in the queue.`);
  } finally {
    stopListening();
    deafen();
  }
}
