// 16-bit numbers on a GPU that computes with them (`shader-f16`): they are read, written and kept as such instead of packed into words,
// and change no bit.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { createWebgpuBackend, type WebgpuOptions } from '../../engine/backends/webgpu/backend.ts';
import { mlp } from '../../engine/model/presets.ts';
import { gpt, textClassifier, type TextInput } from '../../engine/model/text-presets.ts';
import type { Call, Plan } from '../../engine/plan/plan.ts';
import type { GpuContext } from '../../kernels/gpu-contract.ts';
import { withHalves, writtenSingly } from '../../kernels/gpu-half.ts';
import { gpuKernels } from '../../kernels/gpu-registry.ts';
import { productVariants } from '../../kernels/gpu-tiles.ts';
import { fromHalf, toHalf } from '../../kernels/half.ts';
import { makeImages } from '../support/images.ts';
import { shortcutNetwork } from '../support/models.ts';
import { furthest } from '../support/scaled-loss.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere } from '../support/train.ts';
import { gpuWithHalfArithmetic } from '../support/webgpu.ts';

const gpu = await gpuWithHalfArithmetic();
const skip = typeof gpu === 'string' ? gpu : false;
after(() => (typeof gpu === 'string' ? undefined : gpu.device.destroy()));

function backendWith(options: WebgpuOptions) {
  assert.ok(typeof gpu !== 'string');
  return { ...createWebgpuBackend(gpu, options), close: async () => undefined };
}

const numbers = makeTable({ rows: 230, numeric: 4, classes: 3 });
const texts = makeTable({ rows: 120, numeric: 0, classes: 3, texts: [{ vocabulary: 9, length: 7 }] });
const pictures = makeImages({ rows: 60, channels: 1, height: 10, width: 10, classes: 3 });
const shape = { blocks: 2, width: 16, heads: 2, positions: 0 } as const;
const models = [
  // In parts, whose products read copies of the weights, which begin anywhere in their binding.
  ['an MLP in parts of a batch', numbers, mlp([32, 30, 7]), { accumulate: 2 }],
  ['a shortcut with batch norm', pictures, shortcutNetwork(3), {}],
  ['a text classifier', texts, textClassifier('small', shape)(texts.data.input as TextInput), {}],
  ['a GPT', texts, gpt('gpt', shape)(texts.data.input as TextInput), {}],
] as const;

/** A choice among variants that is made already: every product has its slices in 16 bits where it can. */
const halfSlices = (name: string): WebgpuOptions => ({
  tuneFromFlops: 0,
  tuning: { get: (key) => (key.endsWith('in 16 bits') ? `${name} f16` : undefined), set: () => undefined },
});

for (const [what, made, model, further] of models) {
  test(`${what} trains in 16 bits to the same bits with shader-f16 and without`, { skip }, async () => {
    const outcome = async (backend: ReturnType<typeof backendWith>) => {
      const training = { epochs: 2, batch: 16, seed: 3, precision: 'mixed16' as const, ...further };
      const { points, files } = await trainHere(made, { model, training, backend });
      return { losses: series(points, 'step_loss'), weights: files.get('best.safetensors') };
    };
    const words = await outcome(backendWith({ halfArithmetic: false }));
    assert.deepEqual(await outcome(backendWith({})), words);
    assert.deepEqual(await outcome(backendWith(halfSlices('32x32x16/4x4'))), words);
    const reference = await outcome({ ...createReferenceBackend(), peaks: async () => null } as never);
    assert.ok(furthest(words.losses, reference.losses, 6) < 2e-3);
  });
}

const at = (slot: number) => ({ slot, offset: 0, shape: [1] });

