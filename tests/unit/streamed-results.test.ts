// Results of 32 MB and more are written past the caches by the native addon (engine/backends/cpu/native/vectors.h): one call has the bits
// of two calls over halves, which are not.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import type { Call, Slot } from '../../engine/plan/plan.ts';
import { activationCodes } from '../../kernels/activations.ts';

const planes = 168;
const side = 224;
const large = planes * side * side;
const pooled = large / 4;
const pooling = { height: side, width: side, windowHeight: 3, windowWidth: 3, stride: 2, padding: 1 };
const sizes = { x: large, dy: large, whole: large, halves: large };
const names = Object.keys(sizes) as (keyof typeof sizes)[];
const at = (name: keyof typeof sizes, offset = 0) => ({ slot: names.indexOf(name), offset });

/** The call over all elements to `whole`, and over the first and the second half to `halves`. */
function calls(
  kernel: 'max_pool_grad' | 'activation_grad',
  given: number,
  share: (part: number) => Call['params'],
): Call[] {
  const of = (to: keyof typeof sizes, part: number, first: number): Call => ({
    kernel,
    inputs: [at('dy', first * given), at('x', first * large)],
    outputs: [at(to, first * large)],
    params: share(part),
  });
  return [of('whole', 1, 0), of('halves', 0.5, 0), of('halves', 0.5, 0.5)];
}

test('a result that is written past the caches has the bits of one that is not', async () => {
  const { relu: activation } = activationCodes;
  const made = {
    max_pool_grad: calls('max_pool_grad', pooled, (part) => ({ planes: planes * part, ...pooling })),
    activation_grad: calls('activation_grad', large, (part) => ({
      count: large * part,
      activation,
      slope: 0,
      fromOutput: 0,
    })),
  };
  const backend = createCpuBackend({ threads: 2 });
  const executable = await backend.compile({
    slots: names.map((label, id): Slot => ({ id, elements: sizes[label], type: 'f32', kind: 'persistent', label })),
    tensors: Object.fromEntries(
      names.map((name, slot) => [name, { slot, offset: 0, shape: [sizes[name]], type: 'f32' as const }]),
    ),
    programs: Object.fromEntries(
      Object.entries(made).map(([name, list]) => [name, { name, batch: 1, calls: list, flops: 0, bytes: 0 }]),
    ),
    stepCapacity: 1,
    checkpoint: [],
  });
  const values = new Float32Array(large);
  for (let i = 0; i < large; i++) values[i] = (Math.imul(i, 2654435761) >> 24) / 16;
  executable.write('x', values);
  executable.write('dy', values.reverse());
  const bytes = async (name: string) => Buffer.from(((await executable.read(name)) as Float32Array).buffer);
  for (const program of Object.keys(made)) {
    await executable.run(program, 1);
    const [whole, halves] = [await bytes('whole'), await bytes('halves')];
    assert.ok(whole.some((byte) => byte !== 0));
    assert.ok(whole.equals(halves), program);
  }
  await backend.close();
});
