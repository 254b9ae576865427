// Times the start of the command line, each time in a fresh process: `node tests/bench/start.ts [--repeat 5]`. To `--help` and `runs`, and
// from the start of a training to its first epoch. Processor time beside the clock's, since other programs make only the clock's longer.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const program = path.join(root, 'build/node/trainyard.js');

interface Start {
  readonly milliseconds: number;
  /** Of all threads; null where the system does not tell of a process at work. */
  readonly processor: number | null;
}

/** Ticks of a hundredth of a second, of a process that has not ended. */
function processorMilliseconds(pid: number): number | null {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return null;
  const fields = readFileSync(file, 'utf8').split(') ')[1].split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** From the start until something on standard output matches. */
function timeUntil(home: string, args: readonly string[], wanted: RegExp): Promise<Start> {
  const begun = performance.now();
  const child = spawn(process.execPath, [program, ...args], {
    cwd: root,
    env: { ...process.env, TRAINYARD_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let [text, found] = ['', null as Start | null];
  child.stdout.on('data', (data: Buffer) => {
    text += data.toString();
    if (found !== null || !wanted.test(text)) return;
    found = { milliseconds: performance.now() - begun, processor: processorMilliseconds(child.pid ?? 0) };
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (found !== null) resolve(found);
      else reject(new Error(`${args.join(' ')} ended with ${code} and never said ${wanted}`));
    });
  });
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1];

const { values } = parseArgs({ options: { repeat: { type: 'string', default: '5' } } });
const home = mkdtempSync(path.join(tmpdir(), 'trainyard-start-'));
const starts = [
  { name: '--help', args: ['--help'], wanted: /usage: trainyard/, limit: 250 },
  { name: 'runs', args: ['runs', '--json'], wanted: /penguins/, limit: null },
  {
    name: 'first epoch',
    args: ['train', path.join(root, 'samples/penguins.csv'), '--epochs', '1', '--json'],
    wanted: /"event":"epoch"/,
    limit: 500,
  },
];
try {
  // The first one imports the file and tests the processor.
  await timeUntil(home, starts[2].args, starts[2].wanted);
  for (const { name, args, wanted, limit } of starts) {
    const times: Start[] = [];
    for (let i = 0; i < Number(values.repeat); i++) times.push(await timeUntil(home, args, wanted));
    const clock = median(times.map(({ milliseconds }) => milliseconds));
    const processor = median(times.map((time) => time.processor ?? NaN));
    const aim = limit === null ? '' : `, at most ${limit} ms wanted`;
    console.log(`${name.padEnd(12)} ${clock.toFixed(0)} ms by the clock, ${processor} ms of processor time${aim}`);
  }
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
