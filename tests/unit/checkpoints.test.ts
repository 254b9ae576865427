// The states a run keeps: every Nth epoch within a budget, thinned when it is full, and put to use.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import type { NetworkConfig } from '../../engine/learners/network/declaration.ts';
import type { Checkpoint } from '../../engine/protocol/going-on.ts';
import { thinned } from '../../engine/protocol/thinning.ts';
import { checkpointsOf, thinCheckpoints, weightShapes } from '../../engine/runs/checkpoints.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { readModelFilesOf } from '../../engine/runs/model-files.ts';
import { decodeSafetensors } from '../../engine/train/safetensors.ts';
import { temporaryHome } from './fixtures/history.ts';
import { createTableData, createTableHosts, tableConfig } from './fixtures/training.ts';

const states = (all: readonly Checkpoint[]): readonly string[] =>
  all.map(({ kept, epoch, everything }) => `${kept} ${epoch}${everything ? ' everything' : ''}`);

function setUp(context: TestContext) {
  const store = createStore(temporaryHome(context));
  const manager = createRunManager({
    store,
    data: createTableData(),
    hosts: createTableHosts(),
    owner: processOwner(),
  });
  context.after(async () => {
    await manager.stopAll();
    await store.close();
  });
  return { store, manager };
}

function keeping(epochs: number, checkpoints: NetworkConfig['training']['checkpoints']): NetworkConfig {
  const config = tableConfig(epochs);
  return { ...config, training: { ...config.training, checkpoints } };
}

test('the oldest lose their optimizer, then go; best and last stay', () => {
  const of = (epoch: number, bytes = 30): Checkpoint => {
    return {
      kept: 'epoch',
      epoch,
      everything: bytes === 30,
      bytes,
      file: `epoch-${epoch}.${bytes === 30 ? 'bin' : 'safetensors'}`,
    };
  };
  const ends: readonly Checkpoint[] = [
    { kept: 'best', epoch: 5, everything: false, bytes: 10, file: 'best.safetensors' },
    { kept: 'last', epoch: 9, everything: true, bytes: 40, file: 'checkpoint.bin' },
  ];
  const kept = [...ends, of(8), of(6), of(4), of(2, 10)];
  const at = (budget: number) => {
    const { slimmed, removed } = thinned(kept, budget, 10);
    return [slimmed.map(({ epoch }) => epoch), removed.map(({ epoch }) => epoch)];
  };
  assert.deepEqual(at(150), [[], []]);
  assert.deepEqual(at(149), [[4], []]);
  assert.deepEqual(at(110), [[4, 6], []]);
  assert.deepEqual(at(89), [[4, 6, 8], [2]]);
  assert.deepEqual(at(60), [[8], [2, 4, 6]]);
  assert.deepEqual(at(0), [[], [2, 4, 6, 8]]);
});

test('every second epoch is kept, thinned by the budget, predicted with and gone on from', async (context) => {
  const { store, manager } = setUp(context);
  const config = keeping(9, { every: 2, budget: 100 });
  const { id: run } = await manager.start({ config });
  const { result } = await manager.finished({ run });
  const kept = await checkpointsOf(store, run);
  const ends = [`best ${result!.bestEpoch}`, 'last 9 everything'];
  assert.deepEqual(states(kept), [...ends, ...[8, 6, 4, 2].map((epoch) => `epoch ${epoch} everything`)]);

  const before = await readModelFilesOf(store, run, 4);
  const total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  let read = 0;
  const counted: typeof store = { ...store, readFile: (file) => (read++, store.readFile(file)) };
  const { freed } = await thinCheckpoints(counted, run, total);
  assert.deepEqual([freed, read], [0, 0], 'nothing is read while there is room: this is asked after every file');
  await thinCheckpoints(store, run, total - 1);
  const afterwards = await checkpointsOf(store, run);
  assert.deepEqual(states(afterwards).slice(2), [
    'epoch 8 everything',
    'epoch 6 everything',
    'epoch 4 everything',
    'epoch 2',
  ]);
  const [best, last, , , , slim] = afterwards.map(({ bytes }) => bytes);
  await thinCheckpoints(store, run, best + last + 4 * slim);
  assert.deepEqual(states(await checkpointsOf(store, run)), [...ends, 'epoch 8', 'epoch 6', 'epoch 4', 'epoch 2']);
  assert.deepEqual(await readModelFilesOf(store, run, 4), before, 'the weights are the same without the optimizer');
  const names = Object.keys(decodeSafetensors(before.weights).tensors);
  assert.deepEqual(names, Object.keys(decodeSafetensors((await readModelFilesOf(store, run)).weights).tensors));
  assert.notDeepEqual(before.weights, (await readModelFilesOf(store, run, 'last')).weights);
  const { shapes, classes } = await weightShapes(store, { run });
  assert.deepEqual([Object.keys(shapes), shapes[names[0]].length], [names, 2], 'what another model has to have');
  assert.deepEqual(
    await weightShapes(store, { run, checkpoint: 'last' }),
    { shapes, classes },
    'nothing of the optimizer',
  );
  await assert.rejects(readModelFilesOf(store, run, 5), /has not kept its epoch 5\./);

  const longer = { ...config, training: { ...config.training, epochs: 6 } };
  const child = await manager.finished({ run: (await manager.goOn({ run, config: longer, checkpoint: 4 })).id });
  assert.deepEqual([child.state, child.start?.epoch, child.result?.epochs], ['completed', 4, 6]);
  await thinCheckpoints(store, run, 0);
  assert.deepEqual(states(await checkpointsOf(store, run)), ends);
});

test('from a kept epoch the way is the same as it was; the budget holds while a run trains; 0 keeps none', async (context) => {
  const { store, manager } = setUp(context);
  const config = keeping(6, { every: 3, budget: 100 });
  const { id: run } = await manager.start({ config });
  await manager.finished({ run });
  const again = await manager.finished({ run: (await manager.goOn({ run, config, checkpoint: 3 })).id });
  assert.equal(again.relation, 'continued');
  const curve = async (id: number) =>
    (await store.metrics({ run: id, series: ['train_loss'] })).map(({ value }) => value);
  assert.deepEqual(await curve(again.id), await curve(run));

  const [best, last, one] = (await checkpointsOf(store, run)).map(({ bytes }) => bytes);
  const budget = (best + last + 2 * one) / 1e6;
  const { id: tight } = await manager.start({ config: keeping(9, { every: 1, budget }) });
  await manager.finished({ run: tight });
  const kept = await checkpointsOf(store, tight);
  assert.ok(kept.length > 2 && kept.reduce((sum, { bytes }) => sum + bytes, 0) <= 1e6 * budget, states(kept).join());
  const { id: none } = await manager.start({ config: keeping(4, { every: 1, budget: 0 }) });
  await manager.finished({ run: none });
  assert.equal((await checkpointsOf(store, none)).length, 2);
});
