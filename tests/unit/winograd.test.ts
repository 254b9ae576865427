// Winograd's transforms, by WebAssembly and of the native addon: how far results are from float64 next to those of direct sums, that they
// are used where they pay and can be left out, and that training with them follows float64. Native ones are skipped, saying so, without it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative } from '../../engine/backends/cpu/native.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import type { Call } from '../../engine/plan/plan.ts';
import { activationCodes } from '../../kernels/activations.ts';
import { elementCount } from '../../kernels/contract.ts';
import { type Convolution, forEachProduct, inputShape, outputShape, weightShape } from '../../kernels/convolution.ts';
import { normal } from '../../kernels/samples.ts';
import { threefry2x32 } from '../../kernels/threefry.ts';
import { placesOf, runCalls } from '../support/calls.ts';
import { assertFollows, readImageGolden, replayImages } from '../golden/images.ts';

const addon = findNative();
const ways = [
  { way: 'by WebAssembly', native: false as const, skip: false },
  { way: 'natively', native: addon, skip: addon === undefined ? 'no native addon was built: no C compiler' : false },
];
type Way = string | URL | false | undefined;
const plain = { kernel: 3, stride: 1, padding: 1, dilation: 1, groups: 1 };

/** With and without them; the switch is read when a plan is compiled. */
async function withWinograd<T>(wanted: boolean, body: () => Promise<T>): Promise<T> {
  const before = process.env.TRAINYARD_WINOGRAD;
  if (wanted) delete process.env.TRAINYARD_WINOGRAD;
  else process.env.TRAINYARD_WINOGRAD = '0';
  try {
    return await body();
  } finally {
    if (before === undefined) delete process.env.TRAINYARD_WINOGRAD;
    else process.env.TRAINYARD_WINOGRAD = before;
  }
}

type Name = 'x' | 'w' | 'dy' | 'y' | 'dx' | 'dw';
type Tensors = Readonly<Record<Name, Float32Array>>;

function shapesOf(p: Convolution): Readonly<Record<Name, readonly number[]>> {
  const [image, weight, result] = [inputShape(p), weightShape(p), outputShape(p)];
  return { x: image, w: weight, dy: result, y: result, dx: image, dw: weight };
}

function sampleOf(shape: readonly number[], stream: number): Float32Array {
  let counter = 0;
  const random = () => threefry2x32(7, stream, counter++, 0)[0] * 2 ** -32;
  return Float32Array.from({ length: elementCount(shape) }, () => normal(random));
}

/** The three convolutions of the same x, w and dy on so many threads; with an activation also what follows the sums. */
async function convolve(
  native: Way,
  p: Convolution,
  winograd: boolean,
  threads = 1,
  activation: number = activationCodes.none,
): Promise<Tensors> {
  return withWinograd(winograd, async () => {
    const shapes = shapesOf(p);
    const at = placesOf(shapes);
    const finished = activation !== activationCodes.none;
    const params = { ...p, activation, slope: 0.1, gradient: Number(finished) };
    // The first elements of dy will do for a bias, x for the saved output whose derivative follows.
    const [bias, saved] = finished ? [at('dy'), at('x')] : [null, null];
    const calls: readonly Call[] = [
      { kernel: 'conv2d', inputs: [at('x'), at('w'), bias], outputs: [at('y')], params },
      { kernel: 'conv2d_input_grad', inputs: [at('dy'), at('w'), null, saved], outputs: [at('dx')], params },
      { kernel: 'conv2d_weight_grad', inputs: [at('x'), at('dy')], outputs: [at('dw'), null], params },
    ];
    const backend = createCpuBackend({ threads, native });
    const inputs = (['x', 'w', 'dy'] as const).map((name, stream) => [name, sampleOf(shapes[name], stream)] as const);
    const results = await runCalls(backend, shapes, calls, Object.fromEntries(inputs));
    await backend.close();
    return results;
  });
}

/** Root mean square of the error, and the largest, in units of the root mean square of the exact results. */
function errorOf(got: Float32Array, exact: Float64Array): { readonly usual: number; readonly worst: number } {
  const size = Math.sqrt(exact.reduce((sum, value) => sum + value ** 2, 0) / exact.length);
  const errors = exact.map((value, i) => Math.abs(got[i] - value) / size);
  return {
    usual: Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length),
    worst: errors.reduce((most, error) => Math.max(most, error), 0),
  };
}

/** Shapes of ResNets, and bounds of the usual and the worst error as docs/convolutions.md states them. */
const bounded = [
  { p: { ...plain, batch: 2, channels: 16, height: 32, width: 32, filters: 16 }, usual: 1e-6, worst: 1e-5 },
  { p: { ...plain, batch: 4, channels: 64, height: 8, width: 8, filters: 64 }, usual: 1.5e-6, worst: 1.5e-5 },
  { p: { ...plain, batch: 1, channels: 200, height: 7, width: 9, filters: 136 }, usual: 3e-6, worst: 3e-5 },
];

