// Trainings in 16 bits beside those in float32.

import assert from 'node:assert/strict';
import type { Backend } from '../../engine/backends/backend.ts';

/** With a loss scaled by less at first: no step overflows, and each stands beside that of float32. */
export const gentle = (backend: Backend): Backend => ({
  ...backend,
  compile: async (plan) => {
    const executable = await backend.compile(plan);
    const write = executable.write.bind(executable);
    executable.write = (name, values, offset) =>
      write(name, name === 'loss.scale' ? Float32Array.of(1024) : values, offset);
    return executable;
  },
});

/** The largest relative difference of two courses of at least `least` steps. */
export const furthest = (a: readonly number[], b: readonly number[], least: number): number => {
  assert.ok(a.length === b.length && a.length >= least);
  return Math.max(...a.map((value, i) => Math.abs(value - b[i]) / Math.abs(b[i])));
};
