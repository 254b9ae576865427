// How long a kernel takes at least: it computes, or waits for memory, whichever takes longer, and has to be started
// (Williams, Waterman, Patterson: Roofline, 2009). Rates in FLOP/s, bandwidths in bytes/s, times in seconds.

export interface Roof {
  /** Peak rate, FLOP/s. */
  readonly rate: number;
  /** Bytes/s. */
  readonly bandwidth: number;
}

/** FLOP a byte at which memory and arithmetic hold a kernel back alike. */
export const ridge = ({ rate, bandwidth }: Roof): number => rate / bandwidth;

export interface Work {
  readonly flops: number;
  readonly bytes: number;
}

/** FLOP a byte. */
export const intensity = ({ flops, bytes }: Work): number => flops / bytes;

/** Shares of the peaks that kernels reach. */
export interface Efficiency {
  readonly compute: number;
  readonly bandwidth: number;
}

export const peak: Efficiency = { compute: 1, bandwidth: 1 };

export interface RooflineTime {
  readonly compute: number;
  readonly memory: number;
  readonly launch: number;
  /** The larger of the first two, and the launch. */
  readonly seconds: number;
  readonly heldBackBy: 'arithmetic' | 'memory' | 'launches';
}

/** Seconds of `work` in `launches` kernels under a roof. */
export function rooflineTime(
  { flops, bytes }: Work,
  { rate, bandwidth }: Roof,
  {
    efficiency = peak,
    launches = 0,
    launchSeconds = 0,
  }: { efficiency?: Efficiency; launches?: number; launchSeconds?: number } = {},
): RooflineTime {
  const compute = flops / (rate * efficiency.compute);
  const memory = bytes / (bandwidth * efficiency.bandwidth);
  const launch = launches * launchSeconds;
  const work = Math.max(compute, memory);
  const heldBackBy = launch > work ? 'launches' : memory > compute ? 'memory' : 'arithmetic';
  return { compute, memory, launch, seconds: work + launch, heldBackBy };
}

/** The rate a kernel of this intensity can reach under a roof, FLOP/s. */
export const attainable = (flopsPerByte: number, { rate, bandwidth }: Roof): number =>
  Math.min(rate, flopsPerByte * bandwidth);

/** FLOP and least bytes of a product of [rows, inner] by [inner, columns]: each matrix is read or written once. */
export function productWork(rows: number, inner: number, columns: number, bytesPerValue = 4): Work {
  const values = rows * inner + inner * columns + rows * columns;
  return { flops: 2 * rows * inner * columns, bytes: values * bytesPerValue };
}

/** Peak float32 rate of a CPU, FLOP/s: 32 FLOP a cycle and core with AVX2 and FMA, 64 with two 512-bit pipes. */
export const cpuPeak = (cores: number, hertz: number, flopsPerCycle: number): number => cores * hertz * flopsPerCycle;

/** Seconds to start a kernel, before anything is measured: CUDA from memory, WebGPU from published measurements. */
export const launchSeconds = {
  cuda: 5e-6,
  webgpuVulkan: { low: 24e-6, high: 36e-6 },
  webgpuMetal: { low: 32e-6, high: 71e-6 },
} as const;

export interface Band {
  readonly low: number;
  readonly high: number;
}

/** Shares of the peak that training reaches, before anything is measured. */
export const startingEfficiency = {
  largeProduct: { low: 0.5, high: 0.85 },
  convolutionFloat32: { low: 0.5, high: 0.6 },
  convolutionMixed: { low: 0.15, high: 0.25 },
  transformer: { low: 0.3, high: 0.5 },
  cpuProduct: { low: 0.5, high: 0.8 },
  /** Of the bandwidth. */
  elementwise: { low: 0.7, high: 0.9 },
} as const satisfies Readonly<Record<string, Band>>;