/** c = a·b with all three in 16 bits, which float32 comes to and goes from through `add`. */
function productOfHalves(m: number, n: number, k: number): Plan {
  const sizes = { a: m * k, b: k * n, c: m * n };
  const names = Object.keys(sizes) as (keyof typeof sizes)[];
  const slots = names.flatMap((name, index) => [
    { id: 2 * index, kind: 'persistent', type: 'f32', elements: sizes[name], label: name } as const,
    { id: 2 * index + 1, kind: 'scratch', type: 'f16', elements: sizes[name], label: `${name} in 16 bits` } as const,
  ]);
  const most = Math.max(...Object.values(sizes));
  const nothing = { id: 6, kind: 'persistent', type: 'f32', elements: most, label: 'nothing' } as const;
  const add = (from: number, to: number, count: number): Call => ({
    kernel: 'add',
    inputs: [at(from), at(6)],
    outputs: [at(to)],
    params: { count },
  });
  const params = { m, n, k, transposeA: 0, transposeB: 0, activation: 1, slope: 0, gradient: 0 };
  const product: Call = { kernel: 'matmul', inputs: [at(1), at(3), null, null], outputs: [at(5)], params };
  const calls = [add(0, 1, sizes.a), add(2, 3, sizes.b), product, add(5, 4, sizes.c)];
  const tensors = Object.fromEntries(
    [...names, 'nothing'].map((name, index) => [
      name,
      { slot: 2 * index, offset: 0, shape: [slots[2 * index]?.elements ?? most], type: 'f32' },
    ]),
  ) as Plan['tensors'];
  return {
    slots: [...slots, nothing],
    tensors,
    programs: { run: { name: 'run', batch: 1, calls, flops: 0, bytes: 0 } },
    stepCapacity: 1,
    checkpoint: [],
  };
}

const limits = {
  maxComputeWorkgroupsPerDimension: 65_535,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupStorageSize: 16_384,
};
const context: GpuContext = {
  limits,
  subgroups: false,
  halfArithmetic: true,
  halves: new Set(),
  has: (operand) => operand !== 'bias',
};

/** The first two tiles for a product, in both forms. */
const offered = (m: number, n: number): readonly string[] =>
  productVariants(m, n, 1, ['a'], { ...context, halves: new Set(['a']) }).slice(0, 4);

for (const [m, n, k] of [
  [70, 68, 37],
  [33, 35, 64],
] as const) {
  test(
    `the likeliest tiles give a product of ${m} × ${n} × ${k} the same bits with slices in 16 bits as in float32`,
    { skip },
    async () => {
      const results: (readonly [string, unknown])[] = [];
      for (const name of offered(m, n)) {
        const tuning = { get: () => name, set: () => assert.fail('a known choice is not measured') };
        const executable = await backendWith({ tuning, tuneFromFlops: 0 }).compile(productOfHalves(m, n, k));
        assert.ok(executable.dispatches('run').some(({ label }) => label.includes(name)));
        const values = (count: number) => Float32Array.from({ length: count }, (_, i) => 3 * Math.sin(i * i));
        executable.write('a', values(m * k));
        executable.write('b', values(k * n));
        executable.write('nothing', new Float32Array(Math.max(m * k, k * n, m * n)));
        await executable.run('run', 1);
        results.push([name, await executable.read('c')]);
        executable.dispose();
      }
      assert.ok(results.length === 4);
      for (const [name, result] of results) assert.deepEqual(result, results[0][1], name);
      const [[, found]] = results as [[string, ArrayLike<number>]];
      const half = (i: number) => fromHalf(toHalf(Math.fround(3 * Math.sin(i * i))));
      const wanted = Array.from({ length: k }, (_, d) => half(d) * half(d * n)).reduce((sum, value) => sum + value, 0);
      assert.ok(
        Math.abs(found[0] - Math.max(0, wanted)) <= 1e-3 * Math.max(1, Math.abs(wanted)),
        `${found[0]} for ${wanted}`,
      );
    },
  );
}

test('with shader-f16 odd results are written as 16-bit numbers at once: no float32 between, no pass that packs', () => {
  const params = { m: 9, n: 7, k: 5, transposeA: 0, transposeB: 0, activation: 1, slope: 0, gradient: 0 };
  const halves = new Map([
    ['a', 45],
    ['c', 63],
  ]);
  const passesOf = (halfArithmetic: boolean) => {
    const asked = { ...context, halfArithmetic, halves: new Set(halves.keys()) };
    const kernel = gpuKernels.matmul!;
    const single = writtenSingly(kernel.passes(params, asked), asked);
    const passes = withHalves(kernel.passes(params, asked), { sizes: halves, single, firstWords: new Map() }, asked);
    return { passes, variants: kernel.variants!(params, asked) };
  };
  const [words, numbers] = [passesOf(false), passesOf(true)];
  assert.deepEqual(
    words.passes.map(({ writes }) => writes),
    [{ c: 'f32' }, { c_packed: 'u32' }],
  );
  assert.deepEqual(
    numbers.passes.map(({ writes }) => writes),
    [{ c: 'f16' }],
  );
  assert.ok(numbers.passes[0].usesHalves === true && words.passes.every(({ usesHalves }) => usesHalves !== true));
  // Each tile in both forms, one behind the other.
  assert.deepEqual(
    numbers.variants,
    words.variants.flatMap((name) => [name, `${name} f16`]),
  );
});
