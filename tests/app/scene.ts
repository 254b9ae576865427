// Setting a scene: tables to train on and runs that are under way, made over the AppService where the walk there is not what a
// test is about.

import type { NetworkConfig } from '../../engine/learners/network/declaration.ts';
import fs from 'node:fs';
import path from 'node:path';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import { atOnceKey } from '../../engine/protocol/queue.ts';
import type { RunRecord, RunState } from '../../engine/protocol/runs.ts';
import { callService, chooseNext, expect, type App } from './launch.ts';

/** Two classes that a line almost separates, with a little noise; the same rows every time. */
export function writeTable(folder: string, rows: number, name = 'points.csv'): string {
  let state = 1;
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  const lines = Array.from({ length: rows }, () => {
    const [x, y] = [random() * 4 - 2, random() * 4 - 2];
    return `${x.toFixed(4)},${y.toFixed(4)},${x + y + random() - 0.5 > 0 ? 'above' : 'below'}`;
  });
  const file = path.join(folder, name);
  fs.writeFileSync(file, ['width,height,side', ...lines].join('\n') + '\n');
  return file;
}

/** Imports a file through the open dialog, without the page's own views. */
export async function importTable(app: App, file: string): Promise<DatasetInfo> {
  await chooseNext(app, file);
  const { token } = await callService<{ token: string }>(app, 'choose', { kind: 'file' });
  return callService<DatasetInfo>(app, 'importPath', { job: `scene-${token}`, token });
}

export function runConfig(
  dataset: Pick<DatasetInfo, 'id' | 'rows' | 'task' | 'settings'>,
  epochs: number,
): NetworkConfig {
  const { seed, ...usual } = defaultTraining(dataset.rows, dataset.task ?? 'classification');
  return {
    learner: 'network',
    dataset: dataset.id,
    settings: dataset.settings,
    model: mlp([32, 16]),
    training: {
      ...usual,
      epochs,
      earlyStopping: { enabled: false, patience: 10, minimumDelta: 0 },
    },
    device: 'cpu',
    threads: 1,
    seed,
  };
}

export async function startRun(app: App, dataset: DatasetInfo, epochs: number, name = 'A run'): Promise<RunRecord> {
  return callService<RunRecord>(app, 'startRun', { name, config: runConfig(dataset, epochs) });
}

/** Runs take turns, however much of the machine they leave unused. */
export const oneAtATime = (app: App): Promise<void> => callService(app, 'setSetting', { key: atOnceKey, value: 1 });

export async function waitForState(app: App, run: number, ...states: readonly RunState[]): Promise<RunRecord> {
  await expect
    .poll(async () => (await callService<RunRecord>(app, 'run', { run })).state, { timeout: 60_000 })
    .toEqual(expect.stringMatching(new RegExp(`^(${states.join('|')})$`)));
  return callService<RunRecord>(app, 'run', { run });
}

/** Waits until a run has made so many epochs. */
export async function waitForEpoch(app: App, run: number, epoch: number): Promise<void> {
  await expect
    .poll(async () => (await callService<RunRecord>(app, 'run', { run })).progress?.epoch ?? 0, { timeout: 60_000 })
    .toBeGreaterThanOrEqual(epoch);
}

/** Process numbers of the app's processes of one kind: `training`, `data`, `store`. */
export async function processIds({ electron }: App, kind: string): Promise<readonly number[]> {
  const utilities = await electron.evaluate(
    ({ app }, name) =>
      app
        .getAppMetrics()
        .filter((metric) => metric.serviceName === name || metric.name === name)
        .map(({ pid }) => pid),
    `Trainyard ${kind}`,
  );
  return utilities.length > 0 ? utilities : plainNodeChildren(electron.process().pid ?? 0, kind);
}

/**
 * Halts what trains, or lets it go on. A halted run counts as running and takes nothing of the machine from what is looked at;
 * let go on before it is stopped. Windows has no signal for it: there it goes on.
 */
export async function trainingHalted(app: App, halted: boolean): Promise<void> {
  if (process.platform === 'win32') return;
  for (const pid of await processIds(app, 'training')) {
    try {
      process.kill(pid, halted ? 'SIGSTOP' : 'SIGCONT');
    } catch (error) {
      // One that has ended needs no signal.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Kills the process of this kind, and waits until the app has taken note of its end. */
export async function killProcess(app: App, kind: string): Promise<void> {
  const [pid] = await processIds(app, kind);
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => isAlive(pid)).toBe(false);
}

/** Also while it has ended and its parent has not looked yet. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The store runs under plain Node where Electron's own is too old. */
function plainNodeChildren(parent: number, kind: string): readonly number[] {
  if (process.platform !== 'linux') return [];
  return fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        const ppid = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[1];
        return Number(ppid) === parent && fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${kind}.cjs`);
      } catch {
        return false;
      }
    })
    .map(Number);
}
