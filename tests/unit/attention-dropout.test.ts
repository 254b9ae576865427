// Attention that drops its weights is the fused one: the mask of dropout over the scores, drawn anew on the way back, the same on every
// device and number of threads, and no memory of its own.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import { gpt, type TextInput } from '../../engine/model/text-presets.ts';
import { compilePlan } from '../../engine/plan/compile.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import type { LayerSpec } from '../../engine/model/spec.ts';
import { elementBytes } from '../../kernels/contract.ts';
import { packedWidth } from '../../kernels/attention-shape.ts';
import { reference as attention } from '../../kernels/attention/reference.ts';
import { reference as drop } from '../../kernels/dropout/reference.ts';
import { type Golden, readGolden, replay } from '../golden/golden.ts';
import { makeTable, uniform } from '../support/table.ts';

const dropping = (layers: readonly LayerSpec[], dropout: number): readonly LayerSpec[] =>
  layers.map((layer) => (layer.type === 'attention' ? { ...layer, dropout } : layer));
const goldenWith = (name: string, dropout: number): Golden => {
  const golden = readGolden(name);
  return { ...golden, layers: dropping(golden.layers, dropout) };
};

test('what is dropped is what dropout would drop of the weights', () => {
  const shape = { batch: 2, length: 6, heads: 2, groups: 1, size: 3, causal: 0, scale: 0.5 };
  const p = { ...shape, rate: 0.4, seed: 11, stream: 5, steps: 2 };
  const { batch, length, heads, groups, size } = p;
  const random = uniform(3);
  const qkv = Float64Array.from({ length: batch * length * packedWidth(p) }, () => 2 * random() - 1);
  const counters = Float64Array.of(7, 19);
  const outputs = () => ({
    y: new Float64Array(batch * length * heads * size),
    logsum: new Float64Array(batch * heads * length),
  });
  const fused = outputs();
  attention({ qkv, lengths: null, counters, scalars: null }, fused, p, 1);

  // The weights themselves: attention over unit vectors in place of values, a key at a time.
  const weights = new Float64Array(batch * heads * length * length);
  for (let j = 0; j < length; j++) {
    const marked = qkv.map((value, i) => {
      const [place, within] = [Math.floor(i / packedWidth(p)) % length, i % packedWidth(p)];
      return within < (heads + groups) * size ? value : Number(place === j);
    });
    const one = outputs();
    attention({ qkv: marked, lengths: null, counters: null, scalars: null }, one, p, 0);
    for (let i = 0; i < batch * heads * length; i++) {
      const [row, head, query] = [Math.floor(i / (heads * length)), Math.floor(i / length) % heads, i % length];
      weights[i * length + j] = one.y[((row * length + query) * heads + head) * size];
    }
  }
  const dropped = new Float64Array(weights.length);
  drop(
    { x: weights, counters, scalars: null },
    { y: dropped },
    { count: weights.length, rate: p.rate, seed: p.seed, stream: p.stream, steps: 2 },
    1,
  );
  assert.ok(dropped.includes(0));
  fused.y.forEach((y, at) => {
    const [place, head, s] = [Math.floor(at / (heads * size)), Math.floor(at / size) % heads, at % size];
    const [row, query] = [Math.floor(place / length), place % length];
    let sum = 0;
    for (let j = 0; j < length; j++) {
      const value = qkv[(row * length + j) * packedWidth(p) + (heads + groups) * size + s];
      sum += dropped[((row * heads + head) * length + query) * length + j] * value;
    }
    assert.ok(Math.abs(sum - y) < 1e-12);
  });
});

test('a share of the weights dropped changes what is trained, next to nothing dropped does not', async () => {
  const golden = readGolden('llama');
  const [little, half] = await Promise.all(
    [1e-12, 0.5].map((rate) => replay(goldenWith('llama', rate), createReferenceBackend())),
  );
  little.losses.forEach((loss, step) => assert.ok(Math.abs(loss - golden.losses[step]) < 1e-5, `step ${step}`));
  assert.ok(Math.abs(half.losses[0] - golden.losses[0]) > 1e-3);
});

// On the GPU: the parity tests, and those of checkpointing.
const devices: readonly [name: string, open: () => Backend][] = [
  ['WebAssembly', () => createCpuBackend({ threads: 2, native: false })],
  ['the addon', () => createCpuBackend({ threads: 2 })],
];
const expected = replay(goldenWith('bert', 0.3), createReferenceBackend());
for (const [name, open] of devices) {
  test(`losses with dropped weights are the reference's, on ${name}`, async () => {
    const backend = open();
    const { losses } = await replay(goldenWith('bert', 0.3), backend);
    await backend.close();
    const { losses: wanted } = await expected;
    losses.forEach((loss, step) => assert.ok(Math.abs(loss - wanted[step]) < 2e-5, `${step}: ${loss} ${wanted[step]}`));
  });
}

test('memory grows with the length, not with its square', () => {
  const bytesOf = (length: number, dropout: number): number => {
    const { data } = makeTable({ rows: 8, numeric: 0, classes: 3, texts: [{ vocabulary: 9, length }] });
    const spec = gpt('gpt', { blocks: 1, width: 16, heads: 2, positions: 0 })(data.input as TextInput);
    const model = resolveModel({ ...spec, layers: dropping(spec.layers, dropout) }, data.input, 3);
    const { slots } = compilePlan({
      model,
      output: data.output,
      training: defaultTraining(8, 'classification'),
      data: { rows: 8, width: length, targets: 1 },
      stepCapacity: 1,
      predictSteps: 1,
      trainBatches: [4],
      predictBatch: 4,
    });
    return slots.reduce(
      (sum, { kind, elements, type }) => sum + (kind === 'scratch' ? elements * elementBytes[type] : 0),
      0,
    );
  };
  assert.ok(bytesOf(1024, 0.2) < 2.05 * bytesOf(512, 0.2));
  assert.equal(bytesOf(512, 0.2), bytesOf(512, 0));
});
