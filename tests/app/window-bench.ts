// How long the window makes a person wait, and how long its thread is busy at a stretch: with 10,000 runs of 50 series × 200 points, in
// training, in an import of 85 MB. The counts that keep it so are held by tests/app/views-speed.spec.ts on any machine; these times
// say something only where nothing else runs.
//
//   npm run bench:window [-- --rounds 5] [--runs 10000 --series 50 --points 200] [--only start,idle,runs,queue,training,import,command,mlp,cnn] [--out FILE.json]
//
// `--only growth --minutes 60`: whether a process grows while a run trains, by name alone.
// `--program FILE`: start and idle of an installed Trainyard, not of this folder's.
// `--home FOLDER`: a home of so many runs that tests/bench/large-home.ts has made, which stays.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { callService, dropFiles, launch, type App } from './launch.ts';
import { homeWithQueue, writeWideTable } from './large-scenes.ts';
import { importTable, startRun, waitForEpoch, waitForState, writeTable } from './scene.ts';
import { makeLargeHome } from '../bench/large-home.ts';
import { timeCommand } from './window-command.ts';
import { timeQueue } from './window-queue.ts';
import { measureIdle, timeStart } from './window-start.ts';
import { watchGrowth } from './window-growth.ts';
import { timeRuns } from './window-runs.ts';
import { blocked, tell, watchLongTasks } from './window-times.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    runs: { type: 'string', default: '10000' },
    series: { type: 'string', default: '50' },
    points: { type: 'string', default: '200' },
    only: { type: 'string' },
    out: { type: 'string' },
    home: { type: 'string' },
    program: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '5' },
  },
});
const rounds = Number(values.rounds);
const size = { runs: Number(values.runs), series: Number(values.series), points: Number(values.points) };

async function training(app: App): Promise<void> {
  const { page, home } = app;
  const dataset = await importTable(app, writeTable(home, 4000));
  const { id } = await startRun(app, dataset, 1_000_000);
  await page.evaluate((run) => {
    location.hash = `#run/${run}`;
  }, id);
  await page.getByRole('slider', { name: 'Loss chart' }).waitFor();
  const longTask = await watchLongTasks(page);
  const longest: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { progress } = await callService<RunRecord>(app, 'run', { run: id });
    await waitForEpoch(app, id, (progress?.epoch ?? 0) + 500);
    longest.push(await longTask());
  }
  await callService(app, 'stopRun', { run: id });
  await waitForState(app, id, 'stopped');
  tell('training: longest task', { clock: longest }, blocked);
}

async function importing(app: App): Promise<void> {
  const { page, home } = app;
  const file = writeWideTable(home, 500_000);
  const longTask = await watchLongTasks(page);
  await dropFiles(app, file);
  // Not by role while it is timed: finding roles is work in the page itself.
  const filled = (): boolean => document.querySelectorAll('[role=cell]').length > 100;
  await page.waitForFunction(filled, undefined, { polling: 500, timeout: 120_000 });
  tell('import of 85 MB: longest task', { clock: [await longTask()] }, blocked);
}

async function inApp(home: string | undefined, work: (app: App) => Promise<void>): Promise<void> {
  const app = await launch({ home });
  try {
    await app.page.getByRole('link', { name: 'Settings' }).waitFor();
    await work(app);
  } finally {
    await app.close();
    if (app.home !== values.home) fs.rmSync(app.home, { recursive: true, force: true });
  }
}

/** A home at full size is more than a gigabyte: it is removed with the app's end. */
function largeHome(): string {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-window-'));
  console.log(`${size.runs} runs made in ${makeLargeHome(home, size).toFixed(0)} s`);
  return home;
}

const chosen = values.only?.split(',');
const wanted = (part: string): boolean => chosen === undefined || chosen.includes(part);
if (wanted('start')) await timeStart(rounds, values.program);
if (wanted('idle')) await measureIdle(Number(values.seconds), values.program);
if (wanted('runs')) await inApp(values.home ?? largeHome(), (app) => timeRuns(app, size.runs, rounds));
if (wanted('queue')) await inApp(await homeWithQueue(1_000), (app) => timeQueue(app, 1_000, rounds));
if (wanted('training')) await inApp(undefined, training);
// An hour of it, or a shorter form, is asked for by name.
if (chosen?.includes('growth')) await inApp(undefined, (app) => watchGrowth(app, Number(values.minutes)));
if (wanted('import')) await inApp(undefined, importing);
const commands = ['command', 'mlp', 'cnn'];
if (commands.some(wanted)) {
  const told = await timeCommand(rounds, wanted('command') ? undefined : chosen);
  if (values.out !== undefined) fs.writeFileSync(values.out, JSON.stringify(told, null, 1));
}
