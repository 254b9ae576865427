// Scenes of a size where slowness would show: a history of 10,000 runs, one long run, a search of 10,000 trials, a file of 85 MB.

import { nobody, queuePausedKey } from '../../engine/protocol/queue.ts';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '../../engine/history/database.ts';
import { createStore, databaseFileName } from '../../engine/history/store.ts';
import { searchFields, type SearchConfig } from '../../engine/learners/search/declaration.ts';
import type { MetricPoint } from '../../engine/protocol/runs.ts';
import type { Trial } from '../../engine/protocol/search.ts';
import { defaultsOf } from '../../engine/settings/values.ts';
import { exampleConfig, newRun } from '../unit/fixtures/history.ts';

export const runCount = 10_000;
export const longRun = { name: 'a long run', steps: 50_000 } as const;
export const longSearch = { run: 3, name: 'a long search', trials: 10_000 } as const;

/** A home whose paused queue has so many runs in it: `waiting 1 of it`, … */
export async function homeWithQueue(count: number): Promise<string> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-queue-'));
  const store = createStore(home);
  await store.setSetting({ key: queuePausedKey, value: true });
  await store.createRun(newRun({ name: 'waiting 1 of it', owner: nobody }));
  await store.close();
  const database = openDatabase(path.join(home, databaseFileName));
  database.execute(`
    WITH RECURSIVE number (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM number WHERE i < ${count})
    INSERT INTO run (name, state, dataset, dataset_name, created_at, owner_pid, owner_started_at, revision, search, config)
    SELECT 'waiting ' || i || ' of it', state, dataset, dataset_name, created_at, owner_pid, owner_started_at, revision, search, config
    FROM run, number`);
  database.close();
  fs.rmSync(path.join(home, `${databaseFileName}-seal`), { force: true });
  return home;
}

/**
 * A home with many ended runs of 50 series: one made by the store, the others copies of it with their own values. The
 * oldest of those are a long one and a search.
 */
export async function homeWithRuns(): Promise<string> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-many-'));
  const store = createStore(home);
  const ended = { state: 'completed', device: 'cpu', startedAt: 1, endedAt: 2 } as const;
  const { id } = await store.createRun(newRun({ name: 'run 1' }));
  const names = ['train_loss', 'val_loss', 'val_accuracy', ...Array.from({ length: 47 }, (_, i) => `metric_${i}`)];
  await store.append({ run: id, points: pointsOf(names, 4) });
  await store.updateRun({ run: id, patch: ended });
  const long = await store.createRun(newRun({ name: longRun.name }));
  await store.append({ run: long.id, points: pointsOf(['step_loss', 'train_loss', 'val_loss'], longRun.steps) });
  await store.updateRun({ run: long.id, patch: ended });
  const search = await store.createRun(newRun({ name: longSearch.name, config: searchConfig }));
  await store.keepTrials({ run: search.id, trials: Array.from({ length: longSearch.trials }, (_, at) => trialOf(at)) });
  await store.updateRun({ run: search.id, patch: ended });
  await store.close();

  const database = openDatabase(path.join(home, databaseFileName));
  database.transaction(() =>
    database.execute(`
      WITH RECURSIVE number (i) AS (SELECT ${search.id + 1} UNION ALL SELECT i + 1 FROM number WHERE i < ${runCount})
      INSERT INTO run (name, state, dataset, dataset_name, device, created_at, started_at, ended_at, owner_pid,
                       owner_started_at, revision, search, config)
      SELECT 'run ' || i, state, dataset, 'table ' || (i % 20), device, created_at + i, started_at, i, owner_pid,
             owner_started_at, revision, 'run ' || i, config
      FROM run, number WHERE run.id = ${id};
      INSERT INTO summary SELECT run.id, series, last, ((run.id * 7919 + series) % 997) / 997.0, 1 + run.id % 4
      FROM summary, run WHERE summary.run = ${id} AND run.id > ${search.id};
      INSERT INTO sample SELECT run.id, step, epoch, seconds, sample.data
      FROM sample, run WHERE sample.run = ${id} AND run.id > ${search.id};
    `),
  );
  database.close();
  // The seal is of the history as it was: without one, the app does not ask who changed it.
  fs.rmSync(path.join(home, `${databaseFileName}-seal`), { force: true });
  return home;
}

const number = { kind: 'float', low: 0, high: 1 } as const;
const searchConfig: SearchConfig = {
  ...{ dataset: 'd1', settings: exampleConfig.settings, device: 'cpu', threads: 1, seed: 1, learner: 'search' },
  search: {
    ...defaultsOf(searchFields, { rows: 150, task: 'classification' } as never),
    space: JSON.stringify({
      learningRate: { ...number, low: 0.01 },
      featureFraction: { ...number, low: 0.1 },
      l2: number,
    }),
  },
};

/** Every third was stopped early. */
function trialOf(at: number): Trial {
  const [learningRate, featureFraction, l2] = [7919, 6007, 5003].map((prime) => ((at * prime) % 9973) / 9973);
  const [state, note] =
    at % 3 === 1 ? (['stopped', 'at 15 of 60 in fold 1, 9 of 12'] as const) : (['completed', ''] as const);
  return {
    ...{ trial: at + 1, settings: { learningRate, featureFraction, l2 }, state, note },
    ...{ score: 0.3 + learningRate / 10 + l2 / 20, reached: state === 'stopped' ? 0.05 : 1, steps: 300 },
    ...{ losses: [0.31, 0.32, 0.33, 0.34, 0.35], rungs: [[0.25, 0.4]], seconds: 0.02, training: 0.01 },
  };
}

function pointsOf(names: readonly string[], steps: number): readonly MetricPoint[] {
  return Array.from({ length: steps }, (_, i) => i + 1).flatMap((step) =>
    names.map((series, k) => ({
      series,
      step,
      epoch: step,
      seconds: step,
      value: 1 / step + (((step * 7919 + k) % 13) * (steps > 4 ? 1 : 0)) / 13,
    })),
  );
}

/** 20 numbers and a class a row: 500,000 rows are 85 MB. */
export function writeWideTable(folder: string, rows: number): string {
  const file = path.join(folder, 'wide.csv');
  const columns = Array.from({ length: 20 }, (_, i) => `x${i}`);
  const out = fs.openSync(file, 'w');
  fs.writeSync(out, `${columns.join(',')},y\n`);
  let state = 1;
  const random = (): string => ((state = (state * 48271) % 2147483647) / 2147483647).toFixed(5);
  const block = 10_000;
  for (let first = 0; first < rows; first += block) {
    const lines = Array.from({ length: block }, (_, i) => `${columns.map(random).join(',')},${i % 2 ? 'a' : 'b'}`);
    fs.writeSync(out, lines.join('\n') + '\n');
  }
  fs.closeSync(out);
  return file;
}
