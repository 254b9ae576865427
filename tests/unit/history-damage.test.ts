// A history that was damaged, lost, or cannot be written: noticed on opening, repaired without losing what can be kept, looked
// at where nothing can be written, and tidied where the disk is full.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import test from 'node:test';
import Database from 'better-sqlite3';
import { backupsOf } from '../../engine/history/backups.ts';
import { openDatabase } from '../../engine/history/database.ts';
import { refuseForeign } from '../../engine/history/foreign.ts';
import { migrate, migrations } from '../../engine/history/migrations.ts';
import { repairHome } from '../../engine/history/repair.ts';
import { createStore } from '../../engine/history/store.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { RepairReport, StoreService } from '../../engine/protocol/store.ts';
import type { RunResult } from '../../engine/protocol/runs.ts';
import { newRun, point, temporaryHome } from './fixtures/history.ts';

const corrupt = (what: RegExp) => (error: unknown) => {
  assert.ok(error instanceof InputError, String(error));
  assert.equal(error.code, 'store.corrupt');
  assert.match(error.message, what);
  assert.match(error.hint, /trainyard repair/);
  assert.doesNotMatch(error.message, /\n/, 'one line');
  return true;
};

/** A home with completed runs that have curves, a log and a file; closed. */
async function homeWithRuns(home: string, count = 3): Promise<void> {
  const store = createStore(home);
  for (let index = 0; index < count; index++) await addRun(store, `run ${index + 1}`);
  await store.setSetting({ key: 'theme', value: 'dark' });
  await store.close();
}

async function addRun(store: StoreService, name: string): Promise<number> {
  const { id } = await store.createRun(newRun({ name }));
  const points = Array.from({ length: 200 }, (_, step) => point('val_loss', step + 1, 1 / (step + 1)));
  await store.append({ run: id, points, log: [{ time: 1, level: 'info', message: `log of ${name}` }] });
  await store.writeFile({ run: id, file: 'model.json', data: new Uint8Array(50) });
  await store.updateRun({ run: id, patch: { state: 'completed', startedAt: 1, endedAt: 2 } });
  return id;
}

function flip(file: string, offset: number, bit = 3): void {
  const bytes = readFileSync(file);
  bytes[offset] ^= 1 << bit;
  writeFileSync(file, bytes);
}

test('a history that is empty, cut down to a byte, gone or another one beside full run folders is damage', async (context) => {
  const home = temporaryHome(context);
  await homeWithRuns(home);
  const file = join(home, 'history.db');
  const whole = readFileSync(file);
  writeFileSync(file, '');
  assert.throws(() => createStore(home), corrupt(/it is empty, but the folder runs holds 3 runs/));
  writeFileSync(file, 'S');
  assert.throws(() => createStore(home), corrupt(/it has 1 bytes/));
  rmSync(file);
  assert.throws(() => createStore(home), corrupt(/it is gone, but the folder runs holds 3 runs/));
  rmSync(`${file}-seal`);
  const other = temporaryHome(context);
  await createStore(other).close();
  writeFileSync(file, readFileSync(join(other, 'history.db')));
  assert.throws(() => createStore(home), corrupt(/it has no runs, but the folder runs holds 3/));
  writeFileSync(file, whole);
  const store = createStore(home);
  assert.equal((await store.runs({})).total, 3);
  await store.close();
});

test('every single flipped bit of a closed history is noticed', async (context) => {
  const home = temporaryHome(context);
  await homeWithRuns(home);
  const file = join(home, 'history.db');
  const { size } = statSync(file);
  for (let index = 0; index < 50; index++) {
    const offset = (index * 7919 + 18) % size;
    flip(file, offset, index % 8);
    assert.throws(() => createStore(home), corrupt(/./), `byte ${offset}`);
    flip(file, offset, index % 8);
  }
  writeFileSync(file, readFileSync(file).subarray(0, size - 4096));
  assert.throws(() => createStore(home), corrupt(/./));
});

