// The reference and the CPU follow PyTorch on mnist-cnn and ResNet-20: gradients of the first step and the losses of ten.

import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { assertFollows, imageGoldenNames, readImageGolden, replayImages } from './images.ts';

// float64 leaves nothing but the rounding of results to float32; in float32 they grow from step to step.
const backends = [
  { name: 'reference', create: createReferenceBackend, relative: 1e-6, growth: 1 },
  { name: 'cpu, WASM', create: () => createCpuBackend({ threads: 2, native: false }), relative: 2e-6, growth: 1.2 },
  { name: 'cpu, native', create: () => createCpuBackend({ threads: 1 }), relative: 2e-6, growth: 1.2 },
];

for (const { name, create, relative, growth } of backends) {
  for (const golden of imageGoldenNames.map(readImageGolden)) {
    test(`golden: ${golden.name} on ${name}`, async () => {
      const backend = create();
      const replay = await replayImages(golden, backend);
      await backend.close();
      assertFollows(golden, replay, relative, growth);
    });
  }
}
