// What failed is kept in the home, and a text for bug reports says where in the program it was and nothing of whose data it was.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { createAbout } from '../../electron/main/about.ts';
import { framesOf, kindOf } from '../../electron/main/diagnostics.ts';
import { deleteCrashes, dumpFiles, failingOf, listCrashes, recordCrash } from '../../engine/system/crashes.ts';
import { temporaryFolder } from './data/helpers.ts';

const crashesModule = path.resolve(import.meta.dirname, '../../engine/system/crashes.ts');

test('an uncaught error leaves a report, and ends its process as it would have', (context) => {
  const home = temporaryFolder(context);
  const script = `import { reportUncaught } from ${JSON.stringify(crashesModule)};
    reportUncaught(${JSON.stringify(home)}, 'data', '1.2.3');
    setTimeout(() => { throw new TypeError('no age in row 7'); });`;
  const run = (): unknown => execFileSync(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
  assert.throws(run, (error: { readonly status: number; readonly stderr: Buffer }) => {
    return error.status === 1 && /TypeError: no age/.test(String(error.stderr));
  });
  const [report, ...others] = listCrashes(home);
  assert.equal(others.length, 0);
  assert.deepEqual([report.part, report.what, report.version], ['data', 'TypeError: no age in row 7', '1.2.3']);
  assert.match(report.trace, /\bat /);
});

test('the same is told once, files of others are passed over, writing never throws, and all can be deleted', (context) => {
  const home = temporaryFolder(context);
  const failing = { part: 'window', what: 'Its process ended (crashed)', trace: '' };
  assert.notEqual(recordCrash(home, failing, '1'), null);
  assert.equal(recordCrash(home, failing, '1'), null);
  fs.writeFileSync(path.join(home, 'crashes', '2026-nothing.json'), '{"time": 1');
  fs.mkdirSync(path.join(home, 'crashes/dumps/pending'), { recursive: true });
  fs.writeFileSync(path.join(home, 'crashes/dumps/pending/a.dmp'), 'MDMP');
  assert.equal(listCrashes(home).length, 1);
  assert.equal(dumpFiles(home).length, 1);
  deleteCrashes(home);
  assert.deepEqual([listCrashes(home), dumpFiles(home)], [[], []]);
  assert.equal(recordCrash(path.join(home, 'missing\0'), failing, '2'), null);
});

test('a diagnostics text holds counts and places in the program: no names, paths, hosts or messages', async (context) => {
  const home = temporaryFolder(context);
  const error = new RangeError(`patients.csv of Ada Lovelace in ${home}`);
  error.stack = `RangeError: patients.csv of Ada Lovelace in ${home}\n    at readRows (file://${home}/Ada/build/hosts/data.cjs:12:34)\n    at async /home/ada/x.ts:1:2`;
  recordCrash(home, failingOf('training', error), '0.1.0', Date.UTC(2026, 10, 23, 9, 30));
  recordCrash(home, { part: 'data', what: 'it was killed or ran out of memory, code 9', trace: '' }, '0.1.0');
  const settings = new Map<string, unknown>();
  const about = createAbout({
    home,
    version: '0.1.0',
    packaged: true,
    store: {
      runs: (async ({ states }: { states: readonly string[] }) => ({
        total: states[0] === 'completed' ? 7 : 0,
        runs: [],
      })) as never,
      usage: async () => ({ parts: [{ id: 'datasets', bytes: 2e6, count: 1 }], bytes: 2e6, left: 1, trashDays: 30 }),
      getSetting: async ({ key }) => settings.get(key) ?? null,
      setSetting: async ({ key, value }) => void settings.set(key, value),
    },
    data: { list: async () => [{ kind: 'table', name: 'patients' }] as never },
    devices: {
      list: async () => [
        { id: 'cpu', kind: 'cpu', name: 'A processor', facts: {}, software: false, available: true, native: false },
      ],
    },
    network: { blocked: 0 },
  });
  const text = await about.diagnostics();
  for (const secret of [
    home,
    'patients',
    'Ada',
    '/home',
    os.hostname(),
    path.basename(home),
    `${os.userInfo().username}/`,
  ])
    assert.ok(!text.includes(secret), `“${secret}” in:\n${text}`);
  for (const said of [
    /Runs: completed 7$/m,
    /Datasets: table 1$/m,
    /Datasets 2\.0 MB$/m,
    /without the native addon/,
    /Failures: 2;/,
  ])
    assert.match(text, said);
  assert.match(
    text,
    /2026-11-23 09:30 UTC, 0\.1\.0: training, RangeError\n {4}readRows data\.cjs:12:34\n {4}anonymous x\.ts:1:2$/m,
  );
  assert.match(text, /: data, it was killed or ran out of memory, code 9$/m);

  assert.equal((await about.crashes()).unseen, 2);
  await about.crashesSeen();
  assert.equal((await about.crashes()).unseen, 0);
  const { reports } = await about.crashes();
  assert.equal(reports.length, 2);
  assert.ok(!JSON.stringify(reports).includes(home), 'the page is shown no folders');
});

test('what an error was is named without its words', () => {
  assert.equal(kindOf('SqliteError: no such table of Ada'), 'SqliteError');
  assert.equal(kindOf('Ada has failed'), 'failed');
  assert.equal(kindOf('Its process ended (oom)'), 'Its process ended (oom)');
  assert.deepEqual(framesOf('Error: at home\n    at Store.open (/Users/ada/app/store.cjs:1:2)\n  elsewhere'), [
    'Store.open store.cjs:1:2',
  ]);
});
