// Another thread that trains trials of a search: it has a copy of the rows and a device of its own, is given one trial after the other with
// all that decides how it ends, and answers with what came of it. So a trial comes to the same wherever it is trained.

import type { Backend } from '../../backends/backend.ts';
import type { PreparedData, Shard } from '../../protocol/data.ts';
import type { Port } from '../../protocol/port.ts';
import { connect, serve } from '../../protocol/rpc.ts';
import type { LogLine } from '../../protocol/runs.ts';
import type { Trial } from '../../protocol/search.ts';
import { RunControl, type Surroundings } from '../../train/control.ts';
import type { Member } from '../auto/member.ts';
import { PartRows } from '../auto/part-rows.ts';
import { matrixRecipe, RowsForMembers } from '../auto/trained.ts';
import type { LearnerJob, OtherLearners, ThreadAtWork } from '../learner.ts';
import type { SearchConfig } from './declaration.ts';
import { TrialAtWork, type TrialTask } from './trial-work.ts';

export interface TrialDone {
  readonly trial: Trial;
  /** What it learned: all of it, or of one that was stopped the folds that it had. */
  readonly member: Member | null;
  readonly said: readonly LogLine[];
}

export interface TrialPartner {
  open(rows: SearchRows): Promise<void>;
  /** Trials that are given while one is at work wait for it. */
  train(task: TrialTask): Promise<TrialDone>;
  /** What is at work is lost. */
  close(): void;
}

/** All rows of a search, the test's not read. */
export interface SearchRows {
  readonly config: SearchConfig;
  readonly data: PreparedData;
  readonly shards: readonly Shard[];
  readonly dataBudget: number;
}

interface TrialService {
  open(rows: SearchRows): Promise<void>;
  train(task: TrialTask): Promise<TrialDone>;
}

const service = 'trials';

export interface ServedTrials {
  readonly backend: () => Promise<Backend>;
  readonly surroundings: Surroundings;
  readonly others: OtherLearners;
}

export function serveTrials(port: Port, { backend, surroundings, others }: ServedTrials): void {
  let opened: { readonly job: LearnerJob; readonly rows: PartRows; readonly test: RowsForMembers } | null = null;
  let said: LogLine[] = [];
  let before: Promise<unknown> = Promise.resolve();
  let device: Promise<Backend> | null = null;
  const seconds = (): number => surroundings.clock() / 1000;

  async function train(task: TrialTask): Promise<TrialDone> {
    if (opened === null) throw new RangeError('no rows have been given');
    said = [];
    const atWork = new TrialAtWork(task, seconds, opened.job, opened.rows, opened.test);
    while (await atWork.advance()) await surroundings.breathe();
    return { trial: atWork.result(), member: atWork.member(), said };
  }

  serve<TrialService>(
    port,
    {
      async open({ config, data, shards, dataBudget }) {
        const job: LearnerJob = {
          config,
          data: { ...data, counts: { ...data.counts, test: 0 } },
          readShard: async (shard) => shards[shard],
          dataBudget,
          backend: () => (device ??= backend()),
          control: new RunControl(),
          surroundings,
          others,
          events: {
            onStarted: () => undefined,
            onReport: () => undefined,
            onPaused: () => undefined,
            onFile: () => undefined,
            onLog: (line) => void said.push(line),
          },
        };
        const rows = await PartRows.read({ ...job, data });
        opened = { job, rows, test: new RowsForMembers(job, matrixRecipe(data.preprocessing)) };
      },
      train(task) {
        const done = before.then(() => train(task));
        before = done.catch(() => undefined);
        return done;
      },
    },
    { service },
  );
}

export function connectTrials({ port, end }: ThreadAtWork): TrialPartner {
  const remote = connect<TrialService>(port, { service, peer: 'a thread of this search' });
  return {
    open: (rows) => remote.open(rows),
    train: (task) => remote.train(task),
    close: end,
  };
}
