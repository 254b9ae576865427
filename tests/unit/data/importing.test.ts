// The life of an import: whole or not at all, once per content, cancellable, and cleaned up after a crash.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { Database } from '../../../engine/data/database.ts';
import { describeTable } from '../../../engine/data/describe.ts';
import { factsOf } from '../../../engine/data/intact.ts';
import { Job } from '../../../engine/data/jobs.ts';
import { measuredTable } from '../../../engine/data/schema/table.ts';
import { DatasetStore } from '../../../engine/data/store.ts';
import type { Progress } from '../../../engine/protocol/data.ts';
import { CancelledError } from '../../../engine/protocol/errors.ts';
import { allRows, makeService, messy, samples, temporaryFolder, writeTable } from './helpers.ts';

/** A table that takes a while to read. */
function largeTable(context: TestContext, rows: number): string {
  const line = `${Array.from({ length: 12 }, (_, index) => (index * 1.37).toFixed(3)).join(',')},word\n`;
  const header = `${Array.from({ length: 12 }, (_, index) => `n${index}`).join(',')},kind\n`;
  return writeTable(context, 'large.csv', header + line.repeat(rows));
}

function datasetFolders(home: string): string[] {
  return existsSync(join(home, 'datasets')) ? readdirSync(join(home, 'datasets')) : [];
}

test('a dataset is a folder with its rows and a manifest, named by content', async (context) => {
  const service = makeService(context);
  const info = await service.import({ job: 'a', path: `${samples}penguins.csv` });
  assert.deepEqual(readdirSync(join(service.home, 'datasets', info.id)).sort(), ['data.parquet', 'manifest.json']);
  assert.deepEqual([info.name, info.source, info.kind, info.rows], ['penguins', 'penguins.csv', 'table', 344]);
  const size = (path: string): number => statSync(path).size;
  const copy = join(service.home, 'datasets', info.id, 'data.parquet');
  assert.deepEqual([info.sourceBytes, info.bytes], [size(`${samples}penguins.csv`), size(copy)]);
  assert.deepEqual(datasetFolders(service.home), [info.id]);
  const manifest = readFileSync(join(service.home, 'datasets', info.id, 'manifest.json'), 'utf8');
  assert.ok(!manifest.includes(samples), 'no path of the source is kept');
});

test('the same content is the same dataset, from any path and in another process', async (context) => {
  const service = makeService(context);
  const first = await service.import({ job: 'a', path: messy('tabs.csv') });
  const copy = writeTable(context, 'copy.csv', readFileSync(messy('tabs.csv')));
  const second = await service.import({ job: 'b', path: copy });
  assert.equal(second.id, first.id);
  assert.deepEqual(datasetFolders(service.home), [first.id]);
  const other = makeService(context, { home: service.home });
  assert.deepEqual(
    (await other.list()).map(({ id }) => id),
    [first.id],
  );
  assert.equal((await other.import({ job: 'c', path: messy('tabs.csv') })).importedAt, first.importedAt);
});

test('two imports of one file at the same time end in one dataset', async (context) => {
  const service = makeService(context);
  const other = makeService(context, { home: service.home });
  const path = largeTable(context, 20_000);
  const [first, second] = await Promise.all([service.import({ job: 'a', path }), other.import({ job: 'b', path })]);
  assert.equal(first.id, second.id);
  assert.deepEqual(datasetFolders(service.home), [first.id]);
});

test('progress goes from 0 to 1, with the time left', async (context) => {
  const service = makeService(context);
  const seen: Progress[] = [];
  service.onProgress(({ job, progress }) => {
    if (job === 'big') seen.push(progress);
  });
  // Long enough that a quick machine is looked at several times while it reads.
  await service.import({ job: 'big', path: largeTable(context, 1_600_000) });
  const shares = seen.flatMap(({ stage, share }) => (stage.startsWith('Reading') && share !== null ? [share] : []));
  assert.ok(shares.length > 0, seen.map(({ stage }) => stage).join('; '));
  assert.ok(shares.every((share, index) => share >= (shares[index - 1] ?? 0) && share <= 1));
  assert.ok(seen.some(({ secondsLeft }) => secondsLeft !== null));
  assert.ok(seen.some(({ stage }) => /Reading \d+ of \d+ MB/.test(stage)));
});

test('a cancelled import stops at once and leaves nothing behind', async (context) => {
  const service = makeService(context);
  const path = largeTable(context, 400_000);
  // Other programs may hold the processor: the quickest of three counts.
  let milliseconds = Infinity;
  for (let attempt = 0; attempt < 3 && milliseconds >= 500; attempt++) {
    const importing = service.import({ job: 'big', path });
    await new Promise((resolve) => setTimeout(resolve, 150));
    const cancelledAt = performance.now();
    await service.cancel({ job: 'big' });
    await assert.rejects(importing, { name: 'CancelledError', code: 'run.cancelled' });
    milliseconds = Math.min(milliseconds, performance.now() - cancelledAt);
    assert.deepEqual(datasetFolders(service.home), []);
  }
  assert.ok(milliseconds < 500, `${milliseconds} ms`);
  // The service goes on.
  assert.equal((await service.import({ job: 'next', path: messy('tabs.csv') })).rows, 40);
});

