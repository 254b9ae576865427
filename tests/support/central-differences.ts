// Central differences in float64: the gradient a plan computes against (loss(p + h) − loss(p − h)) / 2h, element by element.

import assert from 'node:assert/strict';
import type { ReferenceExecutable } from '../../engine/backends/reference/backend.ts';

const h = 1e-5;

/** Compares the gradients of these parameters after one step of `program`, which must not change them (learning rate 0). */
export async function assertGradients(
  executable: ReferenceExecutable,
  program: string,
  parameters: readonly string[],
): Promise<void> {
  const lossOf = async (): Promise<number> => {
    await executable.run(program, 1);
    return executable.values('ring.loss')[0];
  };
  await lossOf();
  for (const name of parameters) {
    const values = executable.values(name);
    const analytic = Float64Array.from(executable.values(`gradient:${name}`));
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      values[i] = value + h;
      const above = await lossOf();
      values[i] = value - h;
      const below = await lossOf();
      values[i] = value;
      const numeric = (above - below) / (2 * h);
      assert.ok(
        Math.abs(numeric - analytic[i]) <= 1e-6 + 1e-5 * Math.abs(numeric),
        `${name}[${i}]: analytic ${analytic[i]}, central difference ${numeric}`,
      );
    }
    await lossOf();
  }
}
