// A training that comes back from elsewhere becomes a run of the history, beside the run that was exported. The same folder read twice is
// the same run.

import { declarationOf } from '../learners/declared/registry.ts';
import type { ReturnedRun } from '../protocol/returned.ts';
import type { RunProgress, RunRecord, RunResult } from '../protocol/runs.ts';
import type { Family, NewRun, StoreService } from '../protocol/store.ts';
import { keepFinished, type FinishedStore } from './keep-finished.ts';

type Store = FinishedStore & Pick<StoreService, 'run' | 'runs'>;

/** Runs of a dataset among which the same training is looked for. */
const mostRuns = 100_000;

/** The run of it: a new one, or the one that it became before. */
export async function importReturned(request: {
  readonly store: Store;
  readonly returned: ReturnedRun;
  readonly owner: NewRun['owner'];
  /** Default: that of the run it comes from, and that it was elsewhere. */
  readonly name?: string;
}): Promise<{ readonly run: RunRecord; readonly again: boolean }> {
  const { store, returned, owner } = request;
  const { origin, files, points, parameters } = returned;
  const { dataset, datasetName, config } = origin;
  const result = resultOf(returned);
  const states = [result.reason === 'diverged' ? 'diverged' : 'completed'] as const;
  const there = await store.runs({ dataset, states, deleted: false, fields: ['id', 'result'], limit: mostRuns });
  // Nothing trains for the same time to the microsecond and to the same scores but the same training.
  const same = (other: RunResult | null): boolean =>
    other?.seconds === result.seconds && JSON.stringify(other.metrics) === JSON.stringify(result.metrics);
  const known = there.runs.find((run) => same(run.result));
  if (known) return { run: await store.run({ run: known.id }), again: true };
  const parent = await parentOf(store, returned);
  const family: Family | undefined = parent === null ? undefined : { parent, relation: 'trained elsewhere', start: {} };
  const name = request.name?.trim() || `${origin.name}, elsewhere`;
  const run = await keepFinished(store, {
    run: { name, dataset, datasetName, config, owner, ...(family && { family }) },
    files,
    points,
    log: returnedSentences(returned, parent),
    ended: {
      ...{
        state: states[0],
        device: result.device,
        threads: result.threads,
        parameters,
        result,
        progress: progressOf(returned),
      },
      ...(origin.data && { data: origin.data }),
    },
  });
  return { run, again: false };
}

/** The run that was exported, where it is of this history and still there. */
async function parentOf(store: Store, { origin }: ReturnedRun): Promise<number | null> {
  const found = await store.run({ run: origin.run }).catch(() => null);
  return found?.createdAt === origin.createdAt && found.dataset === origin.dataset ? origin.run : null;
}

const whereOf = ({ result: { processes, device, torch } }: ReturnedRun): string =>
  `${processes === 1 ? 'one process' : `${processes} processes`} on ${device}, PyTorch ${torch}`;

/** What people are told of it; `parent`: the run it comes from, where it is here. */
export function returnedSentences(returned: ReturnedRun, parent: number | null): readonly string[] {
  const { origin, source } = returned;
  const from = parent === null ? `run ${origin.run} (${origin.name}), which is not in this history,` : `run ${parent}`;
  return [`Trained elsewhere from ${from} by ${whereOf(returned)}; read from ${source}.`];
}

function progressOf({ result, origin }: ReturnedRun): RunProgress {
  const { epochs: epoch, steps: step, seconds, examplesPerSecond } = result;
  const planned = declarationOf(origin.config).units(origin.config);
  return {
    ...{ epoch, step, examplesPerSecond },
    ...{ epochs: planned, steps: Math.round((step / Math.max(1, epoch)) * planned) },
    ...{ secondsTraining: seconds, secondsElapsed: seconds, secondsLeft: 0, loss: null },
  };
}

function resultOf(returned: ReturnedRun): RunResult {
  const { reason, epochs, steps, seconds, examplesPerSecond, bestEpoch, processes, kind, metrics } = returned.result;
  return {
    ...{ reason, epochs, steps, seconds, examplesPerSecond, bestEpoch, metrics },
    ...{ device: kind, threads: processes },
    remark: `${epochs === 1 ? '1 epoch' : `${epochs} epochs`}, ${steps} steps elsewhere, by ${whereOf(returned)}`,
    ...(reason === 'diverged' && {
      divergence: {
        step: steps,
        message: `The loss was no number any more at step ${steps}.`,
        hint: 'The weights of the best epoch before are kept: train again with a smaller learning rate.',
      },
    }),
  };
}
