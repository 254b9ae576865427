// Several devices on one model: what summing gradients costs, what the part that does not divide costs, how large a batch pays.

/**
 * Seconds of a ring all-reduce of `bytes` over `devices`: 2(n-1)/n · S/B + 2(n-1) · latency.
 * Source: NVIDIA/nccl-tests, doc/PERFORMANCE.md. `bandwidth` is the bus bandwidth in bytes/s.
 */
export function ringAllReduce(bytes: number, devices: number, bandwidth: number, latency = 0): number {
  if (devices <= 1) return 0;
  return ((2 * (devices - 1)) / devices) * (bytes / bandwidth) + 2 * (devices - 1) * latency;
}

/** Seconds of an all-gather or reduce-scatter: half of that. */
export function ringGather(bytes: number, devices: number, bandwidth: number, latency = 0): number {
  return ringAllReduce(bytes, devices, bandwidth, latency) / 2;
}

/** Bus bandwidth in bytes/s of a measured all-reduce. */
export const busBandwidth = (bytes: number, devices: number, seconds: number): number =>
  (bytes / seconds) * ((2 * (devices - 1)) / devices);

/** The share of a step that is work when nothing overlaps with summing. */
export const parallelEfficiency = (step: number, communication: number): number => step / (step + communication);

/** Speed-up of `devices` when a share `serial` of the work does not divide (Amdahl, 1967). */
export const amdahl = (serial: number, devices: number): number => 1 / (serial + (1 - serial) / devices);

/** Speed-up when the work grows with the devices (Gustafson, 1988). */
export const gustafson = (serial: number, devices: number): number => serial + devices * (1 - serial);

/** The serial share that a measured speed-up says. */
export const serialShare = (speedup: number, devices: number): number => (devices / speedup - 1) / (devices - 1);

/** Steps to a result at a batch, as a multiple of the least possible: 1 + B_crit/B (arXiv 1812.06162). */
export const stepsFactor = (batch: number, critical: number): number => 1 + critical / batch;

/** Examples to a result at a batch, as a multiple of the least possible: 1 + B/B_crit. */
export const examplesFactor = (batch: number, critical: number): number => 1 + batch / critical;

/** The simple noise scale: trace of the gradients' covariance over the squared norm of their mean. A guess at B_crit. */
export const noiseScale = (covarianceTrace: number, gradientNorm: number): number =>
  covarianceTrace / gradientNorm ** 2;

/** Critical batch of a language model in tokens at a loss in nats: 2e8 / loss^(1/0.21) (arXiv 2001.08361). */
export const languageCriticalBatch = (loss: number): number => 2e8 / loss ** (1 / 0.21);

export interface DataParallelStep {
  /** Seconds of a step of the whole batch on one device. */
  readonly compute: number;
  /** Share of `compute` that does not divide: launches, the optimizer, small layers. */
  readonly serial?: number;
  readonly gradientBytes: number;
  /** Bus bandwidth between the devices in bytes/s. */
  readonly bandwidth: number;
  readonly latency?: number;
  /** Examples a step and examples/s that the input can deliver to all devices together; left out where it never waits. */
  readonly batch?: number;
  readonly inputRate?: number;
}

export interface DataParallelPoint {
  readonly devices: number;
  readonly compute: number;
  readonly summing: number;
  /** Seconds waited for examples. */
  readonly input: number;
  readonly step: number;
  readonly speedup: number;
  /** Speed-up a device. */
  readonly efficiency: number;
}

/** One step of a fixed batch over 1 … `most` devices, nothing overlapping. */
export function dataParallel(step: DataParallelStep, most: number): DataParallelPoint[] {
  const { compute, serial = 0, gradientBytes, bandwidth, latency, batch = 0, inputRate = Infinity } = step;
  const one = stepSeconds(compute, 0, batch / inputRate);
  return Array.from({ length: most }, (_, i) => {
    const devices = i + 1;
    const shared = compute / amdahl(serial, devices);
    const summing = ringAllReduce(gradientBytes, devices, bandwidth, latency);
    const seconds = stepSeconds(shared, summing, batch / inputRate);
    const speedup = one / seconds;
    return {
      devices,
      compute: shared,
      summing,
      input: Math.max(0, batch / inputRate - shared - summing),
      step: seconds,
      speedup,
      efficiency: speedup / devices,
    };
  });
}

/** Examples are read while a step computes: only what takes longer is waited for. */
const stepSeconds = (compute: number, summing: number, input: number): number => Math.max(compute + summing, input);

/** The largest number of devices whose efficiency, and that of all fewer, is at least `least`. */
export function devicesWorthwhile(points: readonly DataParallelPoint[], least = 0.7): number {
  const end = points.findIndex(({ efficiency }) => efficiency < least);
  return end < 0 ? points.length : Math.max(1, end);
}
