// Kills a process at random moments of its work, again and again on one home, and looks at what is left: all that it was told
// is kept has to be there, whole, and the next process has to be able to go on.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDataService } from '../../engine/data/service.ts';
import { openDatabase } from '../../engine/history/database.ts';
import { createStore } from '../../engine/history/store.ts';
import { finalStates } from '../../engine/protocol/runs.ts';
import { decodeCheckpoint } from '../../engine/train/checkpoint.ts';
import type { Kept } from './victim.ts';

const victim = new URL('./victim.ts', import.meta.url);

/** Facts after which a process has done some work. */
const enoughFacts = 12;

export interface KillReport {
  readonly kills: number;
  /** Facts that had been reported as kept, all of which were looked up. */
  readonly facts: number;
  /** What went wrong, in words; has to be empty. */
  readonly wrong: readonly string[];
}

/** Numbers from 0 to 1 that a seed decides. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export async function killMany(home: string, kills: number, seed: number): Promise<KillReport> {
  const random = randomNumbers(seed);
  const wrong: string[] = [];
  let facts = 0;
  for (let number = 0; number < kills; number++) {
    const kept = await killOne(home, number, random);
    facts += kept.length;
    try {
      await check(home, kept, (what) => wrong.push(`kill ${number}: ${what}`));
    } catch (error) {
      wrong.push(`kill ${number}: ${error instanceof Error ? `${error.message} ${error.stack}` : String(error)}`);
    }
  }
  return { kills, facts, wrong };
}

/** What one process was told before it was killed. */
async function killOne(home: string, number: number, random: () => number): Promise<readonly Kept[]> {
  const child = fork(victim, [home, String(number)], { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const kept: Kept[] = [];
  let text = '';
  child.stderr?.on('data', (part) => (text += String(part)));
  const exited = once(child, 'exit');
  let worked = (): void => undefined;
  const enough = new Promise<void>((resolve) => (worked = resolve));
  const ready = new Promise<void>((resolve) => {
    child.on('message', (message: Kept | { kind: 'ready' }) => {
      if (message.kind === 'ready') resolve();
      else if (kept.push(message) >= enoughFacts) worked();
    });
  });
  await Promise.race([ready, exited]);
  // Every second one is let do some work first, however slow the machine is just now.
  if (number % 2 === 1) await Promise.race([enough, exited, new Promise((resolve) => setTimeout(resolve, 20_000))]);
  await Promise.race([new Promise((resolve) => setTimeout(resolve, random() * 900)), exited]);
  const killed = child.kill('SIGKILL');
  await exited;
  if (!killed) throw new Error(`the process ended by itself: ${text}`);
  return kept;
}

async function check(home: string, kept: readonly Kept[], fail: (what: string) => void): Promise<void> {
  const store = createStore(home);
  await store.recover();
  const gone = new Set(kept.flatMap((fact) => (fact.kind === 'purging' ? [fact.run] : [])));
  const { runs } = await store.runs({ limit: 10_000 });
  for (const run of runs) {
    // What had not begun waits for the next process that adopts it.
    if (!finalStates.has(run.state) && run.state !== 'queued') fail(`run ${run.id} is ${run.state}`);
  }
  for (const fact of kept) {
    if ('run' in fact && gone.has(fact.run)) {
      if (fact.kind === 'purged' && runs.some(({ id }) => id === fact.run)) fail(`run ${fact.run} is back`);
      continue;
    }
    switch (fact.kind) {
      case 'run':
        await store.run({ run: fact.run });
        break;
      case 'step': {
        const points = await store.metrics({ run: fact.run, series: ['val_loss'] });
        if (points.find(({ step }) => step === fact.step)?.value !== 1 / fact.step) fail(`step ${fact.step} is lost`);
        break;
      }
      case 'checkpoint': {
        const data = await store.readFile({ run: fact.run, file: 'checkpoint.bin' });
        const previous = await store.readFile({ run: fact.run, file: 'checkpoint.previous.bin' });
        const whole = (data ?? previous)?.every((byte, _, all) => byte === all[0] && byte >= fact.value - 3);
        if (whole !== true) fail(`the checkpoint of step ${fact.value} of run ${fact.run} is lost`);
        break;
      }
      case 'exported': {
        const text = readFileSync(fact.file, 'utf8');
        if (text.length !== 200_000 || text !== text[0].repeat(200_000)) fail('an export is half-written');
        break;
      }
      case 'dataset':
      case 'purging':
      case 'purged':
      case 'trashed':
        break;
      default:
        fact satisfies never;
    }
  }
  for (const { id } of runs.filter(({ config, hasCheckpoint }) => config.dataset !== 'd1' && hasCheckpoint)) {
    const data = await store.readFile({ run: id, file: 'checkpoint.bin' });
    if (data) decodeCheckpoint(data);
  }
  await store.close();
  const database = openDatabase(join(home, 'history.db'));
  if (database.pragma('integrity_check') !== 'ok') fail('the database is damaged');
  database.close();
  await checkDatasets(home, kept, fail);
}

async function checkDatasets(home: string, kept: readonly Kept[], fail: (what: string) => void): Promise<void> {
  const data = createDataService({ home });
  for (const fact of kept) {
    if (fact.kind !== 'dataset') continue;
    const { rows, total } = await data.rows({ dataset: fact.id, offset: 299, limit: 1 });
    if (total !== 300 || rows[0][0] !== 299 % 17) fail(`dataset ${fact.id} is not what was imported`);
  }
  // What was being imported when the process died is in nobody's way.
  const source = kept.findLast((fact) => fact.kind === 'dataset');
  if (source) await data.import({ job: 'again', path: source.file });
  await data.close();
}
