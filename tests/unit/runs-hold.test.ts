// Several who need the machine for themselves at a time, a lab and the battery, and a person who pauses what they hold.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import type { RunState } from '../../engine/protocol/runs.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { createRunManager, type RunManager } from '../../engine/runs/manager.ts';
import { temporaryHome } from './fixtures/history.ts';
import { createTableData, createTableHosts, slow, tableConfig } from './fixtures/training.ts';

/** With a run that trains. */
async function setUp(context: TestContext): Promise<{ store: StoreService; manager: RunManager; run: number }> {
  const store = createStore(temporaryHome(context));
  const parts = { data: createTableData(), hosts: createTableHosts(slow(2)), owner: processOwner() };
  const manager = createRunManager({ store, ...parts });
  context.after(async () => {
    await manager.stopAll();
    await store.close();
  });
  const { id: run } = await manager.start({ config: tableConfig(1000) });
  await reaches(store, run, 'running');
  return { store, manager, run };
}

async function reaches(store: StoreService, run: number, state: RunState): Promise<void> {
  for (let attempt = 0; attempt < 2000; attempt++) {
    if ((await store.run({ run })).state === state) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`run ${run} is ${(await store.run({ run })).state}, not ${state}`);
}

/** Also when whoever held it has let it go. */
async function staysPaused(store: StoreService, run: number): Promise<void> {
  await reaches(store, run, 'paused');
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal((await store.run({ run })).state, 'paused');
}

test('two hold the machine: what trains goes on with the last of them', async (context) => {
  const { store, manager, run } = await setUp(context);
  const [battery, lab] = [await manager.hold(), await manager.hold()];
  await battery();
  await staysPaused(store, run);
  await lab();
  await reaches(store, run, 'running');
});

test('what a person pauses stays paused, be it before a hold has reached it, in the middle or on top of it', async (context) => {
  const { store, manager, run } = await setUp(context);
  const goOn = async (): Promise<void> => {
    await manager.continue({ run });
    await reaches(store, run, 'running');
  };
  const [, before] = await Promise.all([manager.pause({ run }), manager.hold()]);
  await before();
  await staysPaused(store, run);
  await goOn();
  const middle = await manager.hold();
  await goOn();
  await manager.pause({ run });
  await reaches(store, run, 'paused');
  await middle();
  await staysPaused(store, run);
  await goOn();
  const above = await manager.hold();
  await manager.pause({ run });
  await above();
  await staysPaused(store, run);
});

test('a cross-validation that is held pauses with its fold, and both go on', async (context) => {
  const { store, manager, run: other } = await setUp(context);
  await manager.stop({ run: other });
  const { id: run } = await manager.start({ config: { ...tableConfig(1000), folds: 2 } });
  const foldIs = async (state: RunState): Promise<void> => {
    const found = async () => (await store.runs({ parent: run })).runs[0]?.id;
    while ((await found()) === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    await reaches(store, (await found())!, state);
  };
  await foldIs('running');
  const release = await manager.hold();
  await reaches(store, run, 'paused');
  await foldIs('paused');
  await release();
  await reaches(store, run, 'running');
  await foldIs('running');
});
