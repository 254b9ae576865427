// The tiny suite: in a few seconds, one word from every part. Run it after each change; the others tell where it hurts.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { createDataService } from '../../engine/data/service.ts';
import { createStore } from '../../engine/history/store.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { networkConfig } from '../../engine/learners/network/declaration.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { inProcessHosts } from '../../electron/cli/hosts.ts';
import { readGolden, replay } from '../golden/golden.ts';
import { tables, temporaryHome } from '../support/cli.ts';

for (const create of [createReferenceBackend, () => createCpuBackend({ threads: 1 })]) {
  const backend = create();
  test(`ten steps follow PyTorch: ${backend.device.kind}`, async () => {
    const golden = readGolden('mlp-regression');
    const { losses } = await replay(golden, backend);
    losses.forEach((loss, i) => assert.ok(Math.abs(loss - golden.losses[i]) < 1e-5 * golden.losses[i], `step ${i}`));
  });
}

test('a CSV becomes a recorded run that has learnt', async (t) => {
  const home = temporaryHome(t);
  const data = createDataService({ home });
  const store = createStore(home);
  t.after(async () => {
    await store.close();
    await data.close();
  });
  const info = await data.import({ job: 'import', path: path.join(tables, 'iris.csv') });
  assert.deepEqual([info.rows, info.target, info.task], [150, 'species', 'classification']);
  const manager = createRunManager({ store, data, hosts: inProcessHosts(data), owner: processOwner() });
  const settings = { target: 'species', task: 'classification' } as const;
  const config = networkConfig({ dataset: info.id, settings, device: 'cpu', threads: 1 }, mlp([16]), {
    ...defaultTraining(120, 'classification'),
    epochs: 60,
  });
  const { id } = await manager.start({ config });
  const run = await manager.finished({ run: id });
  assert.equal(run.state, 'completed');
  assert.ok(run.result!.metrics.test_accuracy > 0.8);
  assert.ok((await store.metrics({ run: id, series: ['val_loss'] })).length >= 20);
  assert.ok(run.hasCheckpoint || run.result!.epochs > 0);
});
