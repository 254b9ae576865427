// Times importing a table against DuckDB's own reading of it, alternately and each in a fresh process: into memory (`read`), and as a
// Parquet file of its usual form (`copy`), with its own guesses, as many threads and as much memory.
// `node tests/bench/import.ts [FILE] [--rows 500000] [--repeat 5] [--out RATIOS.json]`. Without FILE it writes a table of 21 columns.

import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { defaultMemoryBytes, defaultThreads } from '../../engine/data/database.ts';
import { randomBits } from '../../engine/data/preprocess/split.ts';
import { createDataService } from '../../engine/data/service.ts';
import { quoteText } from '../../engine/data/sql.ts';

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

/** Into memory, or where a Parquet file is named into that. */
async function readWithDuckDb(path: string, parquet?: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(defaultThreads()),
    memory_limit: `${defaultMemoryBytes() / 2 ** 20}MiB`,
  });
  const connection = await instance.connect();
  const rows = `FROM read_csv(${quoteText(path)})`;
  await connection.run(parquet === undefined ? `CREATE TABLE t AS ${rows}` : `COPY (${rows}) TO ${quoteText(parquet)}`);
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

const ways = ['read', 'copy', 'import'] as const;
type Way = (typeof ways)[number];

const work: Readonly<Record<Way, (path: string, home: string) => Promise<void>>> = {
  read: (path) => readWithDuckDb(path),
  copy: (path, home) => readWithDuckDb(path, `${home}.parquet`),
  import: importWithTrainyard,
};

/** This file, bundled as the app is. */
function bundle(): string {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const made = spawnSync(process.execPath, [vite, 'build', '--mode', 'bench', '--logLevel', 'warn'], { cwd: root });
  if (made.status !== 0) throw new Error(String(made.stderr));
  return join(root, 'build', 'bench', 'import.js');
}

/** `script`: this file, in a process of its own. */
function inFreshProcess(script: string, what: Way, path: string, home: string): Measurement {
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
    repeat: { type: 'string', default: '5' },
    out: { type: 'string' },
    child: { type: 'string' },
    home: { type: 'string' },
  },
});

const way = ways.find((name) => name === values.child);
if (way !== undefined) {
  console.log(JSON.stringify(await measure(() => work[way](positionals[0] ?? '', values.home ?? ''))));
} else {
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-bench-'));
  try {
    const path = positionals[0] ?? join(folder, 'table.csv');
    if (positionals[0] === undefined) writeTable(path, Number(values.rows));
    console.log(`${path}: ${(statSync(path).size / 2 ** 20).toFixed(0)} MB, ${defaultThreads()} threads`);
    const script = bundle();
    const rounds: Record<Way, Measurement>[] = [];
    for (let repeat = 0; repeat < Number(values.repeat); repeat++) {
      const round = ways.map(
        (name) => [name, inFreshProcess(script, name, path, join(folder, `home-${repeat}`))] as const,
      );
      rounds.push(Object.fromEntries(round) as Record<Way, Measurement>);
      for (const [name, { seconds, cpuSeconds, megabytes }] of round) {
        console.log(
          `${name.padEnd(9)} ${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of processor time, ${megabytes.toFixed(0)} MB`,
        );
      }
    }
    const ratio = (to: Way, kind: 'seconds' | 'cpuSeconds'): number =>
      median(rounds.map((round) => round.import[kind] / round[to][kind]));
    const ratios = (['read', 'copy'] as const).map((to) => {
      const [clock, processor] = [ratio(to, 'seconds'), ratio(to, 'cpuSeconds')];
      console.log(
        `import / ${to}: ${clock.toFixed(2)} by the clock, ${processor.toFixed(2)} by processor time (medians)`,
      );
      return { to, clock, processor };
    });
    if (values.out !== undefined) writeFileSync(values.out, JSON.stringify({ ratios, rounds }, null, 1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