test('what a killed process leaves is checked: its log, its pages, its tables', async (context) => {
  const source = temporaryHome(context);
  const live = createStore(source);
  for (let index = 0; index < 3; index++) await addRun(live, `run ${index}`);
  /** The home as kill -9 would leave it now. */
  const killed = (): string => {
    const home = temporaryHome(context);
    for (const name of ['history.db', 'history.db-wal', 'history.db-seal']) {
      writeFileSync(join(home, name), readFileSync(join(source, name)));
    }
    return home;
  };
  const whole = createStore(killed());
  assert.equal((await whole.runs({})).total, 3);
  await whole.close();

  const cut = killed();
  const log = readFileSync(join(cut, 'history.db-wal'));
  writeFileSync(join(cut, 'history.db-wal'), log.subarray(0, log.length - 1000));
  await createStore(cut).close();

  const flipped = killed();
  flip(join(flipped, 'history.db-wal'), 200);
  assert.throws(() => createStore(flipped), corrupt(/write-ahead log, history.db-wal, has been changed/));
  const gone = killed();
  rmSync(join(gone, 'history.db-wal'));
  assert.throws(() => createStore(gone), corrupt(/write-ahead log, history.db-wal, is gone/));
  await live.close();

  const table = temporaryHome(context);
  await homeWithRuns(table);
  const connection = openDatabase(join(table, 'history.db'));
  connection.execute('DROP INDEX run_by_state');
  connection.close();
  rmSync(join(table, 'history.db-seal'));
  assert.throws(() => createStore(table), corrupt(/its tables are not those of a history/));

  const page = temporaryHome(context);
  await homeWithRuns(page);
  rmSync(join(page, 'history.db-seal'));
  const bytes = readFileSync(join(page, 'history.db'));
  writeFileSync(join(page, 'history.db'), bytes.fill(0xaa, 8192, 8200));
  assert.throws(() => createStore(page), corrupt(/./));
});

