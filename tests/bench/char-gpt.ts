// Bits per byte of the preset gpt-char and of PyTorch's twin of it (char-gpt.py, in the faster of its modes) after the same time, in turn:
// `node tests/bench/char-gpt.ts [--seconds 300] [--rounds 1] [--threads 2] [--clock wall|cpu] [--keep FILE]`, Python by TRAINYARD_PYTHON. The text is made of the sources in
// engine/, which every checkout has; same splits, model, batch and optimizer. Ours ends with the epoch in which the seconds are over, its validation counted; PyTorch gets as
// many as that took, without its own, and without the time to compile and to choose its mode. What is done stands in FILE (default: beside other temporary files, by the
// settings and the text): a bench that was stopped goes on behind it, and `--again` begins anew. On a loaded machine take one thread and `--clock cpu`: PyTorch's threads spin
// while they wait for each other, and that counts as processor time.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { parseArgs } from 'node:util';
import { python } from '../support/python.ts';

const root = path.resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '1' },
    threads: { type: 'string', default: '2' },
    clock: { type: 'string', default: 'wall' },
    keep: { type: 'string' },
    again: { type: 'boolean', default: false },
  },
});
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
const { threads, clock } = values;
if (clock !== 'wall' && clock !== 'cpu') throw new Error(`--clock ${clock}: wall or cpu`);
if (!(seconds > 0 && rounds >= 1)) throw new Error('--seconds and --rounds are numbers above 0');
const mostCharacters = 1_000_000;

/** Seconds of all threads of a process; Linux alone tells them. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Sources of the engine, their ASCII alone, so that characters are counted alike in both programs. */
function madeText(): string {
  const folder = path.join(root, 'engine');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const texts = names.sort().map((name) => readFileSync(path.join(folder, name), 'utf8'));
  return texts
    .join('\n')
    .replaceAll(/[^\n\x20-\x7e]/g, '')
    .slice(0, mostCharacters);
}

interface Trained {
  readonly bits: number;
  /** Of ours none: it is told in epochs. */
  readonly steps?: number;
  readonly epochs?: number;
  /** Of PyTorch. */
  readonly mode?: string;
  /** By the clock of the wall, and of all threads. */
  readonly seconds: number;
  readonly processor: number;
}

interface TrainingEvent {
  readonly event: string;
  readonly epoch: number;
  readonly metrics: Readonly<Record<string, number>>;
}

async function ours(home: string, text: string): Promise<Trained> {
  const flags = ['--model', 'gpt-char', '--optimizer', 'adamw', '--lr', '0.001', '--schedule', 'constant'];
  const more = ['--epochs', '1000000', '--patience', '0', '--device', 'cpu', '--threads', threads, '--json'];
  const program = path.join(root, 'build/node/trainyard.js');
  const child = spawn(process.execPath, [program, 'train', text, ...flags, ...more], {
    env: { ...process.env, TRAINYARD_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let begun = { seconds: 0, processor: 0 };
  const now = () => ({ seconds: performance.now() / 1000, processor: processorSeconds(child.pid!) });
  let done: Trained | null = null;
  for await (const line of readline.createInterface({ input: child.stdout })) {
    const { event, epoch, metrics } = JSON.parse(line) as TrainingEvent;
    if (event === 'started') begun = now();
    if (event !== 'epoch' || done !== null) continue;
    const at = now();
    const spent = { seconds: at.seconds - begun.seconds, processor: at.processor - begun.processor };
    if ((clock === 'cpu' ? spent.processor : spent.seconds) < seconds) continue;
    done = { bits: metrics['val_bits_per_byte'], epochs: epoch, ...spent };
    child.kill('SIGINT');
  }
  if (done === null) throw new Error('the training ended before its seconds were over');
  return done;
}

function theirs(text: string, time: number): Trained {
  const asked = ['--seconds', String(time), '--clock', clock, '--mode', 'best', '--threads', threads];
  const args = [path.join(import.meta.dirname, 'char-gpt.py'), text, ...asked];
  const { status, stdout } = spawnSync(python, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${python} ${args.join(' ')} ended with ${status}`);
  return JSON.parse(stdout) as Trained;
}

const home = mkdtempSync(path.join(tmpdir(), 'trainyard-char-gpt-'));
try {
  const made = madeText();
  const asked = createHash('sha256')
    .update(JSON.stringify([seconds, threads, clock, made]))
    .digest('hex')
    .slice(0, 12);
  const kept = values.keep ?? path.join(tmpdir(), `trainyard-char-gpt-${asked}.jsonl`);
  if (values.again) rmSync(kept, { force: true });
  const known = existsSync(kept) ? readFileSync(kept, 'utf8').split('\n').filter(Boolean) : [];
  const done = new Map(known.map((line) => JSON.parse(line) as readonly [string, Trained]));
  /** What a stopped bench has measured, or the measurement. */
  const once = async (name: string, measure: () => Trained | Promise<Trained>): Promise<Trained> => {
    const key = `${asked} ${name}`;
    const found = done.get(key);
    if (found) return found;
    const measured = await measure();
    appendFileSync(kept, `${JSON.stringify([key, measured])}\n`);
    return measured;
  };
  const text = path.join(home, 'text.txt');
  writeFileSync(text, made);
  const shown = ({ bits, steps, epochs, mode, ...time }: Trained): string => {
    const spent = `${time.seconds.toFixed(1)} s (${time.processor.toFixed(1)} s of processor time)`;
    return `${bits.toFixed(4)} bits per byte, ${epochs ? `epoch ${epochs}` : `${steps} steps`}${mode ? `, ${mode}` : ''} in ${spent}`;
  };
  console.log(`${seconds} s by the clock of the ${clock}, ${threads} threads; what is done is kept in ${kept}`);
  for (let round = 1; round <= rounds; round++) {
    const own = await once(`Trainyard ${round}`, () => ours(home, text));
    console.log(`round ${round}: Trainyard ${shown(own)}`);
    const other = await once(`PyTorch ${round}`, () => theirs(text, clock === 'cpu' ? own.processor : own.seconds));
    console.log(`round ${round}: PyTorch   ${shown(other)}; ratio of bits ${(own.bits / other.bits).toFixed(3)}`);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
