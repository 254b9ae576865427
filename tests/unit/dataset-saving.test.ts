// Settings of a dataset that are being saved: whoever asks for the dataset meanwhile is given it as it was chosen.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { DatasetInfo, DatasetSettings } from '../../engine/protocol/data.ts';
import { viewState } from '../support/view-state.ts';

/** What is asked of them here; their own types know a page. */
interface Store {
  refresh(): Promise<void>;
  get(id: string): Promise<DatasetInfo | undefined>;
}
interface Page {
  readonly failure: { readonly message: string } | null;
  readText(column: string): void;
  setSplit(split: readonly [number, number, number]): void;
}
const info = {
  id: 'd1',
  importedAt: 1,
  settings: {},
  columns: [],
  warnings: [],
  target: 'kind',
} as unknown as DatasetInfo;

/** A page on a dataset, and what ends the save that is under way. */
async function open() {
  const saves: { readonly settings: DatasetSettings; end: (error?: Error) => void }[] = [];
  const service = {
    onProgress: () => () => undefined,
    datasets: async () => [info],
    saveSettings: ({ settings }: { settings: DatasetSettings }) =>
      new Promise<DatasetInfo>((resolve, reject) => {
        saves.push({ settings, end: (error) => (error ? reject(error) : resolve({ ...info, settings })) });
      }),
  };
  const store = (await viewState('app/datasets.svelte.ts', 'DatasetStore', service)) as Store;
  await store.refresh();
  const undo = { record: () => undefined };
  const page = (await viewState('views/dataset/dataset.svelte.ts', 'DatasetPage', info, service, store, undo)) as Page;
  return { store, page, saves };
}

test('New run on texts that were chosen just now is given them, however long they take to be saved', async () => {
  const { store, page, saves } = await open();
  page.readText('review');
  page.setSplit([0.5, 0.25, 0.25]);
  const given: (DatasetInfo | undefined)[] = [];
  const asked = store.get('d1').then((found) => given.push(found));
  await setImmediate();
  assert.equal(given.length, 0);
  saves[0].end();
  await setImmediate();
  assert.equal(given.length, 0, 'the second change is not saved yet');
  saves[1].end();
  await asked;
  assert.deepEqual(given[0]?.settings, { texts: { columns: ['review'] }, split: [0.5, 0.25, 0.25] });
});

test('where saving fails the dataset is given as it is, and the page says why', async () => {
  const { store, page, saves } = await open();
  page.readText('review');
  const asked = store.get('d1');
  await setImmediate();
  saves[0].end(new Error('no room left'));
  assert.equal(await asked, info);
  assert.match(page.failure?.message ?? '', /no room left/);
});
