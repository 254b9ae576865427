// How many threads pay. After every call all threads wait for each other, which costs about as long as 50,000 multiply-adds
// take; so the small steps of small models are fastest on one thread.

import type { Plan } from '../../plan/plan.ts';

/** Floating-point operations of an average call that are worth a thread of their own (measured, see docs/cpu-backend.md). */
const flopsPerThread = 180_000;

/** Threads for a plan, 1 to `most`, by the average call of its largest training program (of any program if it has none). */
export function chooseThreads(plan: Plan, most: number): number {
  const all = Object.values(plan.programs);
  const training = all.filter(({ name }) => name.startsWith('train@'));
  const work = (training.length > 0 ? training : all).map(({ flops, calls }) => flops / Math.max(1, calls.length));
  return Math.max(1, Math.min(most, Math.floor(Math.max(0, ...work) / flopsPerThread)));
}
