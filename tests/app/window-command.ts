// The same run in the app and by the command line, in turn: same home, dataset, settings and seed, so that both do the same work. What
// differs is whose program trains: another V8, and a window beside it.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { startTrainyard } from '../support/cli.ts';
import { encoders, noise, paint } from '../support/pictures.ts';
import { callService, launch, type App } from './launch.ts';
import { writeTable } from './scene.ts';

/** What the app may take longer. */
const limit = 1.03;
/** Seldom: asking costs the app time that nobody who uses it takes. */
const pollMilliseconds = 2000;

/** Seconds of training steps by the clock, and of processor time of the whole run in the process that trains. */
interface Cost {
  readonly clock: number;
  readonly processor: number;
}

interface Workload {
  readonly name: string;
  readonly args: (folder: string) => readonly string[];
}

/** About 20 seconds each. */
const workloads: readonly Workload[] = [
  {
    name: 'mlp',
    args: (folder) => [writeTable(folder, 20_000), '--hidden', '256,256,128', '--batch', '64', '--epochs', '60'],
  },
  { name: 'cnn', args: (folder) => [writePictures(folder), '--model', 'small-cnn', '--epochs', '40'] },
];

/** Three kinds of grainy 28 × 28 pictures, 400 of each. */
function writePictures(folder: string): string {
  for (let kind = 0; kind < 3; kind++) {
    const files = path.join(folder, 'grain', `kind-${kind}`);
    fs.mkdirSync(files, { recursive: true });
    for (let i = 0; i < 400; i++) {
      const grain = noise(1 + kind * 1000 + i, 1);
      const picture = paint(28, 28, (x, y) => {
        const [r] = grain(x, y);
        const value = Math.min(255, r + (y % 3 === kind ? 40 : 0));
        return [value, value, value];
      });
      fs.writeFileSync(path.join(files, `${i}.png`), encoders.png(picture));
    }
  }
  return path.join(folder, 'grain');
}

async function costOf(app: App, run: number): Promise<{ readonly cost: Cost; readonly record: RunRecord }> {
  for (;;) {
    const record = await callService<RunRecord>(app, 'run', { run });
    if (record.state === 'completed') {
      const { result, progress } = record;
      return { cost: { clock: result!.seconds, processor: progress!.bill!.cpuSeconds }, record };
    }
    if (record.state === 'failed' || record.state === 'stopped') throw new Error(record.error?.message ?? record.state);
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
  }
}

async function byCommandLine(home: string, args: readonly string[]): Promise<number> {
  const { code, stderr, events } = await startTrainyard(home, ['train', ...args, '--patience', '0', '--json']).finished;
  if (code !== 0) throw new Error(stderr);
  return Number(events.find(({ run }) => typeof run === 'number')?.run);
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Prints the medians of some rounds and their ratios; the process ends with 1 where the app takes more than 3 % longer. */
export async function timeCommand(rounds: number, only?: readonly string[]): Promise<object[]> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-command-'));
  const told: object[] = [];
  const chosen = workloads
    .filter(({ name }) => only === undefined || only.includes(name))
    .map(({ name, args }) => ({ name, args: args(home) }));
  const app = await launch({ home });
  try {
    for (const { name, args } of chosen) {
      // The first imports the data; its settings are those of all.
      const first = await costOf(app, await byCommandLine(home, args));
      const command: Cost[] = [];
      const window: Cost[] = [];
      for (let round = 0; round < rounds; round++) {
        command.push((await costOf(app, await byCommandLine(home, args))).cost);
        const { id } = await callService<RunRecord>(app, 'startRun', { name, config: first.record.config });
        const { cost, record } = await costOf(app, id);
        if (record.result!.metrics['train_loss'] !== first.record.result!.metrics['train_loss'])
          throw new Error(`${name}: the app has another loss than the command line: it was not the same run.`);
        window.push(cost);
      }
      const of = (costs: readonly Cost[], what: keyof Cost): number => median(costs.map((cost) => cost[what]));
      const ratio = (what: keyof Cost): number =>
        median(window.map((cost, round) => cost[what] / command[round][what]));
      const figures = { name, steps: first.record.result!.steps, clock: ratio('clock'), processor: ratio('processor') };
      console.log(
        `${name.padEnd(6)} ${figures.steps} steps: command line ${of(command, 'clock').toFixed(2)} s, app ${of(window, 'clock').toFixed(2)} s; app / command line ${figures.clock.toFixed(3)} by the clock, ${figures.processor.toFixed(3)} by processor time (${of(command, 'processor').toFixed(1)} and ${of(window, 'processor').toFixed(1)} s); at most ${limit}${figures.clock > limit ? ': TOO LONG' : ''}`,
      );
      if (figures.clock > limit) process.exitCode = 1;
      told.push({ ...figures, command, window });
    }
  } finally {
    await app.close();
    fs.rmSync(home, { recursive: true, force: true });
  }
  return told;
}
