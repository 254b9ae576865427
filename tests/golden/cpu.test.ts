// The reference and the CPU follow PyTorch: gradients of the first step and the losses of ten.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { goldenNames, readGolden, replay } from './golden.ts';

const backends = [
  { name: 'reference', create: createReferenceBackend },
  { name: 'cpu, 1 thread', create: () => createCpuBackend({ threads: 1 }) },
  { name: 'cpu, 2 threads', create: () => createCpuBackend({ threads: 2 }) },
];

for (const { name, create } of backends) {
  for (const golden of goldenNames.map(readGolden)) {
    test(`golden: ${golden.name} on ${name}`, async () => {
      const backend = create();
      const { losses, gradients } = await replay(golden, backend);
      await backend.close();
      // PyTorch's own float32 rounding is the limit: about 1e-6 a step, growing with the steps.
      losses.forEach((loss, step) => {
        const wanted = golden.losses[step];
        assert.ok(Math.abs(loss - wanted) <= 2e-5 * Math.abs(wanted), `loss ${step}: ${loss}, PyTorch has ${wanted}`);
      });
      for (const [parameter, wanted] of Object.entries(golden.gradients)) {
        const scale = Math.max(...wanted.map(Math.abs));
        wanted.forEach((value, i) => {
          const got = gradients[parameter][i];
          assert.ok(Math.abs(got - value) <= 1e-6 + 2e-5 * scale, `${parameter}[${i}]: ${got}, PyTorch has ${value}`);
        });
      }
    });
  }
}
