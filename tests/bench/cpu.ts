// Compares the CPU backend's variants on the benchmark workloads: WASM and native kernels, one thread and more. They take
// turns, round after round, so that a noisy machine disturbs all of them alike.
// node tests/bench/cpu.ts [--only mlp,gemm-1024] [--threads 1,2] [--rounds 20]      One JSON object a line.

import { parseArgs } from 'node:util';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative } from '../../engine/backends/cpu/native.ts';
import type { OpenWorkload, Workload } from '../../engine/bench/workload.ts';
import { workloads } from '../../engine/bench/workloads.ts';

interface Variant {
  readonly name: string;
  readonly workload: OpenWorkload;
  readonly close: () => Promise<void>;
  /** Milliseconds of one unit of work, round by round. */
  readonly times: number[];
}

/** Units of work that a round times together, so that a round is long against the clock's resolution. */
const roundMilliseconds = 20;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: workloads.map(({ name }) => name).join(',') },
    threads: { type: 'string', default: '1,2' },
    rounds: { type: 'string', default: '20' },
  },
});
const names = values.only.split(',');
const addon = findNative();
const kinds = addon === undefined ? ([false] as const) : ([false, addon] as const);

for (const workload of workloads.filter(({ name }) => names.includes(name))) await compare(workload);

async function compare(workload: Workload): Promise<void> {
  const variants: Variant[] = [];
  for (const native of kinds) {
    for (const threads of values.threads.split(',').map(Number)) {
      const backend = createCpuBackend({ threads, native });
      const opened = await workload.open(backend);
      const name = `${native ? 'native' : 'wasm'}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
      variants.push({ name, workload: opened, close: () => backend.close(), times: [] });
    }
  }
  const warm = await Promise.all(variants.map(({ workload: opened }) => time(opened, 3)));
  const units = Math.max(1, Math.round(roundMilliseconds / Math.max(...warm)));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const variant of variants) variant.times.push(await time(variant.workload, units));
  }
  for (const { name, times, close } of variants) {
    times.sort((a, b) => a - b);
    const [best, median] = [times[0], times[times.length >> 1]];
    const gflops = (ms: number): number => Math.round(workload.flops / ms / 1e5) / 10;
    console.log(
      JSON.stringify({
        workload: workload.name,
        variant: name,
        unit: workload.unit,
        best: Number(best.toPrecision(4)),
        median: Number(median.toPrecision(4)),
        gflops: gflops(best),
        median_gflops: gflops(median),
      }),
    );
    await close();
  }
}

/** Mean milliseconds of `units` units. */
async function time(opened: OpenWorkload, units: number): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < units; i++) await opened.run();
  return (performance.now() - start) / units;
}
