// Bits per byte of the preset gpt-char and of PyTorch's twin of it (char-gpt.py) after the same processor time, in turn:
// `node tests/bench/char-gpt.ts [--seconds 60] [--rounds 1] [--threads 2]`, Python by TRAINYARD_PYTHON. The text is made of the sources in engine/, which every checkout has;
// same splits, model, batch and optimizer. Ours ends with the epoch in which the seconds are over, its validation counted; PyTorch gets as many as that took, without its
// own. On a loaded machine take one thread: PyTorch's threads spin while they wait for each other, and that counts as processor time.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { parseArgs } from 'node:util';
import { python } from '../support/python.ts';

const root = path.resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '1' },
    threads: { type: 'string', default: '2' },
  },
});
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
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
  readonly processor: number;
}

interface TrainingEvent {
  readonly event: string;
  readonly epoch: number;
  readonly metrics: Readonly<Record<string, number>>;
}

async function ours(home: string, text: string): Promise<Trained> {
  const flags = ['--model', 'gpt-char', '--optimizer', 'adamw', '--lr', '0.001', '--schedule', 'constant'];
  const more = ['--epochs', '1000000', '--patience', '0', '--device', 'cpu', '--threads', values.threads, '--json'];
  const program = path.join(root, 'build/node/trainyard.js');
  const child = spawn(process.execPath, [program, 'train', text, ...flags, ...more], {
    env: { ...process.env, TRAINYARD_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let begun = 0;
  let done: Trained | null = null;
  for await (const line of readline.createInterface({ input: child.stdout })) {
    const { event, epoch, metrics } = JSON.parse(line) as TrainingEvent;
    if (event === 'started') begun = processorSeconds(child.pid!);
    if (event !== 'epoch' || done !== null) continue;
    const processor = processorSeconds(child.pid!) - begun;
    if (processor < seconds) continue;
    done = { bits: metrics['val_bits_per_byte'], epochs: epoch, processor };
    child.kill('SIGINT');
  }
  if (done === null) throw new Error('the training ended before its seconds were over');
  return done;
}

function theirs(text: string, processor: number): Trained {
  const args = [path.join(import.meta.dirname, 'char-gpt.py'), text, '--seconds', String(processor)];
  const { status, stdout } = spawnSync(python, [...args, '--threads', values.threads], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${python} ${args.join(' ')} ended with ${status}`);
  return JSON.parse(stdout) as Trained;
}

const home = mkdtempSync(path.join(tmpdir(), 'trainyard-char-gpt-'));
try {
  const text = path.join(home, 'text.txt');
  writeFileSync(text, madeText());
  const shown = ({ bits, steps, epochs, processor }: Trained): string =>
    `${bits.toFixed(4)} bits per byte, ${epochs ? `epoch ${epochs}` : `${steps} steps`} in ${processor.toFixed(1)} s of processor time`;
  for (let round = 1; round <= rounds; round++) {
    const own = await ours(home, text);
    console.log(`round ${round}: Trainyard ${shown(own)}`);
    const other = theirs(text, own.processor);
    console.log(`round ${round}: PyTorch   ${shown(other)}; ratio of bits ${(own.bits / other.bits).toFixed(3)}`);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
