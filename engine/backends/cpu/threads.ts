// How many threads pay. A barrier between two calls costs a few microseconds, so small steps are fastest on one thread.

import type { Plan } from '../../plan/plan.ts';

/** Work of an average call from which a second thread pays for its barrier (measured, see docs/cpu-backend.md). */
const flopsPerCall = 2_000_000;

/** Threads for a plan: one unless the average call of its largest program is worth splitting; then up to `most`. */
export function chooseThreads(plan: Plan, most: number): number {
  const work = Object.values(plan.programs).map((program) => program.flops / Math.max(1, program.calls.length));
  const largest = Math.max(0, ...work);
  return Math.max(1, Math.min(most, Math.floor(largest / flopsPerCall) + 1));
}
