// The same run in the app and by the command line, in turn: same home, dataset, settings and seed, so that both do the same work. What
// differs is whose program trains: another V8, and a window beside it, once on the run's own page, where a new run is followed, and once on
// another.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { startTrainyard } from '../support/cli.ts';
import { familyOf } from '../support/processes.ts';
import { encoders, noise, paint } from '../support/pictures.ts';
import { callService, launch, type App } from './launch.ts';
import { writeTable } from './scene.ts';

/** What the app may take longer. */
const limit = 1.03;
/** Seldom: asking costs the app time that nobody who uses it takes. */
const pollMilliseconds = 2000;

/**
 * Seconds of training steps by the clock, and of processor time of the whole run in the process that trains; and the share of a core that
 * the app's other processes took meanwhile.
 */
interface Cost {
  readonly clock: number;
  readonly processor: number;
  readonly beside?: number;
}

interface Workload {
  readonly name: string;
  readonly args: (folder: string) => readonly string[];
}

/** About 10 seconds each. */
const workloads: readonly Workload[] = [
  {
    name: 'mlp',
    args: (folder) => [writeTable(folder, 20_000), '--hidden', '256,256,128', '--batch', '64', '--epochs', '150'],
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

/** Seconds of processor time by the app's processes so far, but for those that train. */
function processorBeside(app: App): number {
  const beside = familyOf(app.electron.process().pid!).filter(({ kind }) => kind !== 'node.mojom.NodeService');
  return beside.reduce((total, { processor }) => total + processor, 0) / 1000;
}

async function costOf(app: App, run: number): Promise<{ readonly cost: Cost; readonly record: RunRecord }> {
  const looks: { at: number; beside: number }[] = [];
  for (;;) {
    const record = await callService<RunRecord>(app, 'run', { run });
    if (record.state === 'completed') {
      const { result, progress } = record;
      // Neither the page's change at the start nor what comes after the last step.
      const [first, last] = [looks[1], looks.at(-1)];
      const beside = looks.length > 2 ? (last!.beside - first.beside) / (last!.at - first.at) : undefined;
      return { cost: { clock: result!.seconds, processor: progress!.bill!.cpuSeconds, beside }, record };
    }
    if (record.state === 'failed' || record.state === 'stopped') throw new Error(record.error?.message ?? record.state);
    looks.push({ at: performance.now() / 1000, beside: processorBeside(app) });
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
  }
}

async function byCommandLine(home: string, args: readonly string[]): Promise<number> {
  const { code, stderr, events } = await startTrainyard(home, ['train', ...args, '--patience', '0', '--json']).finished;
  if (code !== 0) throw new Error(stderr);
  return Number(events.find(({ run }) => typeof run === 'number')?.run);
}

/** Which page is open meanwhile. */
const pages = [
  { page: 'runs', open: (app: App) => goTo(app, 'runs') },
  { page: "the run's own page", open: (app: App, run: number) => goTo(app, `run/${run}`) },
] as const;

function goTo({ page }: App, address: string): Promise<void> {
  return page.evaluate((hash) => {
    location.hash = hash;
  }, address);
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Medians of the one and the other, and of their ratios round by round. */
function compare(command: readonly Cost[], window: readonly Cost[]) {
  const of = (costs: readonly Cost[], what: keyof Cost): number => median(costs.map((cost) => cost[what] ?? 0));
  const ratio = (what: 'clock' | 'processor'): number =>
    median(window.map((cost, round) => cost[what] / command[round][what]));
  const [clock, processor, beside] = [ratio('clock'), ratio('processor'), of(window, 'beside')];
  const text =
    `command line ${of(command, 'clock').toFixed(2)} s, app ${of(window, 'clock').toFixed(2)} s; app / command line ` +
    `${clock.toFixed(3)} by the clock${clock > limit ? `, at most ${limit}: TOO LONG` : ''}, ${processor.toFixed(3)} by processor time ` +
    `(${of(command, 'processor').toFixed(1)} and ${of(window, 'processor').toFixed(1)} s); window, main process and store ` +
    `${(100 * beside).toFixed(1)} % of a core`;
  return { clock, processor, beside, text };
}

/** Prints the medians of some rounds and their ratios; the process ends with 1 where the app takes more than 3 % longer. */
export async function timeCommand(rounds: number, only?: readonly string[]): Promise<object[]> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-command-'));
  const all: object[] = [];
  const chosen = workloads
    .filter(({ name }) => only === undefined || only.includes(name))
    .map(({ name, args }) => ({ name, args: args(home) }));
  const app = await launch({ home });
  try {
    for (const { name, args } of chosen) {
      // The first imports the data; its settings are those of all.
      const first = await costOf(app, await byCommandLine(home, args));
      const command: Cost[] = [];
      const window = pages.map((): Cost[] => []);
      for (let round = 0; round < rounds; round++) {
        command.push((await costOf(app, await byCommandLine(home, args))).cost);
        for (const [at, { open }] of pages.entries()) {
          const { id } = await callService<RunRecord>(app, 'startRun', { name, config: first.record.config });
          await open(app, id);
          const { cost, record } = await costOf(app, id);
          if (record.result!.metrics['train_loss'] !== first.record.result!.metrics['train_loss'])
            throw new Error(`${name}: the app has another loss than the command line: it was not the same run.`);
          window[at].push(cost);
        }
      }
      for (const [at, { page }] of pages.entries()) {
        const told = compare(command, window[at]);
        console.log(`${name}, ${page}, ${first.record.result!.steps} steps: ${told.text}`);
        if (told.clock > limit) process.exitCode = 1;
        all.push({ name, page, ...told, command, window: window[at] });
      }
    }
  } finally {
    await app.close();
    fs.rmSync(home, { recursive: true, force: true });
  }
  return all;
}
