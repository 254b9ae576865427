// The lab as the window asks the main process for it: refused beside runs of others, laid down as a file and taken up again.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { Alone } from '../../electron/main/alone.ts';
import { createLab, type LabMethods } from '../../electron/main/lab.ts';
import { ChosenPaths } from '../../electron/main/paths.ts';
import { requests } from '../../electron/main/requests.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { largestLabFile } from '../../engine/lab/file.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { newRun, temporaryHome } from './fixtures/history.ts';
import { exampleLab } from './fixtures/lab.ts';

interface Setup {
  readonly lab: LabMethods;
  readonly store: StoreService;
  readonly paths: ChosenPaths;
  /** Where the dialog saves; null = it is cancelled. */
  readonly dialog: { file: string | null };
  readonly folder: string;
  /** Whether runs were paused for a measurement. */
  readonly touched: () => boolean;
}

function setUp(context: TestContext, own: readonly number[] = []): Setup {
  const folder = temporaryHome(context);
  const store = createStore(folder);
  context.after(() => store.close());
  const [paths, dialog] = [new ChosenPaths(), { file: null as string | null }];
  let touched = false;
  const none = (): Promise<never> => Promise.reject(new Error('no device here'));
  const runs = {
    active: () => own,
    async hold() {
      touched = true;
      return async () => undefined;
    },
  };
  const lab = createLab({
    store,
    paths,
    runs,
    alone: new Alone({ home: folder, store, runs }),
    processes: { startCpuHost: none, startGpuHost: none },
    devices: { list: none, gpu: none },
    dialogs: { open: async () => null, askWhere: async () => dialog.file },
  });
  return { lab, store, paths, dialog, folder, touched: () => touched };
}

test('a lab goes out as a file and comes in as the one it is, or as another machine’s', async (context) => {
  const { lab, store, paths, dialog, folder } = setUp(context);
  const { id } = await store.addLab({ result: exampleLab(), imported: false });
  assert.deepEqual(await lab.exportLab({ lab: id }), { saved: null }, 'the dialog was cancelled');
  dialog.file = path.join(folder, 'mine.json');
  assert.deepEqual(await lab.exportLab({ lab: id }), { saved: 'mine.json' });
  const open = (name: string): string => paths.add(path.join(folder, name)).token;
  assert.deepEqual(await lab.importLab({ token: open('mine.json') }), { id, imported: false, result: exampleLab() });

  const text = fs.readFileSync(dialog.file, 'utf8');
  fs.writeFileSync(path.join(folder, 'theirs.json'), text.replaceAll('desk', 'server'));
  const theirs = await lab.importLab({ token: open('theirs.json') });
  assert.deepEqual([theirs.imported, theirs.result.machine.name], [true, 'server']);
  assert.equal((await lab.labs()).length, 2);
  await lab.deleteLab({ lab: theirs.id });
  assert.equal((await lab.labs()).length, 1);
});

test('a file that is none, is too large or was never chosen is refused by its name alone', async (context) => {
  const { lab, paths, folder } = setUp(context);
  const take = (name: string, content: string): Promise<unknown> => {
    fs.writeFileSync(path.join(folder, name), content);
    return lab.importLab({ token: paths.add(path.join(folder, name)).token });
  };
  const refused = (message: RegExp) => ({ code: 'input.lab', message });
  await assert.rejects(take('other.json', '{}'), refused(/^other\.json is no lab of Trainyard: its “format”/));
  await assert.rejects(take('large.json', ' '.repeat(largestLabFile + 1)), refused(/^large\.json .* too large/));
  const never = '7d4f2f52-3d0b-4f38-9d56-0c7f7cbb6a10';
  await assert.rejects(lab.importLab({ token: never }), { code: 'input.unknown_token' });
  await assert.rejects(lab.exportLab({ lab: 99 }), { code: 'input.unknown_lab' });
  assert.deepEqual(await lab.labs(), []);
});

test('while another process trains nothing is measured, and nothing here waits for it', async (context) => {
  const own = [1];
  const { lab, store, touched } = setUp(context, own);
  for (const name of ['mine', 'theirs']) {
    const { id } = await store.createRun(newRun({ name, owner: processOwner() }));
    await store.updateRun({ run: id, patch: { state: 'running', startedAt: Date.now() } });
  }
  const beside = {
    code: 'input.run_active',
    message: /^Run 2 \(“theirs”\) trains in another process/,
    hint: /pause 2/,
  };
  await assert.rejects(lab.measureLab({ seconds: 1 }), beside);
  assert.equal(touched(), false);
  await store.updateRun({ run: 2, patch: { state: 'paused' } });
  await assert.rejects(lab.measureLab({ seconds: 1 }), /no device here/);
  assert.equal(touched(), true, 'runs of this process are paused by it');
});

test('what the window asks is checked', () => {
  const { importLab, exportLab, measureLab } = requests;
  assert.equal(importLab.safeParse({ token: '/etc/passwd' }).success, false);
  for (const wrong of [0, 1.5, '1']) assert.equal(exportLab.safeParse({ lab: wrong }).success, false);
  for (const wrong of [0, 3601, NaN]) assert.equal(measureLab.safeParse({ seconds: wrong }).success, false);
  assert.equal(exportLab.safeParse({ lab: 1 }).success, true);
});
