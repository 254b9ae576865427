// Times N×N×N float32 products on the CPU backend: WASM and native, in turns.
// node tests/bench/gemm.ts [--sizes 64,256,1024] [--threads 1,2] [--rounds 9]      One JSON object a line.

import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative } from '../../engine/backends/cpu/native.ts';
import type { Plan, TensorPlace } from '../../engine/plan/plan.ts';
import { measure, option, type Variant } from './measure.ts';
import { seeded } from './workloads.ts';

const sizes = option('sizes', '64,128,256,512,1024,2048').split(',').map(Number);
const threads = option('threads', '1,2').split(',').map(Number);
const rounds = Number(option('rounds', '9'));
const kinds = findNative() === undefined ? (['wasm'] as const) : (['wasm', 'native'] as const);

for (const size of sizes) {
  // About 20 ms a run.
  const steps = Math.max(1, Math.min(1000, Math.round(2e9 / (2 * size ** 3))));
  const variants: Variant[] = [];
  const close: (() => Promise<void>)[] = [];
  for (const kind of kinds) {
    for (const count of threads) {
      const backend = createCpuBackend({ threads: count, ...(kind === 'wasm' ? { native: false } : {}) });
      const executable = await backend.compile(productPlan(size));
      const random = seeded(size);
      for (const name of ['a', 'b'])
        executable.write(
          name,
          Float32Array.from({ length: size * size }, () => random() - 0.5),
        );
      variants.push({ name: `${kind}, ${count} threads`, run: () => executable.run('product', steps) });
      close.push(() => backend.close());
    }
  }
  for (const { name, best, median } of await measure(variants, rounds)) {
    const gflops = (ms: number): number => Math.round((2 * size ** 3 * steps) / ms / 1e5) / 10;
    console.log(
      JSON.stringify({
        workload: `gemm-${size}`,
        variant: name,
        best_ms: Number((best / steps).toPrecision(3)),
        best_gflops: gflops(best),
        median_gflops: gflops(median),
      }),
    );
  }
  for (const end of close) await end();
}

/** c = a·b with square matrices. */
function productPlan(size: number): Plan {
  const names = ['a', 'b', 'c'];
  const shape = [size, size];
  const place = (slot: number): TensorPlace => ({ slot, offset: 0, shape, type: 'f32' });
  const call = {
    kernel: 'matmul',
    inputs: [{ slot: 0, offset: 0 }, { slot: 1, offset: 0 }, null, null],
    outputs: [{ slot: 2, offset: 0 }],
    params: { m: size, n: size, k: size, transposeA: 0, transposeB: 0, activation: 0, slope: 0, gradient: 0 },
  };
  return {
    slots: names.map((label, id) => ({ id, elements: size * size, type: 'f32', kind: 'persistent', label })),
    tensors: Object.fromEntries(names.map((name, slot) => [name, place(slot)])),
    programs: { product: { name: 'product', batch: size, calls: [call], flops: 2 * size ** 3, bytes: 12 * size ** 2 } },
    stepCapacity: 1000,
    checkpoint: [],
  };
}
