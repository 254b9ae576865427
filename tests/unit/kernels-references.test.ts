// The float64 references are what every device is compared with, so they are held against two independent witnesses: PyTorch,
// on small inputs (fixtures/kernels_pytorch.py), and central differences of the forward kernels.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import test from 'node:test';
import { activationCodes } from '../../kernels/activations.ts';
import { references } from '../../kernels/references.ts';
import type { KernelName } from '../../kernels/registry.ts';
import { regressionLossKinds } from '../../kernels/regression_loss/kernel.ts';
import { normal } from '../../kernels/samples.ts';
import { threefry2x32 } from '../../kernels/threefry.ts';

type Values = Readonly<Record<string, readonly number[] | null>>;

interface PytorchCase {
  readonly kernel: KernelName;
  readonly inputs: Values;
  /** Contents before the call. */
  readonly outputs: Values;
  readonly params: Readonly<Record<string, number>>;
  readonly expected: Values;
}

const file = new URL('fixtures/kernels-pytorch.json', import.meta.url);
const pytorchCases: readonly PytorchCase[] = JSON.parse(fs.readFileSync(file, 'utf8'));

const arrays = (values: Values): Record<string, Float64Array | null> =>
  Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list && Float64Array.from(list)]));

function assertClose(got: Float64Array | null, wanted: readonly number[], tolerance: number, what: string): void {
  wanted.forEach((value, i) => {
    const difference = Math.abs(got![i] - value);
    assert.ok(difference <= tolerance * Math.max(1, Math.abs(value)), `${what}[${i}]: ${got![i]}, wanted ${value}`);
  });
}

for (const kernel of new Set(pytorchCases.map((each) => each.kernel))) {
  test(`${kernel}: the reference gives what PyTorch gives`, () => {
    for (const { inputs, outputs, params, expected } of pytorchCases.filter((each) => each.kernel === kernel)) {
      const results = arrays(outputs);
      references[kernel](arrays(inputs), results, params, 0);
      for (const [name, wanted] of Object.entries(expected)) {
        assertClose(results[name], wanted!, 1e-9, `${kernel} ${JSON.stringify(params)} ${name}`);
      }
    }
  });
}

/** Seeded normal numbers. */
function sample(count: number, seed: number): Float64Array {
  let counter = 0;
  const random = (): number => threefry2x32(seed, 0, counter++, 0)[0] * 2 ** -32;
  return Float64Array.from({ length: count }, () => normal(random));
}

/** ∂f/∂x by central differences. */
function numericGradient(f: (x: Float64Array) => number, x: Float64Array): number[] {
  const h = 1e-5;
  return Array.from(x, (value, i) => {
    const at = (moved: number): number => f(x.with(i, moved));
    return (at(value + h) - at(value - h)) / (2 * h);
  });
}

/** Runs a loss: its value, with its gradient written to `gradient`. */
function runLoss(
  kernel: KernelName,
  inputs: Readonly<Record<string, Float64Array | null>>,
  params: Readonly<Record<string, number>>,
  gradient: Float64Array | null,
): number {
  const loss = new Float64Array(1);
  references[kernel](inputs, { loss, gradient }, { ...params, steps: 1 }, 0);
  return loss[0];
}

interface LossCase {
  readonly kernel: KernelName;
  /** The input to differentiate by, and its values. */
  readonly variable: string;
  readonly values: Float64Array;
  readonly others: Readonly<Record<string, Float64Array>>;
  readonly params: Readonly<Record<string, number>>;
}

const losses: readonly LossCase[] = [
  {
    kernel: 'softmax_cross_entropy',
    variable: 'logits',
    values: sample(12, 1),
    others: { target: Float64Array.of(0, 3, 2), weights: Float64Array.of(0.5, 1, 2, 3) },
    params: { batch: 3, classes: 4, smoothing: 0.1 },
  },
  {
    kernel: 'binary_cross_entropy',
    variable: 'logits',
    values: sample(5, 2),
    others: { target: Float64Array.of(0, 1, 1, 0, 1), weights: Float64Array.of(0.5, 2) },
    params: { batch: 5, smoothing: 0.1 },
  },
  ...Object.values(regressionLossKinds).map((kind): LossCase => ({
    kernel: 'regression_loss',
    variable: 'prediction',
    values: sample(6, 3),
    others: { target: sample(6, 4) },
    params: { batch: 3, targets: 2, kind, delta: 0.7 },
  })),
];

for (const { kernel, variable, values, others, params } of losses) {
  test(`${kernel} ${JSON.stringify(params)}: the gradient is that of the loss`, () => {
    const run = (x: Float64Array, gradient: Float64Array | null): number =>
      runLoss(kernel, { weights: null, ...others, [variable]: x }, params, gradient);
    const gradient = new Float64Array(values.length);
    run(values, gradient);
    const numeric = numericGradient((x) => run(x, null), values);
    assertClose(gradient, numeric, 1e-8, 'gradient');
  });
}

test('activation_grad is the derivative of activation', () => {
  const anywhere = sample(16, 5);
  for (const activation of Object.values(activationCodes)) {
    // Differences of the logarithm say nothing close to 0.
    const x = activation === activationCodes.log ? anywhere.map((value) => 0.5 + Math.abs(value)) : anywhere;
    const params = { count: 16, activation, slope: 0.1 };
    const total = (values: Float64Array): number => {
      const y = new Float64Array(16);
      references.activation({ x: values }, { y }, params, 0);
      return y.reduce((sum, value) => sum + value, 0);
    };
    const dx = new Float64Array(16);
    references.activation_grad({ dy: new Float64Array(16).fill(1), saved: x }, { dx }, { ...params, fromOutput: 0 }, 0);
    assertClose(dx, numericGradient(total, x), 1e-8, `activation ${activation}, dx`);
  }
});

test('matmul with `gradient` multiplies by the derivative of the activation, taken from its output', () => {
  const shape = { m: 2, n: 3, k: 4, transposeA: 0, transposeB: 1, slope: 0.1 };
  const [a, b, saved] = [sample(8, 6), sample(12, 7), sample(6, 8).map(Math.tanh)];
  const product = new Float64Array(6);
  references.matmul({ a, b, bias: null, saved: null }, { c: product }, { ...shape, activation: 0, gradient: 0 }, 0);
  const c = new Float64Array(6);
  references.matmul({ a, b, bias: null, saved }, { c }, { ...shape, activation: activationCodes.tanh, gradient: 1 }, 0);
  const wanted = Array.from(product, (value, i) => value * (1 - saved[i] ** 2));
  assertClose(c, wanted, 1e-12, 'c');
});

test('dropout keeps the share it should, scales what it keeps, and depends on the step alone', () => {
  const count = 20000;
  const x = new Float64Array(count).fill(1);
  const run = (step: number): Float64Array => {
    const y = new Float64Array(count);
    const params = { count, rate: 0.25, seed: 11, stream: 2, steps: 2 };
    references.dropout({ x, counters: Float64Array.of(100, 101) }, { y }, params, step);
    return y;
  };
  const kept = run(0).filter((value) => value !== 0);
  assert.ok(Math.abs(kept.length / count - 0.75) < 0.01, `kept ${kept.length} of ${count}`);
  assert.equal(kept[0], 1 / 0.75);
  assert.deepEqual(run(0), run(0));
  assert.notDeepEqual(run(0), run(1));
});