test('a large history is checked beside the calls, which are refused once damage is found', async (context) => {
  const home = temporaryHome(context);
  await homeWithRuns(home);
  const file = join(home, 'history.db');
  const fill = openDatabase(file);
  fill.transaction(() => {
    const insert = fill.sql('INSERT INTO sample (run, step, epoch, seconds, data) VALUES (1, ?, 1, 1, ?)');
    for (let step = 1000; step < 1500; step++) insert.run(step, new Uint8Array(40_000));
  });
  fill.close();
  rmSync(`${file}-seal`);
  const sealing = createStore(home);
  await sealing.setSetting({ key: 'a', value: 1 });
  await sealing.close();
  assert.ok(existsSync(`${file}-seal`));
  flip(file, statSync(file).size - 3000);
  const store = createStore(home);
  const reads = async (): Promise<never> => {
    for (;;) {
      await store.runs({});
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await assert.rejects(reads(), corrupt(/has changed since Trainyard closed it/));
  await store.close();
});

type Repaired = Extract<RepairReport, { problem: string }>;

async function repaired(home: string): Promise<Repaired> {
  const report = await repairHome(home);
  assert.ok(report.problem !== null, 'there was something to repair');
  return report;
}

test('a backup is made each day; repair builds on it, on what can be read and on the folders', async (context) => {
  const home = temporaryHome(context);
  assert.deepEqual(await repairHome(home), { problem: null }, 'an empty home is whole');
  await homeWithRuns(home, 2);
  rmSync(join(home, 'backups'), { recursive: true, force: true });
  const store = createStore(home);
  while (backupsOf(home).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  const third = await addRun(store, 'after the backup');
  await store.updateRun({ run: 1, patch: { name: 'renamed after it' } });
  await store.close();
  assert.deepEqual(await repairHome(home), { problem: null });

  const file = join(home, 'history.db');
  const whole = readFileSync(file);
  // The state of run 2, which follows its name.
  flip(file, whole.indexOf('run 2completed') + 'run 2'.length);
  const readable = await repaired(home);
  assert.deepEqual(readable.fromBackup, [2]);
  assert.deepEqual([...readable.salvaged].sort(), [1, third]);
  assert.ok(readable.setAside !== null && existsSync(readable.setAside), 'the damaged file is kept');
  const again = createStore(home);
  assert.equal((await again.run({ run: 1 })).name, 'renamed after it');
  assert.equal((await again.metrics({ run: third })).length, 200);
  assert.equal((await again.run({ run: third })).last.val_loss, 1 / 200);
  assert.match((await again.log({ run: third })).at(-1)!.message, /Taken from a damaged history/);
  assert.equal(await again.getSetting({ key: 'theme' }), 'dark');
  await again.close();

  // Now nothing can be read of it.
  writeFileSync(file, whole.fill(0x55));
  const lost = await repaired(home);
  assert.deepEqual(lost.fromBackup, [2]);
  assert.deepEqual([...lost.rebuilt].sort(), [1, third], 'from their folders');
  const last = createStore(home);
  const first = await last.run({ run: 1 });
  assert.equal(first.name, 'renamed after it');
  assert.equal((await last.metrics({ run: 1 })).length, 200, 'its curve as the backup had it');
  await last.close();
});

test('without a backup, runs are rebuilt from their folders; numbers are never used again', async (context) => {
  const home = temporaryHome(context);
  await homeWithRuns(home, 3);
  rmSync(join(home, 'backups'), { recursive: true, force: true });
  const store = createStore(home);
  await store.deleteRuns({ runs: [2] });
  await store.close();
  rmSync(join(home, 'backups'), { recursive: true, force: true });
  writeFileSync(join(home, 'history.db'), '');
  flip(join(home, 'runs', '3', 'run.json'), 200);
  mkdirSync(join(home, 'runs', '9'));
  const report = await repaired(home);
  assert.equal(report.backup, null);
  assert.deepEqual(
    [report.rebuilt, report.silent],
    [
      [1, 2],
      [3, 9],
    ],
  );
  const again = createStore(home);
  const first = await again.run({ run: 1 });
  assert.deepEqual([first.name, first.state, first.config], ['run 1', 'completed', newRun().config]);
  assert.ok((await again.run({ run: 2 })).deletedAt !== null, 'still in the trash');
  assert.match((await again.log({ run: 1 })).at(-1)!.message, /Rebuilt from the folder/);
  assert.equal((await again.createRun(newRun())).id, 10);
  await again.close();
});

test('a run that a power cut took out of the database comes back from its folder', async (context) => {
  const home = temporaryHome(context);
  await homeWithRuns(home, 1);
  const before = readFileSync(join(home, 'history.db'));
  await homeWithRuns(home, 1);
  writeFileSync(join(home, 'history.db'), before);
  rmSync(join(home, 'history.db-seal'));
  const store = createStore(home);
  assert.deepEqual(
    (await store.runs({})).runs.map(({ id }) => id),
    [2, 1],
  );
  await store.close();
});

test('run files are checked against what was written; those of earlier versions are read as they are', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  const { id } = await store.createRun(newRun());
  const folder = join(home, 'runs', String(id));
  const read = (file: 'best.safetensors' | 'model.json'): Promise<Uint8Array | null> =>
    store.readFile({ run: id, file });
  await store.writeFile({ run: id, file: 'best.safetensors', data: new Uint8Array(1000).fill(7) });
  flip(join(folder, 'best.safetensors'), 500);
  await assert.rejects(read('best.safetensors'), { code: 'run.damaged_file', message: /not what was written/ });
  writeFileSync(join(folder, 'best.safetensors'), new Uint8Array(999));
  await assert.rejects(read('best.safetensors'), { code: 'run.damaged_file', message: /999 bytes, 1000 were/ });

  await store.writeFile({ run: id, file: 'model.json', data: new Uint8Array(10) });
  flip(join(folder, 'checksums.json'), 60);
  assert.equal((await read('model.json'))?.length, 10, 'a damaged list of checksums condemns no file');
  rmSync(join(folder, 'checksums.json'));
  assert.equal((await read('best.safetensors'))?.length, 999, 'without a checksum');
  // A sparse file of a terabyte: its size is refused before memory is taken.
  execFileSync('truncate', ['-s', '1T', join(folder, 'best.safetensors')]);
  await assert.rejects(read('best.safetensors'), { code: 'run.damaged_file', message: /more than any such file/ });
  renameSync(join(folder, 'best.safetensors'), join(folder, 'x'));
  assert.equal(await read('best.safetensors'), null);
  await store.close();
});

test(
  'a home below /proc is refused instead of tried for ever',
  { skip: !existsSync('/proc/self') && 'no /proc' },
  () => {
    assert.throws(() => createStore('/proc/x'), { code: 'store.no_folder', message: /\/proc\/x cannot be made/ });
  },
);

/** Whether this process may mount. */
function mounted(folder: string, ...options: string[]): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', ...options, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('on a full disk runs can still be thrown away and purged; everything else names it', async (context) => {
  const home = temporaryHome(context);
  if (!mounted(home, '-o', 'size=12m'))
    return context.skip('a small disk cannot be mounted here (needs root on Linux)');
  try {
    const store = createStore(home);
    for (let index = 0; index < 3; index++) {
      const run = await addRun(store, `run ${index}`);
      await store.writeFile({ run, file: 'best.safetensors', data: new Uint8Array(2 ** 20) });
    }
    // A log folded in is one that has to grow again.
    await store.close();
    const full = createStore(home);
    assert.throws(() => {
      for (let index = 0; ; index++) writeFileSync(join(home, `fill-${index}`), new Uint8Array(2 ** 16));
    }, /ENOSPC/);
    const points = Array.from({ length: 5000 }, (_, step) => point('x', step, step));
    const run = 1;
    await assert.rejects(full.append({ run, points }), {
      code: 'store.full',
      message: /^The disk that holds .* is full\.$/,
    });
    const data = new Uint8Array(2 ** 20);
    await assert.rejects(full.writeFile({ run, file: 'model.json', data }), { code: 'store.full' });
    await full.deleteRuns({ runs: [1, 2] });
    const { runs, bytes } = await full.purge({ runs: [1, 2] });
    assert.equal(runs, 2);
    assert.ok(bytes > 2 ** 21);
    await full.append({ run: 3, points: points.slice(0, 100) });
    await full.close();
    assert.ok(readdirSync(home).includes('history.db'));
  } finally {
    execFileSync('umount', ['-l', home]);
  }
});

