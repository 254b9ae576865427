// Batch norm takes its sums in float32 and, natively, in one pass: the deviation holds where the mean is far from zero, and where
// the first image, about whose mean the sums are taken, is blank.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { normal } from '../../kernels/samples.ts';
import { threefry2x32 } from '../../kernels/threefry.ts';
import { placesOf, runCalls } from '../support/calls.ts';

const [outer, channels, inner] = [64, 3, 70];

/** 1/√(variance) of a channel in float64. */
function inverseDeviation(x: Float32Array, channel: number): number {
  const own = x.filter((_, i) => Math.floor(i / inner) % channels === channel);
  const mean = own.reduce((sum, value) => sum + value, 0) / own.length;
  return 1 / Math.sqrt(own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / own.length);
}

const distributions = [
  { name: 'a mean a thousand times the deviation', value: (draw: number) => 1000 + draw },
  { name: 'a blank first image', value: (draw: number, image: number) => (image === 0 ? 0 : 100 + draw) },
] as const;

for (const native of [undefined, false] as const) {
  for (const { name, value } of distributions) {
    test(`the deviation is right with ${name} (${native === false ? 'WASM' : 'the addon, where it is built'})`, async () => {
      let counter = 0;
      const random = () => threefry2x32(7, 1, counter++, 0)[0] * 2 ** -32;
      const x = Float32Array.from({ length: outer * channels * inner }, (_, i) =>
        value(normal(random), Math.floor(i / (channels * inner))),
      );
      const each = [channels];
      const shapes = { x: [outer, channels, inner], gamma: each, beta: each, y: [outer, channels, inner] };
      const kept = { mean: each, inverse: each, runningMean: each, runningVariance: each };
      const at = placesOf({ ...shapes, ...kept });
      const results = await runCalls(
        createCpuBackend({ threads: 1, native }),
        { ...shapes, ...kept },
        [
          {
            kernel: 'batch_norm',
            inputs: [at('x'), at('gamma'), at('beta')],
            outputs: [at('y'), at('mean'), at('inverse'), at('runningMean'), at('runningVariance')],
            params: { outer, channels, inner, epsilon: 0, momentum: 0.1, activation: 0, slope: 0 },
          },
        ],
        { x, gamma: new Float32Array(channels).fill(1) },
      );
      for (let channel = 0; channel < channels; channel++) {
        const wanted = inverseDeviation(x, channel);
        const off = Math.abs(results.inverse[channel] / wanted - 1);
        assert.ok(off <= 1e-5, `channel ${channel}: ${results.inverse[channel]}, ${wanted} in float64`);
      }
    });
  }
}
