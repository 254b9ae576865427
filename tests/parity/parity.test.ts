// The parity harness itself: it must accept a device that is right, and catch each way of being wrong.

import assert from 'node:assert/strict';
import test from 'node:test';
import { activationCodes } from '../../kernels/activations.ts';
import { kernels } from '../../kernels/registry.ts';
import {
  checkKernel,
  compare,
  type GuardedOperand,
  guardWords,
  type KernelDevice,
  prepareCase,
  sentinel,
  inputSentinel,
} from './parity.ts';

const parityCase = kernels.add.cases[1];
const count = parityCase.params.count;

/** A device that has the reference's results in float32, before `spoil` gets at the words of the first output. */
function deviceWith(spoil: (words: Uint32Array, values: Float32Array) => void): KernelDevice {
  return {
    name: 'a faulty device',
    async runKernel(kernel, each): Promise<readonly GuardedOperand[]> {
      const { wanted } = prepareCase(kernel, each);
      const words = new Uint32Array(wanted[0]!.length + 2 * guardWords).fill(sentinel);
      const values = new Float32Array(words.buffer, 4 * guardWords, wanted[0]!.length);
      values.set(wanted[0]!);
      spoil(words, values);
      return [words];
    },
  };
}

const run = (spoil: (words: Uint32Array, values: Float32Array) => void): Promise<unknown> =>
  checkKernel('add', parityCase, deviceWith(spoil));

test('a device with the right results passes', async () => {
  await run(() => {});
});

test('a result beyond the tolerance fails, with kernel, device, case, element, what came and what was wanted', async () => {
  const wrong = run((_, values) => (values[7] += 0.001));
  await assert.rejects(
    wrong,
    /^Error: add on a faulty device, case \{"params":\{"count":13\}\}: c\[7\]: got .*, wanted .*, allowed /,
  );
});

test('not a number fails', async () => {
  await assert.rejects(
    run((_, values) => (values[3] = NaN)),
    /c\[3\]: got NaN/,
  );
});

test('an element left out fails', async () => {
  await assert.rejects(
    run((words) => (words[guardWords + count - 1] = sentinel)),
    /c\[12\] was not written/,
  );
});

test('a write past either end fails', async () => {
  await assert.rejects(
    run((words) => (words[guardWords + count] = 0)),
    /c was written outside, 0 after the end/,
  );
  await assert.rejects(
    run((words) => (words[guardWords - 1] = 0)),
    /c was written outside, 1 before the start/,
  );
});

test('operands are the same every time, different from case to case, and stand between guards', () => {
  const [first, again] = [0, 1].map(() => prepareCase(kernels.adam, kernels.adam.cases[2]));
  assert.deepEqual(first, again);
  const gradient = first.inputs[0]!;
  assert.notDeepEqual(
    gradient.subarray(0, 80),
    prepareCase(kernels.adam, kernels.adam.cases[3]).inputs[0]!.subarray(0, 80),
  );
  assert.ok(gradient.subarray(0, guardWords).every((word) => word === inputSentinel));
  assert.ok(gradient.subarray(-guardWords).every((word) => word === inputSentinel));
});

test('in-place outputs start from their old values, others from the sentinel', () => {
  const { outputs } = prepareCase(kernels.batch_norm, kernels.batch_norm.cases[1]);
  const [y, , , runningMean] = outputs;
  assert.equal(y![guardWords], sentinel);
  assert.notEqual(runningMean![guardWords], sentinel);
});

test('a kernel that goes beyond its operands is noticed: what it makes of the guards of inputs is no guard of an output', async () => {
  await assert.rejects(
    checkKernel('add', parityCase, {
      name: 'a device that adds one number too many',
      async runKernel(kernel, each, inputs): Promise<readonly GuardedOperand[]> {
        const { wanted } = prepareCase(kernel, each);
        const words = new Uint32Array(count + 2 * guardWords).fill(sentinel);
        const values = new Float32Array(words.buffer, 4 * guardWords, count + 1);
        values.set(wanted[0]!);
        // NaN + NaN is the first one, bit by bit.
        words[guardWords + count] = inputs[0]![guardWords + count];
        return [words];
      },
    }),
    /written outside, 0 after the end/,
  );
});

test('sums that cancel are held against their products: one accumulator is right, operands of eleven bits and a product left out are not', () => {
  const params = {
    transposeA: 0,
    transposeB: 1,
    activation: activationCodes.relu,
    slope: 0,
    gradient: 1,
    m: 2,
    n: 1,
    k: 379,
  };
  const prepared = prepareCase(kernels.matmul, { params, absent: ['bias'] }, true);
  const values = (index: number): Float32Array =>
    new Float32Array(prepared.inputs[index]!.buffer, 4 * guardWords, prepared.inputs[index]!.length - 2 * guardWords);
  const [a, b] = [values(0), values(1)];
  const result = (add: (sum: number, x: number, y: number, at: number) => number): void => {
    const words = new Uint32Array(2 + 2 * guardWords).fill(sentinel);
    const c = new Float32Array(words.buffer, 4 * guardWords, 2);
    // The second is where the derivative of ReLU is 0.
    c.set([a.subarray(0, 379).reduce((all, x, at) => add(all, x, b[at], at), 0), 0]);
    compare(prepared, [words], 'this test');
  };
  result((sum, x, y) => Math.fround(sum + x * y));
  assert.ok(Math.abs(prepared.wanted[0]![0]) < 0.1 * prepared.scales[0], 'they cancel');
  const elevenBits = (value: number): number => Math.fround(value * 8193) - Math.fround(value * 8193 - value);
  assert.throws(() => result((sum, x, y) => sum + elevenBits(x) * elevenBits(y)), /differ by/);
  assert.throws(() => result((sum, x, y, at) => (at === 378 ? sum : sum + x * y)), /differ by/);
});