test('a history says whose it is in its header: however large, no more of it is read before it is opened', async (context) => {
  const home = temporaryHome(context);
  const file = join(home, 'history.db');
  const old = openDatabase(file);
  migrate(old, migrations.slice(0, 2));
  // The tables that are made anew after these lines have their places behind them.
  old.execute('CREATE TABLE filler (text TEXT); INSERT INTO filler VALUES (zeroblob(300000)); DROP TABLE filler');
  old.close();
  await createStore(home).close();
  let bytes = 0;
  const read = fs.readSync;
  context.mock.method(fs, 'readSync', (...args: Parameters<typeof fs.readSync>) => {
    const count = read(...args);
    bytes += count;
    return count;
  });
  syncBuiltinESMExports();
  try {
    refuseForeign(file);
  } finally {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  }
  assert.ok(statSync(file).size > 2 ** 17 && bytes > 0 && bytes <= 2 ** 16, `${bytes} of ${statSync(file).size} bytes`);
});

test('the database of another program, and a folder, are named each time and stay as they are, with repair as well', async (context) => {
  const home = temporaryHome(context);
  const file = join(home, 'history.db');
  for (const mode of ['DELETE', 'WAL']) {
    rmSync(file, { force: true });
    const other = new Database(file);
    other.pragma(`journal_mode = ${mode}`);
    // A table of ours by chance, and a schema longer than the pages that are looked at first.
    other.exec('CREATE TABLE log (id INTEGER)');
    for (let index = 0; index < 40; index++)
      other.exec(`CREATE TABLE song_${index} (id INTEGER /* ${'x'.repeat(4000)} */)`);
    other.close();
    const bytes = readFileSync(file);
    const named = {
      code: 'store.foreign',
      message: /history\.db is a database, but no .*: it holds the tables log, song_0/,
    };
    for (let time = 0; time < 2; time++) assert.throws(() => createStore(home), named);
    await assert.rejects(repairHome(home), named);
    assert.deepEqual([readFileSync(file).equals(bytes), readdirSync(home)], [true, ['history.db']], mode);
  }
  rmSync(file);
  mkdirSync(file);
  const folder = { code: 'store.not_a_file', message: `history.db in ${home} is a folder.` };
  assert.throws(() => createStore(home), folder);
  await assert.rejects(repairHome(home), folder);
});

test('files of a completed run that are gone are named, by repair too; a lost list of checksums is known', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  const result = {
    reason: 'completed',
    epochs: 1,
    seconds: 1,
    examplesPerSecond: 1,
    metrics: {},
  } as unknown as RunResult;
  const { id: run } = await store.createRun(newRun());
  const files = ['best.safetensors', 'model.json', 'preprocessing.json'] as const;
  assert.equal(await store.readFile({ run, file: 'model.json' }), null, 'not there yet');
  for (const file of files) await store.writeFile({ run, file, data: new Uint8Array(9) });
  await store.updateRun({ run, patch: { state: 'completed', result } });
  assert.equal(await store.isChecked({ run }), true);
  const folder = join(home, 'runs', String(run));
  renameSync(join(folder, 'checksums.json'), join(home, 'kept'));
  assert.equal(await store.isChecked({ run }), false);
  for (const file of files) {
    renameSync(join(folder, file), join(home, file));
    await assert.rejects(store.readFile({ run, file }), {
      code: 'run.file_gone',
      message: new RegExp(`Run 1 was trained, but its file ${file} is gone from its folder, runs/1 in the home`),
    });
    renameSync(join(home, file), join(folder, file));
  }
  await store.close();
  assert.deepEqual(await repairHome(home), { problem: null });
  renameSync(folder, join(home, 'elsewhere'));
  const again = createStore(home);
  await assert.rejects(again.readFile({ run, file: 'model.json' }), /its folder, runs\/1 in the home, is gone/);
  await again.close();
  assert.deepEqual(await repairHome(home), { problem: null, missing: [{ run, files: [...files] }] });
});
