// What the command line loads: a command that reads no file does not load the data engine.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';
import { about } from '../../electron/cli/about.ts';
import { commands } from '../../electron/cli/commands.ts';
import { lazyService } from '../../engine/protocol/lazy-service.ts';
import { penguins, startTrainyard, temporaryHome } from '../support/cli.ts';

const script = `
  import { createRequire } from 'node:module';
  await Promise.all(['cli/services.ts', 'cli/commands/runs-list.ts', 'cli/commands/forecast.ts'].map((file) => import('${new URL('../../electron/', import.meta.url)}' + file)));
  console.log(Object.keys(createRequire('${import.meta.url}').cache).filter((file) => file.includes('duckdb')).length);
`;

test('the list of runs and forecasts come without the data engine', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  assert.equal(stdout.trim(), '0');
});

test('--help loads no command, and --version hardly more', async (t) => {
  const hook = `import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    process.on('exit', () => process.stderr.write(loaded.filter((url) => url.startsWith('file:')).join('\\n')));`;
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}` };
  const loadedBy = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { code, stderr } = await startTrainyard(temporaryHome(t), args, undefined, env).finished;
    assert.equal(code, 0, stderr);
    return stderr.split('\n').map((url) => url.slice(url.lastIndexOf('/') + 1));
  };
  const help = await loadedBy('--help');
  // 114 where each command was loaded for the line it has in the help.
  assert.ok(help.length <= 12, `${help.length}: ${help.join(' ')}`);
  assert.ok((await loadedBy('--version')).length <= help.length + 1);
});

test('the help has a line for each command, in their order, and each says the same of itself', async () => {
  assert.deepEqual(Object.keys(about), Object.keys(commands));
  for (const [name, load] of Object.entries(commands)) {
    const { name: own, usage, summary } = await load();
    assert.deepEqual({ name: own, usage, summary }, about[name as keyof typeof about]);
    assert.equal(own, name);
  }
});

test('a service that is loaded late: calls and events in order, failures to whoever calls', async () => {
  let loads = 0;
  const listeners = new Set<(value: number) => void>();
  const service = {
    list: async () => 'by the service',
    tell: async (value: number) => [...listeners].forEach((listener) => listener(value)),
    onTold: (listener: (value: number) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const lazy = lazyService<typeof service>(async () => (loads++, service), { list: async () => 'at once' });
  const heard: number[] = [];
  const stop = lazy.onTold((value) => heard.push(value));
  const never = lazy.onTold(() => heard.push(-1));
  never();
  assert.deepEqual([await lazy.list(), loads], ['at once', 0], 'listening and what is ready load nothing');
  await lazy.tell(1);
  stop();
  await lazy.tell(2);
  assert.deepEqual([heard, loads, listeners.size], [[1], 1, 0]);
  let disk = false;
  const broken = lazyService<typeof service>(async () => (disk ? service : Promise.reject(new Error('no disk'))));
  broken.onTold((value) => heard.push(value));
  await assert.rejects(broken.tell(3), /no disk/);
  disk = true;
  await broken.tell(4);
  assert.deepEqual(heard, [1, 4], 'the next call tries again');
});

test('a data engine that cannot be loaded is said like any other error, with what to do', async (t) => {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name.startsWith('@duckdb/')) throw new Error('no such library');
      return next(name, context);
    } });`;
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}` };
  const { code, stderr } = await startTrainyard(temporaryHome(t), ['inspect', penguins], undefined, env).finished;
  assert.equal(code, 1, stderr);
  assert.match(stderr, /A part of Trainyard cannot be loaded: no such library\. .*run the set-up again/);
});
