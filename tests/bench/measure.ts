// Interleaved timing: the variants take turns, round after round, so that a noisy machine disturbs all of them alike.

export interface Variant {
  readonly name: string;
  run(): Promise<void>;
}

export interface Timing {
  readonly name: string;
  /** Milliseconds a run. */
  readonly best: number;
  readonly median: number;
}

/** Warms every variant up, then times `rounds` rounds of one run each. */
export async function measure(variants: readonly Variant[], rounds: number): Promise<readonly Timing[]> {
  const times = variants.map(() => [] as number[]);
  for (const variant of variants) for (let i = 0; i < 3; i++) await variant.run();
  for (let round = 0; round < rounds; round++) {
    for (const [i, variant] of variants.entries()) {
      const start = performance.now();
      await variant.run();
      times[i].push(performance.now() - start);
    }
  }
  return variants.map(({ name }, i) => {
    const sorted = times[i].sort((a, b) => a - b);
    return { name, best: sorted[0], median: sorted[sorted.length >> 1] };
  });
}

/** `--name value` on the command line. */
export function option(name: string, fallback: string): string {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
}
