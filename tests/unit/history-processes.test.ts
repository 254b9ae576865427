// The history among processes: killed while writing, written by several at once, served by a process of its own.

import assert from 'node:assert/strict';
import { execFileSync, fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Worker } from 'node:worker_threads';
import { openStore } from '../../engine/history/client.node.ts';
import { openDatabase } from '../../engine/history/database.ts';
import { isAlive, processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { InputError, TrainyardError } from '../../engine/protocol/errors.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { exampleConfig, newRun, point, temporaryHome } from './fixtures/history.ts';

const writer = new URL('./fixtures/history-writer.ts', import.meta.url);

function startWriter(home: string, ...options: string[]): ChildProcess {
  return fork(writer, [home, ...options], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

/** Kills without warning, as the system does, and waits until the process is gone. */
async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

test('a process tells itself from others, dead ones and later ones of its number', async () => {
  const self = processOwner();
  assert.ok(isAlive(self));
  assert.ok(
    !isAlive({ pid: self.pid, startedAt: self.startedAt - 60_000 }),
    'the same number, started at another time',
  );
  const child = spawn(process.execPath, ['-e', '']);
  const { pid } = child;
  await once(child, 'exit');
  assert.ok(!isAlive({ pid: pid!, startedAt: self.startedAt }));
});

test('kill -9 while writing loses nothing that was appended; the run becomes interrupted', async (context) => {
  const home = temporaryHome(context);
  for (let round = 1; round <= 3; round++) {
    const child = startWriter(home);
    let step = 0;
    await new Promise<void>((resolve) => {
      child.on('message', (message: { step?: number }) => {
        step = message.step ?? step;
        if (step >= 10 * round) resolve();
      });
    });
    await kill(child);

    const store = createStore(home);
    assert.equal((await store.run({ run: round })).state, 'running');
    // A file half-written by the killed process: whether this round left one is up to chance.
    writeFileSync(join(home, 'runs', String(round), 'checkpoint.bin.1.tmp'), 'half');
    const [record, ...others] = await store.recover();
    assert.deepEqual(others, []);
    assert.equal(record.id, round);
    assert.equal(record.state, 'interrupted');
    assert.ok(record.endedAt !== null);
    const files = ['checkpoint.bin', 'checkpoint.previous.bin', 'checksums.json', 'run.json'];
    assert.deepEqual(readdirSync(join(home, 'runs', String(round))).sort(), files);

    const points = await store.metrics({ run: round, series: ['val_loss'] });
    assert.ok(points.length >= step, `${points.length} points of ${step} steps`);
    assert.deepEqual(
      points,
      points.map((_, index) => point('val_loss', index + 1, 2 / (index + 1))),
    );
    assert.equal((await store.metrics({ run: round, series: ['train_loss'] })).length, points.length);
    const log = await store.log({ run: round });
    assert.equal(log.length, points.length + 1);
    assert.match(log.at(-1)!.message, /^Interrupted: the process/);
    const checkpoint = await store.readFile({ run: round, file: 'checkpoint.bin' });
    assert.equal(checkpoint?.length, 200_000);
    assert.ok(
      checkpoint.every((byte) => byte === checkpoint[0]),
      'a whole checkpoint, not a mixture',
    );
    await store.close();

    const connection = openDatabase(join(home, 'history.db'));
    assert.equal(connection.pragma('integrity_check'), 'ok');
    connection.close();
  }
});

test('the run of a living process is left alone by another one', async (context) => {
  const home = temporaryHome(context);
  const child = startWriter(home);
  context.after(() => kill(child));
  await once(child, 'message');
  const store = createStore(home);
  assert.deepEqual(await store.recover(), []);
  assert.equal((await store.run({ run: 1 })).state, 'running');

  const gone = { pid: 2 ** 22 + 1, startedAt: 0 };
  await store.createRun(newRun({ owner: gone }));
  await store.updateRun({ run: 2, patch: { state: 'running' } });
  assert.deepEqual(
    (await store.recover()).map(({ id, state }) => [id, state]),
    [[2, 'interrupted']],
  );
  assert.deepEqual(await store.recover(), [], 'once');

  for (let count = 0; count < 2; count++) await store.createRun(newRun({ owner: gone }));
  assert.deepEqual(await store.recover(), [], 'queued runs stay queued');
  const numbers = (runs: readonly RunRecord[]): readonly number[] => runs.map(({ id }) => id);
  assert.deepEqual(numbers(await store.adopt({ owner: processOwner(), run: 1 })), [], 'its process lives');
  assert.deepEqual(numbers(await store.adopt({ owner: processOwner() })), [3, 4], 'in their order');
  assert.deepEqual(await store.adopt({ owner: processOwner() }), [], 'once');
  await store.close();
});

test('a store that somebody watches notices by itself that a process has died', async (context) => {
  const home = temporaryHome(context);
  const child = startWriter(home);
  await once(child, 'message');
  const store = createStore(home);
  const interrupted = new Promise<void>((resolve) => {
    store.onChanged(async () => {
      if ((await store.run({ run: 1 })).state === 'interrupted') resolve();
    });
  });
  await kill(child);
  await interrupted;
  await store.close();
});

test('a database that another program is just making is waited for, though SQLite does not', async (context) => {
  const file = join(temporaryHome(context), 'history.db');
  // Written to before it is in write-ahead mode.
  const making = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    const database = new (require('better-sqlite3'))(workerData);
    database.exec('BEGIN IMMEDIATE; CREATE TABLE other (id)');
    parentPort.postMessage('begun');
    setTimeout(() => {
      database.exec('ROLLBACK');
      database.close();
    }, 300);`,
    { eval: true, workerData: file },
  );
  await once(making, 'message');
  const connection = openDatabase(file);
  assert.equal(connection.pragma('journal_mode'), 'wal');
  connection.close();
});

test('processes that write to one home at the same time wait for each other', async (context) => {
  const home = temporaryHome(context);
  const steps = 60;
  // They also race to create the database.
  const children = [1, 2, 3].map(() => startWriter(home, String(steps)));
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
  assert.deepEqual(codes, [0, 0, 0]);
  const store = createStore(home);
  const { runs } = await store.runs({});
  assert.equal(runs.length, 3);
  for (const { id, last } of runs) {
    assert.equal((await store.metrics({ run: id, series: ['val_loss'] })).length, steps);
    assert.deepEqual(last, { train_loss: 1 / steps, val_loss: 2 / steps });
  }
  await store.close();
});

test('the store in its own process: calls, files, events, errors, and a clean end', async (context) => {
  const home = temporaryHome(context);
  const store = await openStore({ home });
  const changed = new Promise((resolve) => store.onChanged(resolve));
  const record = await store.createRun(newRun());
  assert.deepEqual(record.config, exampleConfig);
  assert.deepEqual(await changed, { runs: [record.id], trained: [], logged: [] });
  const data = new Uint8Array([0, 1, 255]);
  await store.writeFile({ run: record.id, file: 'best.safetensors', data });
  assert.deepEqual(await store.readFile({ run: record.id, file: 'best.safetensors' }), data);
  await store.append({ run: record.id, points: [point('train_loss', 1, NaN)] });
  assert.deepEqual(await store.metrics({ run: record.id }), [point('train_loss', 1, NaN)]);
  await assert.rejects(
    store.run({ run: 7 }),
    (error: unknown) => error instanceof InputError && /no run 7/.test(error.message),
  );

  await store.close();
  const kept = readdirSync(home).filter((name) => name !== 'backups');
  assert.deepEqual(
    kept.sort(),
    ['history.db', 'history.db-seal', 'history.lock', 'history.reserve', 'runs'],
    'the write-ahead log is folded in',
  );
  await assert.rejects(store.run({ run: 1 }), { code: 'internal.disconnected' });
});

const isNotStarted = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof TrainyardError);
  assert.equal(error.code, 'store.not_started');
  assert.match(error.message, pattern);
  return true;
};

test('a store that cannot start says why', async (context) => {
  const home = temporaryHome(context);
  writeFileSync(join(home, 'file'), '');
  await assert.rejects(openStore({ home: join(home, 'file') }), { code: 'store.not_a_folder', name: 'InputError' });
  await assert.rejects(openStore({ home, entry: join(home, 'missing.js') }), isNotStarted(/missing\.js/));
  await assert.rejects(openStore({ home, node: join(home, 'no-node') }), isNotStarted(/no-node/));
  const broken = join(home, 'broken.mjs');
  writeFileSync(broken, 'process.exit(9)');
  await assert.rejects(openStore({ home, entry: broken }), isNotStarted(/ended with 9/));
});

/** Numbers of the store processes that serve a home. */
function storeProcesses(home: string): readonly number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(`--home=${home}`)).map((line) => Number.parseInt(line, 10));
}

async function waitUntilGone(home: string): Promise<void> {
  for (let attempt = 0; attempt < 500 && storeProcesses(home).length > 0; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(storeProcesses(home), []);
}

const onPosix = { skip: process.platform === 'win32' && 'needs ps' };

test('the store process ends with its parent, however that ends, and not by Ctrl-C', onPosix, async (context) => {
  const home = temporaryHome(context);
  const script = `import { openStore } from ${JSON.stringify(new URL('../../engine/history/client.node.ts', import.meta.url))};
    await openStore({ home: process.argv[1] }); process.send('open');`;
  const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', script, home], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(parent, 'message');
  const [pid, ...others] = storeProcesses(home);
  assert.deepEqual(others, []);
  process.kill(pid, 'SIGINT');
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual(storeProcesses(home), [pid], 'the parent decides what Ctrl-C means');
  await kill(parent);
  await waitUntilGone(home);
});

test('when the store process dies, calls say so', onPosix, async (context) => {
  const home = temporaryHome(context);
  const store = await openStore({ home });
  await store.createRun(newRun());
  process.kill(storeProcesses(home)[0], 'SIGKILL');
  const calls = async (): Promise<never> => {
    for (;;) await store.runs({});
  };
  await assert.rejects(calls(), /The connection to the store process was closed before "runs" was answered/);
  await store.close();
  await waitUntilGone(home);
});
