// Dawn under Node is asked for news with patience: by itself it asks in every turn of the event loop, which takes a core.

import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { askPatiently } from '../../engine/backends/webgpu/node.polling.ts';
import { openSteps, tabularMlp } from '../support/steps.ts';
import { missingGpu, testGpu } from '../support/webgpu.ts';

const skip = await missingGpu();

/** A GPU whose queue is done after so many questions, each asked by the one before through the global `setImmediate`, as Dawn's is. */
function asking(questions: number): GPU {
  const onSubmittedWorkDone = (): Promise<void> =>
    new Promise((resolve) => {
      let asked = 0;
      const ask = (): void => (++asked === questions ? resolve() : void setImmediate(ask));
      setImmediate(ask);
    });
  const queue = { submit: () => undefined, onSubmittedWorkDone };
  const unused = async () => null;
  const device = { queue, createComputePipelineAsync: unused, popErrorScope: unused, createBuffer: () => ({}) };
  return { requestAdapter: async () => ({ requestDevice: async () => device }) } as unknown as GPU;
}

for (const [kind, software, submits] of [
  ['software, just handed work', true, true],
  ['hardware, with nothing to do', false, false],
  ['hardware, just handed work', false, true],
] as const) {
  test(`a GPU of ${kind}, is asked ${software || !submits ? 'once a millisecond' : 'in every turn'}`, async (t) => {
    const immediate = t.mock.method(globalThis, 'setImmediate');
    const timer = t.mock.method(globalThis, 'setTimeout');
    mock.method(performance, 'now', () => 0);
    t.after(() => mock.restoreAll());
    const adapter = await askPatiently(asking(20), software).requestAdapter();
    const { queue } = await adapter!.requestDevice();
    const own = globalThis.setImmediate;
    if (submits) queue.submit([]);
    await queue.onSubmittedWorkDone();
    assert.equal(timer.mock.callCount(), software || !submits ? 20 : 0);
    assert.equal(immediate.mock.callCount(), software || !submits ? 0 : 20);
    assert.equal(globalThis.setImmediate, own, 'everyone else has their own');
  });
}

test('while the GPU compiles and computes, nothing is asked in every turn', { skip }, async (t) => {
  const immediate = t.mock.method(globalThis, 'setImmediate');
  const backend = createWebgpuBackend(await testGpu());
  const steps = 200;
  const { executable, program } = await openSteps(tabularMlp, backend, steps);
  await executable.run(program, steps);
  await executable.read('ring.loss', 0, steps);
  await backend.close();
  assert.ok(immediate.mock.callCount() < 20, `${immediate.mock.callCount()} turns`);
});
