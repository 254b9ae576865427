// The suite `tables` of `bench`: what trees take on rows made up in memory, in turns with peers that fit the same shapes. Time on the
// clock and of the processor: on a busy machine only the second says much.

import { createCpuBackend } from '../../../engine/backends/cpu/backend.ts';
import type { Backend } from '../../../engine/backends/backend.ts';
import { benchTable, type TableTask } from '../../../engine/bench/tables.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import { formatCount, formatNumber, type Output } from '../output.ts';
import { median, noteWithout, runPeer } from './bench-peers.ts';

interface Spent {
  /** Milliseconds. */
  readonly value: number;
  readonly cpu?: number;
}

type Ratios = Readonly<Record<string, number>>;

interface TableRow extends Required<Spent> {
  readonly workload: string;
  readonly device: 'cpu';
  readonly threads: number;
  readonly unit: TableTask['unit'];
  readonly rows: number;
  readonly columns: number;
  /** What each peer takes / what we take, pair by pair the median: on the clock, and of the processor. */
  readonly ratios?: Ratios;
  readonly cpuRatios?: Ratios;
}

export interface TablesAsked {
  readonly tasks: readonly TableTask[];
  readonly rows: number;
  /** 0 = as many as pay. */
  readonly threads: number;
  readonly peers: readonly string[];
  readonly rounds: number;
}

/** Times the tasks one after the other: a row each. */
export async function benchTables(
  { tasks, threads, ...asked }: TablesAsked,
  output: Output,
): Promise<readonly object[]> {
  const backend = createCpuBackend({ threads });
  const rows: TableRow[] = [];
  for (const task of tasks) {
    const row = await compare(task, backend, asked, output);
    rows.push(row);
    output.event(row);
  }
  await backend.close();
  if (!output.json) print(output, rows);
  return rows;
}

async function compare(
  task: TableTask,
  backend: Backend,
  { rows: asked, peers, rounds }: Pick<TablesAsked, 'rows' | 'peers' | 'rounds'>,
  output: Output,
): Promise<TableRow> {
  const table = benchTable(task.rows(asked));
  const { threads } = backend.device;
  const work = await task.open(table, backend);
  const ours: Required<Spent>[] = [];
  // Each time of a peer beside ours of its round.
  const theirs = new Map<string, { readonly spent: Spent; readonly beside: Required<Spent> }[]>();
  const without = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    output.bar(round / rounds, `${task.name} on ${backend.device.name}`);
    const beside = await spentOn(work);
    ours.push(beside);
    for (const command of peers) {
      const more = ` --rows ${table.rows} --threads ${threads}`;
      const times = await runPeer(command, task, more);
      if (times.length === 0) without.add(command);
      for (const { peer, ...spent } of times) theirs.set(peer, [...(theirs.get(peer) ?? []), { spent, beside }]);
    }
  }
  output.clearBar();
  noteWithout(without, task.name, output);
  const ratios = (kind: keyof Spent): Ratios =>
    Object.fromEntries(
      [...theirs].flatMap(([peer, pairs]) => {
        const found = pairs.flatMap(({ spent: { [kind]: spent }, beside }) =>
          spent === undefined ? [] : [spent / beside[kind]],
        );
        return found.length > 0 ? [[peer, short(median(found))]] : [];
      }),
    );
  return {
    workload: task.name,
    device: 'cpu',
    threads,
    unit: task.unit,
    rows: table.rows,
    columns: table.width,
    value: short(median(ours.map(({ value }) => value))),
    cpu: short(median(ours.map(({ cpu }) => cpu))),
    ...(theirs.size > 0 ? { ratios: ratios('value'), cpuRatios: ratios('cpu') } : {}),
  };
}

async function spentOn(work: () => Promise<void>): Promise<Required<Spent>> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { value: performance.now() - start, cpu: (user + system) / 1000 };
}

const short = (value: number): number => Number(value.toPrecision(3));

function print(output: Output, rows: readonly TableRow[]): void {
  const peers = [...new Set(rows.flatMap((row) => Object.keys(row.ratios ?? {})))];
  const times = (ratio: number | undefined): string => (ratio ? `${formatNumber(ratio)} ×` : '–');
  output.table(rows, [
    { title: 'workload', value: ({ workload }) => workload },
    { title: 'rows', value: (row) => `${formatCount(row.rows)} × ${row.columns}`, right: true },
    { title: 'threads', value: ({ threads }) => String(threads), right: true },
    { title: 'median', value: ({ value, unit }) => `${formatNumber(value)} ${unit}`, right: true },
    { title: 'processor time', value: ({ cpu }) => `${formatNumber(cpu)} ms`, right: true },
    ...peers.flatMap((peer) => [
      {
        title: `${peer} takes`,
        value: (row: TableRow) => times(ownValue(row.ratios ?? {}, peer)),
        right: true,
      },
      {
        title: 'of the processor',
        value: (row: TableRow) => times(ownValue(row.cpuRatios ?? {}, peer)),
        right: true,
      },
    ]),
  ]);
}
