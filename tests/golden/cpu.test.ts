// The reference and the CPU follow PyTorch: gradients of the first step and the losses of ten.

import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { readAttentionGolden, replayAttention } from './attention.ts';
import { assertFollowsPytorch, goldenNames, readGolden, replay } from './golden.ts';

const backends = [
  { name: 'reference', create: createReferenceBackend },
  { name: 'cpu, 1 thread', create: () => createCpuBackend({ threads: 1 }) },
  { name: 'cpu, 2 threads', create: () => createCpuBackend({ threads: 2 }) },
  { name: 'cpu, WASM alone', create: () => createCpuBackend({ threads: 2, native: false }) },
];

for (const { name, create } of backends) {
  for (const golden of goldenNames.map(readGolden)) {
    test(`golden: ${golden.name} on ${name}`, async () => {
      const backend = create();
      const got = await replay(golden, backend);
      await backend.close();
      assertFollowsPytorch(golden, got);
    });
  }

  test(`golden: attention on ${name}`, async () => {
    const golden = readAttentionGolden();
    const backend = create();
    const got = await replayAttention(golden, backend);
    await backend.close();
    assertFollowsPytorch(golden, got);
  });
}
