// Attention that drops its weights is the fused one where it drops next to nothing, padding and order masked.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readGolden, replay } from '../golden/golden.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';

for (const name of ['bert', 'gpt', 'llama']) {
  test(`${name} loses the same with fused attention and with the one that could drop weights`, async () => {
    const golden = readGolden(name);
    const layers = golden.layers.map((layer) => (layer.type === 'attention' ? { ...layer, dropout: 1e-12 } : layer));
    const [fused, apart] = await Promise.all(
      [golden, { ...golden, layers }].map((one) => replay(one, createReferenceBackend())),
    );
    fused.losses.forEach((loss, step) => assert.ok(Math.abs(loss - apart.losses[step]) < 1e-6, `step ${step}`));
  });
}

test('a share of the weights dropped changes what is trained', async () => {
  const golden = readGolden('gpt');
  const layers = golden.layers.map((layer) => (layer.type === 'attention' ? { ...layer, dropout: 0.5 } : layer));
  const { losses } = await replay({ ...golden, layers }, createReferenceBackend());
  assert.ok(Math.abs(losses[0] - golden.losses[0]) > 1e-3);
});