for (const { way, native, skip } of ways) {
  test(`1. errs a few times more than direct sums, and no more than is stated, ${way}`, { skip }, async () => {
    for (const { p, usual, worst } of bounded) {
      const shapes = shapesOf(p);
      const transformed = await convolve(native, p, true);
      const direct = await convolve(native, p, false);
      const { x, w, dy } = transformed;
      const exact = {
        y: new Float64Array(elementCount(shapes.y)),
        dx: new Float64Array(elementCount(shapes.dx)),
        dw: new Float64Array(elementCount(shapes.dw)),
      };
      forEachProduct(p, (i, j, k) => {
        exact.y[k] += x[i] * w[j];
        exact.dx[i] += dy[k] * w[j];
        exact.dw[j] += x[i] * dy[k];
      });
      for (const name of ['y', 'dx', 'dw'] as const) {
        const what = `${name} of ${p.channels} → ${p.filters} channels, ${p.height} × ${p.width}`;
        assert.notDeepEqual(transformed[name], direct[name], `${what}: not transformed, or the switch does nothing`);
        const own = errorOf(transformed[name], exact[name]);
        const other = errorOf(direct[name], exact[name]);
        assert.ok(own.usual <= usual && own.worst <= worst, `${what}: errs by ${own.usual}, at worst ${own.worst}`);
        assert.ok(own.usual <= 5 * other.usual, `${what}: errs by ${own.usual}, direct sums by ${other.usual}`);
      }
    }
  });

  test(`2. gives the same bits on any number of threads, ${way}`, { skip }, async () => {
    const shapes = [...bounded.map(({ p }) => p), { ...bounded[1].p, batch: 7, channels: 23, filters: 37, padding: 2 }];
    for (const p of shapes) {
      const alone = await convolve(native, p, true);
      for (const threads of [2, 3])
        assert.deepEqual(await convolve(native, p, true, threads), alone, JSON.stringify(p));
    }
  });

  test(
    `3. is left alone where direct sums are as fast: few channels, few products, strides, groups, ${way}`,
    { skip },
    async () => {
      const base = { ...plain, batch: 4, channels: 32, height: 16, width: 16, filters: 32 };
      const direct: readonly Convolution[] = [
        { ...base, channels: 3 },
        { ...base, batch: 1, height: 8, width: 8 },
        { ...base, stride: 2 },
        { ...base, dilation: 2, padding: 2 },
        { ...base, groups: 2 },
        { ...base, kernel: 5, padding: 2 },
        { ...base, batch: 40, height: 5, width: 5 },
      ];
      assert.notDeepEqual(await convolve(native, base, true), await convolve(native, base, false));
      for (const p of direct)
        assert.deepEqual(await convolve(native, p, true), await convolve(native, p, false), JSON.stringify(p));
    },
  );

  test(`4. adds bias, activation and derivative like direct sums, ${way}`, { skip }, async () => {
    const odd = { ...plain, batch: 7, channels: 23, height: 9, width: 11, filters: 37, padding: 2 };
    for (const p of [...bounded.map(({ p }) => p), odd]) {
      const own = await convolve(native, p, true, 1, activationCodes.leaky_relu);
      const direct = await convolve(native, p, false, 1, activationCodes.leaky_relu);
      for (const name of ['y', 'dx'] as const) {
        const { worst } = errorOf(own[name], Float64Array.from(direct[name]));
        assert.ok(worst <= 4e-5, `${name} of ${JSON.stringify(p)}: differs by ${worst}`);
      }
    }
  });

  test(`5. ResNet-20 trained with them follows float64, ${way}`, { skip }, async () => {
    // As the golden test, with the bounds of native kernels there, on pictures large enough for all its stages.
    const golden = { ...readImageGolden('resnet20'), shape: [3, 16, 16] as const, batch: 8, losses: [0, 0] };
    const exact = await replayImages(golden, createReferenceBackend());
    const wanted = {
      ...golden,
      losses: exact.losses,
      gradients: exact.gradients.map((values) => ({
        step: 1,
        values,
        norm: Math.sqrt(values.reduce((sum, value) => sum + value * value, 0)),
      })),
    };
    const replayed = async () => {
      const backend = createCpuBackend({ threads: 2, native });
      const replay = await replayImages(golden, backend);
      await backend.close();
      return replay;
    };
    const transformed = await withWinograd(true, replayed);
    assertFollows(wanted, transformed, 2e-6, 1.2);
    assert.notDeepEqual(transformed.gradients, (await withWinograd(false, replayed)).gradients);
  });
}
