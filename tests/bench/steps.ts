// Times whole training steps of the benchmark workloads on the CPU backend: WASM and native, one thread and more.
// node tests/bench/steps.ts [--only NAME] [--threads 1,2] [--rounds 20]      One JSON object a line.

import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative } from '../../engine/backends/cpu/native.ts';
import { measure, option, type Variant } from './measure.ts';
import { openWorkload, workloads } from './workloads.ts';

const only = option('only', '');
const threads = option('threads', '1,2').split(',').map(Number);
const rounds = Number(option('rounds', '20'));
const kinds = findNative() === undefined ? (['wasm'] as const) : (['wasm', 'native'] as const);

for (const workload of workloads) {
  if (only && workload.name !== only) continue;
  const variants: Variant[] = [];
  const close: (() => Promise<void>)[] = [];
  for (const kind of kinds) {
    for (const count of threads) {
      const backend = createCpuBackend({ threads: count, ...(kind === 'wasm' ? { native: false } : {}) });
      const executable = await openWorkload(workload, backend);
      variants.push({ name: `${kind}, ${count} threads`, run: () => executable.run(workload.program, workload.steps) });
      close.push(() => backend.close());
    }
  }
  for (const { name, best, median } of await measure(variants, rounds)) {
    const { flops } = workload.plan.programs[workload.program];
    console.log(
      JSON.stringify({
        workload: workload.name,
        variant: name,
        best_us_per_step: round((best * 1e3) / workload.steps),
        median_us_per_step: round((median * 1e3) / workload.steps),
        gflops: round((flops * workload.steps) / best / 1e6),
      }),
    );
  }
  for (const end of close) await end();
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
