// The models that a run trains as its members, kept as runs of their own: they are finished when they come, and one that comes again, after
// its run was killed and resumed, takes the place of the one before.

import { secondsOfPhases } from '../protocol/bill.ts';
import { InputError } from '../protocol/errors.ts';
import type { KeptMember } from '../protocol/hosts.ts';
import type { LeaderboardRow } from '../protocol/leaderboard.ts';
import type { MetricPoint, RunFile, RunProgress, RunRecord } from '../protocol/runs.ts';
import type { Family, NewRun, StoreService } from '../protocol/store.ts';

/** Throws InputError `input.member` for a member: `alone` says what it cannot be asked for. */
export function refuseMember({ id, parent, relation }: RunRecord, alone: string): void {
  if (relation !== 'member') return;
  throw new InputError(
    'input.member',
    `Run ${id} is a member of run ${parent}: it has a model for each fold, none that ${alone}.`,
    'Train its settings as a run of its own.',
  );
}

export interface MemberRunsOptions {
  readonly store: StoreService;
  readonly record: RunRecord;
  readonly owner: NewRun['owner'];
}

export class MemberRuns {
  readonly #options: MemberRunsOptions;
  /** Runs by the numbers of the members. */
  #known: Map<number, number> | null = null;

  constructor(options: MemberRunsOptions) {
    this.#options = options;
  }

  /** The members that an earlier attempt has kept. */
  async read(): Promise<void> {
    this.#known ??= await this.#read();
  }

  async keep({ member, title, config, parameters, result: told, files }: KeptMember): Promise<void> {
    const { spent: _, ...result } = told;
    const progress = progressOf(told);
    const { store, record, owner } = this.#options;
    await this.read();
    const { id: parent, name, dataset, datasetName, data, threads } = record;
    const family: Family = { parent, relation: 'member', start: { member } };
    const called = { name: `${name}, ${title}`, dataset, datasetName, config, owner, family };
    const run = this.#known?.get(member) ?? (await this.#create(called, result));
    this.#known?.set(member, run);
    for (const [file, bytes] of Object.entries(files))
      await store.writeFile({ run, file: file as RunFile, data: bytes });
    await store.truncate({ run, afterStep: -1 });
    await store.append({ run, points: pointsOf(result) });
    const ended = Date.now();
    const now = (await store.run({ run: parent })).data ?? data;
    await store.updateRun({
      run,
      patch: {
        ...{ state: 'completed', device: result.device, threads: threads || result.threads, parameters, result },
        ...{ startedAt: Math.round(ended - 1000 * result.seconds), endedAt: ended },
        ...(now ? { data: now } : {}),
        ...(progress ? { progress } : {}),
      },
    });
  }

  /** A leaderboard with the numbers of the runs. */
  withNumbers<T extends { readonly leaderboard?: readonly LeaderboardRow[] }>(
    { leaderboard }: T,
    own: number,
  ): Pick<T, 'leaderboard'> | object {
    if (leaderboard === undefined) return {};
    const numberOf = ({ member, learner }: LeaderboardRow): number | null => {
      if (member !== null) return this.#known?.get(member) ?? null;
      return learner === 'auto' ? own : null;
    };
    return { leaderboard: leaderboard.map((row) => ({ ...row, run: numberOf(row) })) };
  }

  /** Nobody takes it for one that waits for its turn, whenever this process is killed. */
  async #create(called: NewRun, { device }: KeptMember['result']): Promise<number> {
    const { store } = this.#options;
    const { id } = await store.createRun(called);
    await store.updateRun({ run: id, patch: { state: 'running', device } });
    return id;
  }

  async #read(): Promise<Map<number, number>> {
    const { store, record } = this.#options;
    const { runs } = await store.runs({ parent: record.id, deleted: false });
    return new Map(
      runs.flatMap(({ id, relation, start }) =>
        relation === 'member' && start?.member !== undefined ? [[start.member, id]] : [],
      ),
    );
  }
}

/** Where it stands at its end, with its share of the bill of its run. */
function progressOf({ epochs, steps, examplesPerSecond, seconds, spent }: KeptMember['result']): RunProgress | null {
  if (!spent) return null;
  return {
    ...{ epoch: epochs, epochs, step: steps, steps, examplesPerSecond, secondsTraining: seconds },
    ...{ secondsLeft: 0, loss: null, secondsElapsed: secondsOfPhases(spent.phases) },
    bill: { ...spent, cpuSeconds: spent.cpuSeconds ?? 0, gpuSeconds: 0 },
  };
}

/** What lists sort and compare by. */
function pointsOf({ metrics, steps, seconds }: KeptMember['result']): readonly MetricPoint[] {
  return Object.entries(metrics).flatMap(([series, value]) =>
    series.startsWith('test_') ? [] : [{ series, step: steps, epoch: steps, seconds, value }],
  );
}
