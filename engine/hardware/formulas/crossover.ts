// Where a GPU overtakes a CPU: it costs more to ask and computes faster once asked.

/** What a device takes for work: `overhead` seconds a step and `rate` FLOP/s. */
export interface LinearCost {
  readonly overhead: number;
  readonly rate: number;
}

/** Seconds of `flops` by that. */
export const linearTime = ({ overhead, rate }: LinearCost, flops: number): number => overhead + flops / rate;

/**
 * FLOP a step above which `fast` wins over `near`: (o_fast - o_near) / (1/R_near - 1/R_fast). 0 where it always wins,
 * Infinity where it never does.
 */
export function crossoverFlops(near: LinearCost, fast: LinearCost): number {
  const saved = 1 / near.rate - 1 / fast.rate;
  const asked = fast.overhead - near.overhead;
  if (saved <= 0) return asked < 0 ? 0 : Infinity;
  return Math.max(0, asked / saved);
}

/** The least batch at which that many FLOP are done, of a model that takes `flopsPerExample` in training. */
export const crossoverBatch = (flops: number, flopsPerExample: number): number => Math.ceil(flops / flopsPerExample);

/** Overhead and rate from two timed sizes. `null` where the larger took no longer: time more, or larger sizes. */
export function fitLinearCost(
  small: { readonly flops: number; readonly seconds: number },
  large: { readonly flops: number; readonly seconds: number },
): LinearCost | null {
  const seconds = large.seconds - small.seconds;
  const flops = large.flops - small.flops;
  if (seconds <= 0 || flops <= 0) return null;
  const rate = flops / seconds;
  return { overhead: Math.max(0, small.seconds - small.flops / rate), rate };
}
