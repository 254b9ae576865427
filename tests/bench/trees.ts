// Times trees against LightGBM and scikit-learn in turns, where TRAINYARD_PYTHON (or python3) has them; else alone. Both sides get
// the same rows in memory, numbers of float64, and fit: bins, trees, losses.
// node tests/bench/trees.ts [--only boosted,predict,forest] [--threads 1,2] [--rounds 5] [--rows 100000] [--native yes|no]
// One JSON object a line: seconds on the clock and of processor time, medians, and the median of the pairs' ratios.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { parseArgs } from 'node:util';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { lacksPython, python } from '../support/python.ts';
import { tableRows, treeTasks, type TreeTask } from '../support/tree-tasks.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: treeTasks.map(({ name }) => name).join(',') },
    threads: { type: 'string', default: '1,2' },
    rounds: { type: 'string', default: '5' },
    rows: { type: 'string', default: '100000' },
    native: { type: 'string', default: 'yes' },
  },
});

interface Spent {
  readonly clock: number;
  readonly cpu: number;
}

async function spentOn(work: () => Promise<unknown>): Promise<Spent> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { clock: (performance.now() - start) / 1000, cpu: (user + system) / 1e6 };
}

/** A Python that stays, and fits when it is asked to. */
function openPeer(threads: number, file: string, rows: number, width: number) {
  const script = path.join(import.meta.dirname, 'trees-peers.py');
  const child = spawn(python, [script, file, String(rows), String(width), String(threads)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, OMP_NUM_THREADS: String(threads) },
  });
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(task: string): Promise<Spent> {
      child.stdin.write(`${task}\n`);
      const { value } = (await lines.next()) as { value: string };
      return JSON.parse(value) as Spent;
    },
    close: () => child.stdin.end(),
  };
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const short = (value: number): number => Number(value.toPrecision(3));

async function compare(task: TreeTask, threads: number): Promise<void> {
  const table = tableRows(Number(values.rows), 28);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trees-bench-'));
  const file = path.join(folder, 'rows.bin');
  fs.writeFileSync(file, new Uint8Array(table.x.buffer));
  fs.appendFileSync(file, new Uint8Array(table.y.buffer));
  const peer = missing ? null : openPeer(threads, file, table.rows, table.width);
  const backend: Backend = createCpuBackend({ threads, native: values.native === 'no' ? false : undefined });
  const ours: Spent[] = [];
  const theirs: Spent[] = [];
  const work = await task.open(table, backend);
  for (let round = 0; round < Number(values.rounds); round++) {
    ours.push(await spentOn(work));
    if (peer) theirs.push(await peer.run(task.name));
  }
  peer?.close();
  await backend.close();
  fs.rmSync(folder, { recursive: true });
  const of = (spent: readonly Spent[], kind: keyof Spent): number => short(median(spent.map((one) => one[kind])));
  const ratio = (kind: keyof Spent): number => short(median(ours.map((one, i) => one[kind] / theirs[i][kind])));
  console.log(
    JSON.stringify({
      ...{
        task: task.name,
        rows: table.rows,
        threads,
        native: values.native,
        seconds: of(ours, 'clock'),
        cpu: of(ours, 'cpu'),
      },
      ...(peer
        ? { peer: task.peer, peerSeconds: of(theirs, 'clock'), peerCpu: of(theirs, 'cpu') }
        : { peer: `${task.peer} is not there` }),
      ...(peer ? { ratio: ratio('clock'), cpuRatio: ratio('cpu') } : {}),
    }),
  );
}

const missing = lacksPython('lightgbm', 'sklearn', 'numpy');
if (missing) console.error(missing);
for (const task of treeTasks.filter(({ name }) => values.only.split(',').includes(name))) {
  for (const threads of values.threads.split(',').map(Number)) await compare(task, threads);
}
