// Does a process grow while a run trains with its page open? Epochs of a few milliseconds bring as many points and messages in minutes as
// usual ones in hours. Each process's own memory is read every two seconds; what it had after the first third is compared with its end.

import { setTimeout as sleep } from 'node:timers/promises';
import { familyOf, memoryOf } from '../support/processes.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { callService, type App } from './launch.ts';
import { importTable, startRun, waitForState, writeTable } from './scene.ts';

/** What a process may grow by. */
const limitMegabytes = 20;
const everyMilliseconds = 2000;

interface Course {
  readonly kind: string;
  readonly megabytes: number[];
}

/** A line for each process; the process ends with 1 where one grows by more. */
export async function watchGrowth(app: App, minutes: number): Promise<void> {
  const { page, home } = app;
  const dataset = await importTable(app, writeTable(home, 4000));
  const { id } = await startRun(app, dataset, 1_000_000);
  await page.evaluate((run) => (location.hash = `#run/${run}`), id);
  await page.getByRole('slider', { name: 'Loss chart' }).waitFor();
  const courses = new Map<number, Course>();
  const until = Date.now() + minutes * 60_000;
  while (Date.now() < until) {
    for (const { pid, kind } of familyOf(app.electron.process().pid ?? 0)) {
      const course = courses.get(pid) ?? { kind, megabytes: [] };
      courses.set(pid, course);
      course.megabytes.push((memoryOf(pid)?.privateBytes ?? NaN) / 1e6);
    }
    await sleep(everyMilliseconds);
  }
  const { progress } = await callService<RunRecord>(app, 'run', { run: id });
  console.log(`growth in ${minutes} minutes and ${progress?.epoch} epochs, of memory that is a process's own:`);
  const longest = Math.max(...[...courses.values()].map(({ megabytes }) => megabytes.length));
  // One that came or went meanwhile, to ask for a device, has no course.
  for (const { kind, megabytes } of courses.values()) if (megabytes.length > longest * 0.9) tellCourse(kind, megabytes);
  // On a fast machine it may have had all its epochs by then.
  await callService(app, 'stopRun', { run: id }).catch(() => undefined);
  await waitForState(app, id, 'stopped', 'completed');
}

/** A heap that is cleared now and then goes up and down: medians of tenths say more than two moments. */
function tellCourse(kind: string, megabytes: readonly number[]): void {
  const settled = megabytes.slice(Math.floor(megabytes.length / 3));
  const tenth = Math.max(1, Math.floor(settled.length / 10));
  const [before, after] = [median(settled.slice(0, tenth)), median(settled.slice(-tenth))];
  const grown = after - before;
  const words = `${before.toFixed(1)} to ${after.toFixed(1)} MB, most ${Math.max(...settled).toFixed(1)}`;
  console.log(`  ${kind.padEnd(28)} ${words}; limit +${limitMegabytes}${grown > limitMegabytes ? ': GROWS' : ''}`);
  if (grown > limitMegabytes) process.exitCode = 1;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