test('looking for copies may end before what goes on beside it: a failure like any other', async (context) => {
  const service = makeService(context);
  const lines = Array.from({ length: 40_000 }, (_, row) => `${(row * 7919) % 40_009},${row % 3 ? 'yes' : 'no'}`);
  const { id, rows } = await service.import({
    job: 'long',
    path: writeTable(context, 'long.csv', `n,kind\n${lines.join('\n')}\n`),
  });
  const store = new DatasetStore(service.home);
  const { columns } = await store.read(id);
  const limits = { memoryBytes: 2 ** 29, threads: 1 };
  const database = await Database.open(limits, store.spillFolder(), { files: [], folders: [store.folder] });
  const table = measuredTable(store.dataPath(id), rows, columns.length);
  const ended = (): Promise<never> => Promise.reject(new CancelledError());
  // It would end this process if nobody listened to it while the other goes on.
  await assert.rejects(describeTable(database.connection, ended, table, columns, [], {}), { code: 'run.cancelled' });
  database.close();
});

test('what is cancelled as soon as it is asked for does not come about', async (context) => {
  const service = makeService(context);
  const importing = service.import({ job: 'early', path: messy('tabs.csv') });
  await service.cancel({ job: 'early' });
  await assert.rejects(importing, { name: 'CancelledError', code: 'run.cancelled' });
  assert.deepEqual(datasetFolders(service.home), []);
});

test('what a crash left is removed at the next start, what another process is making is not', async (context) => {
  const home = temporaryFolder(context);
  const child = spawn(process.execPath, ['--eval', '']);
  const dead = child.pid ?? 0;
  await new Promise((resolve) => child.once('exit', resolve));
  const alive = process.ppid;
  for (const pid of [dead, alive]) {
    mkdirSync(join(home, 'datasets', `.importing-${pid}-abc123`), { recursive: true });
    writeFileSync(join(home, 'datasets', `.importing-${pid}-abc123`, 'data.parquet'), 'half');
  }
  const service = makeService(context, { home });
  await service.import({ job: 'a', path: messy('tabs.csv') });
  const left = datasetFolders(home).filter((name) => name.startsWith('.'));
  assert.deepEqual(left, [`.importing-${alive}-abc123`]);
  assert.equal((await service.list()).length, 1);
});

test('a removed dataset is gone', async (context) => {
  const service = makeService(context);
  const { id } = await service.import({ job: 'a', path: messy('tabs.csv') });
  await service.remove({ dataset: id });
  assert.deepEqual(await service.list(), []);
  assert.deepEqual(datasetFolders(service.home), []);
  await assert.rejects(service.remove({ dataset: id }), { code: 'input.unknown_dataset' });
});

test('pages of rows, anywhere and beyond the end', async (context) => {
  const service = makeService(context);
  const lines = Array.from({ length: 100_000 }, (_, index) => `${index},w${index % 10}`);
  const path = writeTable(context, 'long.csv', `n,w\n${lines.join('\n')}\n`);
  const { id } = await service.import({ job: 'a', path });
  const page = await service.rows({ dataset: id, offset: 70_000, limit: 3 });
  assert.deepEqual(page, {
    offset: 70_000,
    total: 100_000,
    rows: [
      [70_000, 'w0'],
      [70_001, 'w1'],
      [70_002, 'w2'],
    ],
  });
  assert.equal((await service.rows({ dataset: id, offset: 99_999, limit: 50 })).rows.length, 1);
  assert.equal((await service.rows({ dataset: id, offset: 100_000, limit: 50 })).rows.length, 0);
});

test('rows keep the order of the file', async (context) => {
  const service = makeService(context);
  const lines = Array.from({ length: 60_000 }, (_, index) => `${(index * 7919) % 60_000}`);
  const info = await service.import({ job: 'a', path: writeTable(context, 'order.csv', `n\n${lines.join('\n')}\n`) });
  const rows = await allRows(service, info);
  assert.ok(rows.every(([value], index) => value === (index * 7919) % 60_000));
});

test('a file larger than the memory allowed is read all the same', async (context) => {
  const service = makeService(context, { memoryBytes: 64 * 2 ** 20 });
  const lines = Array.from({ length: 4000 }, (_, index) => `${index},${'text '.repeat(8)}${index % 911}`);
  const text = `${lines.join('\n')}\n`;
  const path = writeTable(context, 'wide.csv', `n,t\n${text.repeat(400)}`);
  const info = await service.import({ job: 'a', path });
  assert.equal(info.rows, 1_600_000);
  assert.equal(info.columns[0]?.maximum, 3999);
});

test('hashing the copy of a cancelled import stops', async (context) => {
  const service = makeService(context);
  const { id } = await service.import({ job: 'a', path: `${samples}penguins.csv` });
  const job = new Job('copy', () => undefined);
  const folder = join(service.home, 'datasets', id);
  assert.deepEqual(Object.keys(await factsOf(folder, job)), ['data.parquet']);
  job.cancel();
  await assert.rejects(factsOf(folder, job), { code: 'run.cancelled' });
});

test('a service that is closed ends what its database is asked, and nothing is asked any more', async (context) => {
  const folder = temporaryFolder(context);
  const database = await Database.open({ memoryBytes: 2 ** 28, threads: 1 }, folder, { files: [], folders: [] });
  const told: string[] = [];
  const endless = database.use(async (connection) => {
    await connection
      .run('SELECT sum(a * a) FROM range(1000000000000) AS rows(a)')
      .catch(() => told.push('interrupted'));
    await connection.run('SELECT 1').finally(() => told.push('asked once more'));
  });
  await database.stop();
  assert.deepEqual(told, ['interrupted', 'asked once more']);
  await endless.catch(() => undefined);

  const service = makeService(context);
  const { id } = await service.import({ job: 'import', path: messy('correlated.csv') });
  await service.close();
  const described = service.describe({ dataset: id, settings: { target: 'nothing' } });
  await assert.rejects(described, { name: 'CancelledError' });
  const again = { job: 'again', path: messy('correlated.csv') };
  await assert.rejects(service.import(again), { name: 'CancelledError' });
});
