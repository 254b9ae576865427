// Works the queue of a home off until it is killed, puts more into it meanwhile, and says what it was told: `queue-victim.ts HOME COUNT`, where
// COUNT runs are put into the queue. Goes on first with what its predecessors left in the middle.

import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { moveInQueue, queueCut, waitingRuns } from '../../engine/runs/queue.ts';
import { createTableData, createTableHosts, slow, tableConfig } from '../unit/fixtures/training.ts';

export type QueueFact =
  | { readonly kind: 'queued'; readonly run: number }
  | { readonly kind: 'ended'; readonly run: number; readonly state: string }
  | { readonly kind: 'idle' };

/** Epochs of each run. */
export const epochsEach = 30;

async function work(home: string, count: number): Promise<void> {
  const say = (fact: QueueFact): void => void process.send?.(fact);
  const store = createStore(home);
  const machine = { cores: 2, available: () => 8e9 };
  const parts = { store, data: createTableData(), hosts: createTableHosts(slow(1)), owner: processOwner(), machine };
  const manager = createRunManager({ ...parts, worksOffQueue: true });
  const follow = (run: number): void =>
    void manager.finished({ run }).then(({ state }) => say({ kind: 'ended', run, state }));
  await store.recover();
  await queueCut(store);
  // Those that came no farther before they were killed again.
  for (const { id } of (await store.runs({ states: ['interrupted'], limit: 1_000 })).runs) {
    // Another one may have been quicker.
    if (await manager.resume({ run: id }).catch(() => null)) follow(id);
  }
  for (const run of await manager.adopt()) follow(run);
  for (let i = 0; i < count; i++) {
    const priority = (['high', 'normal', 'low'] as const)[i % 3];
    const { id } = await manager.start({ config: tableConfig(epochsEach), queue: { priority, only: i % 2 === 0 } });
    say({ kind: 'queued', run: id });
    if (i % 2 > 0) follow(id);
    const waiting = await waitingRuns(store);
    if (waiting.length > 1) await moveInQueue(store, waiting[waiting.length - 1].id, 0).catch(() => undefined);
  }
  for (;;) {
    for (const run of await manager.adopt()) follow(run);
    if (manager.active().length === 0) say({ kind: 'idle' });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

if (process.send && process.argv[2]) await work(process.argv[2], Number(process.argv[3]));
