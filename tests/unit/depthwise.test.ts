// Depthwise 3 × 3 convolutions of the native addon: at random shapes against WebAssembly's, which are written otherwise, and that
// what stands beyond a plane's borders is left alone, even where it is not a number. Skipped, saying so, without the addon.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative } from '../../engine/backends/cpu/native.ts';
import type { Call } from '../../engine/plan/plan.ts';
import { elementCount } from '../../kernels/contract.ts';
import { type Convolution, inputShape, outputShape, weightShape } from '../../kernels/convolution.ts';
import { threefry2x32 } from '../../kernels/threefry.ts';
import { placesOf, runCalls } from '../support/calls.ts';

const addon = findNative();
const skip = addon === undefined ? 'no native addon was built: no C compiler' : false;

let counter = 0;
/** From 0 up to, and without, `below`. */
const draw = (below: number): number => Math.floor(threefry2x32(3, 9, counter++, 0)[0] * 2 ** -32 * below);

function randomShape(): Convolution {
  const stride = 1 + draw(2);
  const padding = draw(3);
  const side = (): number => 3 - Math.min(2, 2 * padding) + draw(draw(2) ? 8 : 40);
  const channels = 2 + draw(9);
  const sizes = { batch: 1 + draw(3), channels, height: side(), width: side(), filters: channels, groups: channels };
  return { ...sizes, kernel: 3, stride, padding, dilation: 1 };
}

type Tensors = Readonly<Record<string, Float32Array>>;

const shapesOf = (p: Convolution) => ({
  x: inputShape(p),
  dy: outputShape(p),
  w: weightShape(p),
  y: outputShape(p),
  dx: inputShape(p),
  dw: weightShape(p),
});

const randomTensors = (p: Convolution): Tensors => {
  const { x, dy, w } = shapesOf(p);
  const values = (shape: readonly number[]) =>
    Float32Array.from({ length: elementCount(shape) }, () => draw(2001) / 1000 - 1);
  return { x: values(x), dy: values(dy), w: values(w) };
};

/** All three convolutions of the same tensors. */
async function convolve(native: string | false, threads: number, p: Convolution, inputs: Tensors): Promise<Tensors> {
  const at = placesOf(shapesOf(p));
  const params = { ...p, activation: 0, slope: 0, gradient: 0 };
  const calls: readonly Call[] = [
    { kernel: 'conv2d', inputs: [at('x'), at('w'), null], outputs: [at('y')], params },
    { kernel: 'conv2d_input_grad', inputs: [at('dy'), at('w'), null, null], outputs: [at('dx')], params },
    { kernel: 'conv2d_weight_grad', inputs: [at('x'), at('dy')], outputs: [at('dw'), null], params },
  ];
  const backend = createCpuBackend({ threads, native });
  try {
    return await runCalls(backend, shapesOf(p), calls, inputs);
  } finally {
    await backend.close();
  }
}

const results = ['y', 'dx', 'dw'] as const;

test('1. agree with those of WebAssembly at random shapes', { skip }, async () => {
  for (let i = 0; i < 60; i++) {
    const shape = randomShape();
    const inputs = randomTensors(shape);
    const [native, wasm] = [await convolve(addon!, 1, shape, inputs), await convolve(false, 1, shape, inputs)];
    for (const name of results) {
      const scale = Math.sqrt(name === 'dw' ? shape.batch * shape.height * shape.width : 9);
      const worst = native[name].reduce((most, value, at) => Math.max(most, Math.abs(value - wasm[name][at])), 0);
      assert.ok(worst <= 1e-6 * scale, `${name} of ${JSON.stringify(shape)} differs by ${worst}`);
    }
  }
});

test('2. a channel that is not a number spoils no other one, on any number of threads', { skip }, async () => {
  for (const stride of [1, 2]) {
    for (const width of [3, 21]) {
      const sizes = { batch: 2, channels: 5, height: 4, width, filters: 5, groups: 5 };
      const shape = { ...sizes, kernel: 3, stride, padding: 1, dilation: 1 };
      const inputs = randomTensors(shape);
      const spoilt = (name: string, at: number) =>
        Math.floor((at / inputs[name].length) * (name === 'w' ? 5 : 10)) % 5 === 2;
      for (const name of ['x', 'dy']) inputs[name].forEach((_, at) => spoilt(name, at) && (inputs[name][at] = NaN));
      for (const threads of [1, 3]) {
        const found = await convolve(addon!, threads, shape, inputs);
        const [ofX, ofDy, ofW] = [found.dx, found.y, found.dw];
        ofX.forEach((value, at) =>
          assert.equal(Number.isNaN(value), spoilt('x', at), `dx ${at}, ${JSON.stringify(shape)}`),
        );
        ofDy.forEach((value, at) =>
          assert.equal(Number.isNaN(value), spoilt('dy', at), `y ${at}, ${JSON.stringify(shape)}`),
        );
        ofW.forEach((value, at) =>
          assert.equal(Number.isNaN(value), spoilt('w', at), `dw ${at}, ${JSON.stringify(shape)}`),
        );
      }
    }
  }
});
