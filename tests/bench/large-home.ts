// A home of many runs with long curves, made quickly: its rows are written as the store writes them, but in one transaction and without
// its process. `node tests/bench/large-home.ts HOME [--runs 10000] [--series 50] [--points 200]`.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../engine/history/database.ts';
import { databaseFileName } from '../../engine/history/failures.ts';
import { migrate } from '../../engine/history/migrations.ts';
import { sealFile } from '../../engine/history/open.ts';
import { searchText } from '../../engine/history/records.ts';
import { packValues } from '../../engine/history/samples.ts';
import { exampleConfig } from '../unit/fixtures/history.ts';

export interface LargeHome {
  readonly runs: number;
  readonly series: number;
  readonly points: number;
}

/** Names of the series: a score and a loss of the validation split, then others. */
export function seriesName(index: number): string {
  return ['val_loss', 'val_accuracy', 'train_loss'][index] ?? `metric_${index}`;
}

/** Makes it; returns the seconds it took. */
export function makeLargeHome(home: string, { runs, series, points }: LargeHome): number {
  const start = performance.now();
  mkdirSync(home, { recursive: true });
  const file = join(home, databaseFileName);
  const connection = openDatabase(file);
  migrate(connection);
  connection.pragma('synchronous = OFF');
  connection.transaction(() => {
    const name = connection.sql('INSERT INTO series (id, name) VALUES (?, ?)');
    for (let index = 0; index < series; index++) name.run(index + 1, seriesName(index));
    const run = connection.sql(`
      INSERT INTO run (id, name, state, dataset, dataset_name, device, threads, parameters, created_at, started_at, ended_at,
        owner_pid, owner_started_at, revision, search, tags, config, progress, columns, "group")
      VALUES (@id, @name, 'completed', @dataset, @datasetName, @device, 2, @parameters, @at, @at, @at + 1000, 0, 0, @id, @search, @tags, @config, @progress, '[]', @group)`);
    const sample = connection.sql('INSERT INTO sample (run, step, epoch, seconds, data) VALUES (?, ?, ?, ?, ?)');
    const summary = connection.sql('INSERT INTO summary (run, series, last, best, best_epoch) VALUES (?, ?, ?, ?, ?)');
    for (let id = 1; id <= runs; id++) {
      const row = rowOf(id);
      run.run(row);
      const valueOf = (index: number, step: number): number => (1 + ((id * 7919 + index) % 1000)) / step;
      const values = Array.from({ length: series }, (_, index) => ({ series: index + 1, value: 0 }));
      for (let step = 1; step <= points; step++) {
        for (let index = 0; index < series; index++) values[index].value = valueOf(index, step);
        sample.run(id, step, step / 10, step / 10, packValues(values));
      }
      for (let index = 0; index < series; index++) {
        const last = valueOf(index, points);
        const lowest = seriesName(index).endsWith('loss');
        summary.run(id, index + 1, last, lowest ? last : valueOf(index, 1), (lowest ? points : 1) / 10);
      }
    }
    connection.sql('UPDATE counter SET revision = ?').run(runs);
  });
  connection.close();
  sealFile(file);
  return (performance.now() - start) / 1000;
}

const kinds = ['baseline', 'wide', 'deep', 'tuned'];

function rowOf(id: number): object {
  const name = `Run ${id} ${kinds[id % 4]}`;
  const tags = [`t${id % 10}`];
  const dataset = (id % 20).toString(16).padStart(32, 'd');
  const datasetName = `table ${id % 20}.csv`;
  const learningRate = 10 ** -(1 + (id % 4));
  const training = {
    ...exampleConfig.training,
    batch: 16 << (id % 4),
    optimizer: { ...exampleConfig.training.optimizer, learningRate },
  };
  const config = { ...exampleConfig, dataset, training, seed: id };
  const group = id % 25 === 0 ? `sweep ${id % 7}` : null;
  return {
    id,
    name,
    dataset,
    datasetName,
    device: id % 3 === 0 ? 'gpu' : 'cpu',
    parameters: 1000 + (id % 97),
    at: 1_700_000_000_000 + 60_000 * id,
    search: searchText({ name, datasetName, config, tags, notes: '', group, columns: ['age', 'income'] }),
    tags: JSON.stringify(tags),
    config: JSON.stringify(config),
    progress: JSON.stringify({
      epoch: 10,
      epochs: 10,
      step: 200,
      steps: 200,
      examplesPerSecond: 1e5,
      secondsTraining: id % 50,
      secondsElapsed: 1 + (id % 50),
      secondsLeft: 0,
      loss: 0.1,
    }),
    group,
  };
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      runs: { type: 'string', default: '10000' },
      series: { type: 'string', default: '50' },
      points: { type: 'string', default: '200' },
    },
  });
  if (positionals.length !== 1) throw new Error('Give the folder of the home to be.');
  const size = { runs: Number(values.runs), series: Number(values.series), points: Number(values.points) };
  console.log(`${size.runs * size.series * size.points} points in ${makeLargeHome(positionals[0], size).toFixed(1)} s`);
}
