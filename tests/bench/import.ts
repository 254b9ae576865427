// Times importing a table against DuckDB merely reading it, alternately and each in a fresh process:
// `node tests/bench/import.ts [FILE] [--rows 500000] [--repeat 3]`. Without FILE it writes a table of 21 columns.

import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { defaultMemoryBytes, defaultThreads } from '../../engine/data/database.ts';
import { randomBits } from '../../engine/data/preprocess/split.ts';
import { createDataService } from '../../engine/data/service.ts';

interface Measurement {
  readonly seconds: number;
  /** Processor time of all threads. */
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

/** Runs work once and says what it took. */
async function measure(work: () => Promise<unknown>): Promise<Measurement> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { seconds, cpuSeconds: (user + system) / 1e6, megabytes: process.resourceUsage().maxRSS / 1024 };
}

async function readWithDuckDb(path: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(defaultThreads()),
    memory_limit: `${defaultMemoryBytes() / 2 ** 20}MiB`,
  });
  const connection = await instance.connect();
  await connection.run(`CREATE TABLE t AS FROM read_csv('${path.replaceAll("'", "''")}')`);
}

async function importWithTrainyard(path: string, home: string): Promise<void> {
  const service = createDataService({ home });
  await service.import({ job: 'bench', path });
  await service.close();
}

/** 18 numbers of six decimals, a category, a count and a target: 85 MB at 500,000 rows. */
function writeTable(path: string, rows: number): void {
  const file = openSync(path, 'w');
  writeSync(file, `${Array.from({ length: 18 }, (_, column) => `x${column}`).join()},kind,count,target\n`);
  let lines: string[] = [];
  for (let row = 0; row < rows; row++) {
    const numbers = Array.from({ length: 18 }, (_, column) => (randomBits(column, row) / 2 ** 29 - 4).toFixed(6));
    const bits = randomBits(18, row);
    lines.push(
      `${numbers.join()},${['alpha', 'beta', 'gamma', 'delta'][bits & 3]},${bits % 1000},${(bits >>> 5) & 1}\n`,
    );
    if (lines.length === 10_000 || row === rows - 1) {
      writeSync(file, lines.join(''));
      lines = [];
    }
  }
  closeSync(file);
}

/** This file again, in a process of its own. */
function inFreshProcess(what: 'duckdb' | 'import', path: string, home: string): Measurement {
  const script = fileURLToPath(import.meta.url);
  const child = spawnSync(process.execPath, [script, path, '--child', what, '--home', home], { encoding: 'utf8' });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout) as Measurement;
}

function median(values: readonly number[]): number {
  return [...values].sort((first, second) => first - second)[Math.floor(values.length / 2)] ?? NaN;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: 'string', default: '500000' },
    repeat: { type: 'string', default: '3' },
    child: { type: 'string' },
    home: { type: 'string' },
  },
});

if (values.child !== undefined) {
  const [path = ''] = positionals;
  const { home = '' } = values;
  const work = values.child === 'duckdb' ? () => readWithDuckDb(path) : () => importWithTrainyard(path, home);
  console.log(JSON.stringify(await measure(work)));
} else {
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-bench-'));
  try {
    const path = positionals[0] ?? join(folder, 'table.csv');
    if (positionals[0] === undefined) writeTable(path, Number(values.rows));
    console.log(`${path}: ${(statSync(path).size / 2 ** 20).toFixed(0)} MB, ${defaultThreads()} threads`);
    const ratios: Record<'seconds' | 'cpuSeconds', number[]> = { seconds: [], cpuSeconds: [] };
    for (let repeat = 0; repeat < Number(values.repeat); repeat++) {
      const read = inFreshProcess('duckdb', path, '');
      const imported = inFreshProcess('import', path, join(folder, `home-${repeat}`));
      for (const kind of ['seconds', 'cpuSeconds'] as const) ratios[kind].push(imported[kind] / read[kind]);
      for (const [name, { seconds, cpuSeconds, megabytes }] of Object.entries({ read, imported })) {
        console.log(
          `${name.padEnd(9)} ${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of processor time, ${megabytes.toFixed(0)} MB`,
        );
      }
    }
    const [wall, cpu] = [median(ratios.seconds), median(ratios.cpuSeconds)];
    console.log(`import / read: ${wall.toFixed(2)} by the clock, ${cpu.toFixed(2)} by processor time (medians)`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
