// Times the history at full size: `node tests/bench/history.ts [--runs 10000] [--series 50] [--points 200] [--home FOLDER]`.
// Without --home it works in a temporary folder; with one that holds a history already, it only measures.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStore } from '../../engine/history/client.node.ts';
import { databaseFileName } from '../../engine/history/store.ts';
import type { MetricPoint } from '../../engine/protocol/runs.ts';
import type { RunQuery, StoreService } from '../../engine/protocol/store.ts';
import { newRun } from '../unit/fixtures/history.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    series: { type: 'string', default: '50' },
    points: { type: 'string', default: '200' },
    home: { type: 'string' },
  },
});
const runs = Number(values.runs);
const seriesCount = Number(values.series);
const pointCount = Number(values.points);
const home = values.home ?? mkdtempSync(join(tmpdir(), 'trainyard-bench-'));

async function fill(store: StoreService): Promise<void> {
  const start = performance.now();
  for (let index = 0; index < runs; index++) {
    const name = `Run ${index} ${['baseline', 'wide', 'deep', 'tuned'][index % 4]}`;
    const { id } = await store.createRun(newRun({ name, datasetName: `table ${index % 20}.csv` }));
    const patch = { state: 'completed', device: index % 3 ? 'cpu' : 'gpu', tags: [`t${index % 10}`] } as const;
    await store.updateRun({
      run: id,
      patch: { ...patch, startedAt: index, endedAt: 2 * index, parameters: index % 97 },
    });
    await store.append({ run: id, points: curves(index) });
  }
  const seconds = (performance.now() - start) / 1000;
  const total = runs * seriesCount * pointCount;
  console.log(`fill      ${total.toLocaleString()} points in ${seconds.toFixed(1)} s`);
}

function curves(run: number): readonly MetricPoint[] {
  const points: MetricPoint[] = [];
  for (let step = 1; step <= pointCount; step++) {
    for (let series = 0; series < seriesCount; series++) {
      const name = series === 0 ? 'val_loss' : `metric_${series}`;
      const value = (1 + ((run * 7919 + series) % 1000)) / step;
      points.push({ series: name, step, epoch: step / 10, seconds: step, value });
    }
  }
  return points;
}

/** Median of several calls, in milliseconds. */
async function time(label: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let repeat = 0; repeat < 9; repeat++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  const sorted = times.toSorted((a, b) => a - b);
  console.log(`${label.padEnd(44)} median ${sorted[4].toFixed(1)} ms, first ${times[0].toFixed(1)} ms`);
}

const opening = performance.now();
const store = await openStore({ home });
console.log(`open the store process ${(performance.now() - opening).toFixed(0)} ms`);
try {
  if ((await store.runs({ limit: 1 })).total === 0) await fill(store);
  console.log(`database  ${(statSync(join(home, databaseFileName)).size / 2 ** 20).toFixed(0)} MiB`);

  const page = 100;
  const queries: Readonly<Record<string, RunQuery>> = {
    newest: {},
    'sort by name': { sort: { by: 'name', descending: false } },
    'sort by duration': { sort: { by: 'duration', descending: true } },
    'sort by best val_loss': { sort: { by: 'best.val_loss', descending: false } },
    'sort by last metric_20': { sort: { by: 'last.metric_20', descending: true } },
    'search, nothing found': { search: 'nowhere to be found' },
    'search "deep 12"': { search: 'deep 12' },
    'filter by tag and state, sort by metric': {
      tags: ['t3'],
      states: ['completed', 'failed'],
      sort: { by: 'best.metric_7', descending: true },
    },
    'newest, page at the end': { offset: runs - page },
  };
  for (const [label, query] of Object.entries(queries)) {
    await time(`${label} (${page} of ${runs})`, () => store.runs({ limit: page, ...query }));
  }
  await time('newest (1000)', () => store.runs({ limit: 1000 }));
  await time('all (10000)', () => store.runs({ limit: runs }));
  await time('all curves of a run', () => store.metrics({ run: 17 }));
  await time('one curve of a run, thinned', () => store.metrics({ run: 17, series: ['val_loss'], limit: 100 }));
  const { id } = await store.createRun(newRun());
  let step = 0;
  await time('append 50 points', () => store.append({ run: id, points: curves(step++).slice(0, seriesCount) }));
  await store.updateRun({ run: id, patch: { state: 'stopped' } });
  await store.deleteRuns({ runs: [id] });
  await store.purge({ runs: [id] });
} finally {
  await store.close();
  if (values.home === undefined) rmSync(home, { recursive: true });
}
