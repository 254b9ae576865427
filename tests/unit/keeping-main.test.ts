// What the window asks of a history that turns out to be damaged only after it was opened: it is repaired all the same.

import assert from 'node:assert/strict';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { createKeeping, type Keeper } from '../../electron/main/keeping.ts';
import { ChosenPaths } from '../../electron/main/paths.ts';
import { checkedAtOnce } from '../../engine/history/check.ts';
import { repairHome } from '../../engine/history/repair.ts';
import { createStore } from '../../engine/history/store.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import { createPortPair } from '../../engine/protocol/port.ts';
import { serve } from '../../engine/protocol/rpc.ts';
import type { RepairService } from '../../engine/protocol/store.ts';
import { newRun, temporaryHome } from './fixtures/history.ts';

/** A history so large that it is looked at beside the calls; a page near its end is overwritten. */
async function damagedLater(home: string): Promise<void> {
  const store = createStore(home);
  const { id } = await store.createRun(newRun({ name: 'walrus' }));
  const line = { time: 1, level: 'info', message: 'x'.repeat(900) } as const;
  for (let part = 0; part < 20; part++) {
    await store.append({ run: id, points: [], log: Array.from({ length: 1000 }, () => line) });
  }
  await store.updateRun({ run: id, patch: { state: 'stopped', startedAt: 1, endedAt: 2 } });
  await store.close();
  const file = join(home, 'history.db');
  assert.ok(statSync(file).size > checkedAtOnce);
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(4096, 0xaa), 0, 4096, 4096 * Math.floor(statSync(file).size / 4096 - 20));
  closeSync(descriptor);
}

test('a history whose damage is found beside the calls is repaired from the window', async (context) => {
  const home = temporaryHome(context);
  await damagedLater(home);
  const store = createStore(home);
  assert.equal((await store.runs({})).total, 1, 'it could be opened');
  const startRepair = (): Keeper => {
    const [here, there] = createPortPair();
    serve<RepairService>(there, { repair: () => repairHome(home) });
    return { port: here, ready: Promise.resolve(), ended: Promise.resolve('it ended'), end: () => here.close() };
  };
  const keeping = createKeeping({
    data: {} as DataService,
    store,
    keepers: {
      async alone(work) {
        await store.close();
        return work();
      },
      startRepair,
      startRestore: startRepair,
    },
    paths: new ChosenPaths(),
    dialogs: { open: async () => null, askWhere: async () => null },
  });
  const isRefused = async (): Promise<boolean> =>
    store.runs({}).then(
      () => false,
      () => true,
    );
  for (let tries = 0; !(await isRefused()); tries++) {
    assert.ok(tries < 500, 'the damage is found');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const report = await keeping.repairHistory();
  assert.match(report.problem!, /is damaged/);
  const again = createStore(home);
  assert.equal((await again.run({ run: 1 })).name, 'walrus');
  await again.close();
});
