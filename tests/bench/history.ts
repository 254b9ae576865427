// Times the history at full size, as the window asks it: `node tests/bench/history.ts [--runs 10000] [--series 50] [--points 200] [--home FOLDER]`.
// Without --home it works in a temporary folder, filled by large-home.ts; with one that holds a history already, it only measures. Lines with
// a limit end with what the limit is; the process ends with 1 where a median is above it.

import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStore } from '../../engine/history/client.node.ts';
import { databaseFileName } from '../../engine/history/store.ts';
import type { MetricPoint } from '../../engine/protocol/runs.ts';
import type { RunQuery } from '../../engine/protocol/store.ts';
import { listedFields, listedSeries } from '../../renderer/views/runs/listed.ts';
import { newRun } from '../unit/fixtures/history.ts';
import { makeLargeHome, seriesName } from './large-home.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    series: { type: 'string', default: '50' },
    points: { type: 'string', default: '200' },
    home: { type: 'string' },
  },
});
const size = { runs: Number(values.runs), series: Number(values.series), points: Number(values.points) };
const home = values.home ?? mkdtempSync(join(tmpdir(), 'trainyard-bench-'));
/** Milliseconds that were promised. */
const limits = { table: 200, sort: 100, overlay: 300 } as const;
const page = 100;
const overlaid = 20;

/** Median of several calls, in milliseconds, beside what was promised. */
async function time(label: string, work: () => Promise<unknown>, limit?: number): Promise<void> {
  const times: number[] = [];
  for (let repeat = 0; repeat < 9; repeat++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const told = limit === undefined ? '' : `, limit ${limit} ms${sorted[4] > limit ? ': TOO SLOW' : ''}`;
  if (limit !== undefined && sorted[4] > limit) process.exitCode = 1;
  const figures = `median ${sorted[4].toFixed(1)} ms, least ${sorted[0].toFixed(1)} ms, first ${times[0].toFixed(1)} ms`;
  console.log(`${label.padEnd(46)} ${figures}${told}`);
}

if (!existsSync(join(home, databaseFileName))) {
  const seconds = makeLargeHome(home, size);
  console.log(
    `fill      ${(size.runs * size.series * size.points).toLocaleString()} points in ${seconds.toFixed(1)} s`,
  );
}
const opening = performance.now();
const store = await openStore({ home });
console.log(`open the store process ${(performance.now() - opening).toFixed(0)} ms`);
try {
  console.log(`database  ${(statSync(join(home, databaseFileName)).size / 2 ** 20).toFixed(0)} MiB`);
  /** As the table of the window asks: a page, of each run what its columns show. */
  const table = (query: RunQuery): Promise<unknown> =>
    store.runs({ limit: page, fields: listedFields, series: listedSeries, ...query });
  await time('table: the newest runs', () => table({}), limits.table);
  const queries: Readonly<Record<string, RunQuery>> = {
    'sort by name': { sort: { by: 'name', descending: false } },
    'sort by time': { sort: { by: 'duration', descending: true } },
    'sort by best val_loss': { sort: { by: 'best.val_loss', descending: false } },
    'sort by last val_accuracy': { sort: { by: 'last.val_accuracy', descending: true } },
    'sort by group': { sort: { by: 'group', descending: false } },
    'filter by words of names: deep 12': { search: 'deep 12' },
    'filter by a setting: "learning rate 0.001"': { search: '"learning rate 0.001"' },
    'filter by a column: income': { search: 'income' },
    'filter, nothing found': { search: 'nowhere to be found' },
    'filter by group': { group: 'sweep 3' },
    'filter by tag and state, sorted by a metric': {
      tags: ['t3'],
      states: ['completed', 'failed'],
      sort: { by: 'best.metric_7', descending: true },
    },
    'page at the end': { offset: size.runs - page },
  };
  for (const [label, query] of Object.entries(queries)) await time(label, () => table(query), limits.sort);
  const chosen = Array.from({ length: overlaid }, (_, index) => 1 + index * Math.floor(size.runs / overlaid));
  const series = [seriesName(0), seriesName(1)];
  const overlay = async (): Promise<void> => {
    await Promise.all(chosen.map((run) => store.run({ run })));
    await Promise.all(chosen.map((run) => store.metrics({ run, series, limit: 2000 })));
  };
  await time(`overlay of ${overlaid} runs`, overlay, limits.overlay);
  await time('newest (1000)', () => store.runs({ limit: 1000 }));
  await time('all curves of a run', () => store.metrics({ run: 17 }));
  const { id } = await store.createRun(newRun());
  let step = 0;
  await time('append 50 points', () => store.append({ run: id, points: moment(++step) }));
  await store.updateRun({ run: id, patch: { state: 'stopped' } });
  await store.deleteRuns({ runs: [id] });
  await store.purge({ runs: [id] });
} finally {
  await store.close();
  if (values.home === undefined) rmSync(home, { recursive: true });
}

function moment(step: number): readonly MetricPoint[] {
  return Array.from({ length: size.series }, (_, index) => ({
    series: seriesName(index),
    step,
    epoch: step,
    seconds: step,
    value: 1 / step,
  }));
}
