// How long a training step takes on a device: every call computes or waits for memory, whichever takes longer, and has to be
// started (formulas/roofline.ts). Devices of the catalogue reach stated shares of their peaks; a device the lab has measured has
// its own rates at the size of every call, and factors fitted to its training steps (calibration.ts).

import type { CallCost, ModelCosts, WorkKind } from './costs/costs.ts';

export type Precision = 'float32' | 'tf32' | 'mixed16';

/** What a call takes on a device, seconds, its start left out. */
export type CallTime = (call: CallCost) => number;

/** A device a step can be forecast on. */
export interface TimedDevice {
  readonly seconds: CallTime;
  /** To start one call. */
  readonly launchSeconds: number;
  /** The forecast may be wrong by this factor either way. */
  readonly doubt: number;
}

export interface StepTime {
  readonly seconds: number;
  readonly low: number;
  readonly high: number;
  /** Seconds by kind of work; `launch`: starting the calls. */
  readonly by: Readonly<Partial<Record<WorkKind | 'launch', number>>>;
}

/** Forecasts one training step. */
export function stepTime({ calls }: Pick<ModelCosts, 'calls'>, device: TimedDevice): StepTime {
  const by: Partial<Record<WorkKind | 'launch', number>> = { launch: calls.length * device.launchSeconds };
  for (const call of calls) by[call.kind] = (by[call.kind] ?? 0) + device.seconds(call);
  const seconds = Object.values(by).reduce((sum, part) => sum + part, 0);
  return { seconds, low: seconds / device.doubt, high: seconds * device.doubt, by };
}

/** Units that multiply: what a peak is of decides the share of it that training reaches. */
export type Units = 'vector' | 'tensor' | 'cpu';

interface Shares {
  /** Of the peak rate. */
  readonly compute: number;
  /** Of the bandwidth, each operand counted once: a norm reads its input more often than that. */
  readonly bandwidth: number;
}

/**
 * Shares of the peaks that kernels of a kind reach in training, chosen once for all published results of known-answers.ts together,
 * none of them alone: docs/hardware.md has what that gives. Products of a CPU and all memory: section C5 of the sources there.
 */
export const efficiencies: Readonly<Record<Units, Readonly<Record<WorkKind, Shares>>>> = {
  vector: shares({ product: 0.7, convolution: 0.7, normalisation: 0.6, elementwise: 0.8 }),
  tensor: shares({ product: 0.5, convolution: 0.33, normalisation: 0.6, elementwise: 0.8 }),
  cpu: shares({ product: 0.6, convolution: 0.45, normalisation: 0.5, elementwise: 0.6 }),
};

function shares(of: Pick<Record<WorkKind, number>, 'product' | 'convolution' | 'normalisation' | 'elementwise'>) {
  return {
    product: { compute: of.product, bandwidth: of.elementwise },
    convolution: { compute: of.convolution, bandwidth: of.elementwise },
    // One multiplication a number that is loaded: neither peak is near.
    depthwise: { compute: of.convolution / 4, bandwidth: of.elementwise / 2 },
    normalisation: { compute: 0.25, bandwidth: of.normalisation },
    pooling: { compute: 0.25, bandwidth: of.elementwise },
    elementwise: { compute: 0.25, bandwidth: of.elementwise },
    update: { compute: 0.25, bandwidth: of.elementwise },
  } as const;
}

/** Peaks of a device as its data sheet has them. */
export interface Peaks {
  readonly kind: 'gpu' | 'cpu';
  /** FLOP/s. */
  readonly float32: number;
  readonly tf32?: number;
  readonly mixed16?: number;
  /** Bytes/s. */
  readonly bandwidth: number;
  /** Seconds to start a kernel; by default what is usual for its kind. */
  readonly launchSeconds?: number;
}

/** Starting a kernel: CUDA by its published cost, a CPU's threads by a barrier. */
export const usualLaunch = { gpu: 5e-6, cpu: 2e-6 } as const;
/** What is stated about published results decides within 1.3 (docs/hardware.md). */
const usualDoubt = 1.3;

/** A device by its data sheet, at a precision: where it has no units for that, it computes in float32. */
export function deviceByPeaks(peaks: Peaks, precision: Precision): TimedDevice {
  const { kind, float32, tf32, mixed16, bandwidth } = peaks;
  const wanted = precision === 'mixed16' ? mixed16 : precision === 'tf32' ? tf32 : undefined;
  const units: Units = kind === 'cpu' ? 'cpu' : wanted === undefined ? 'vector' : 'tensor';
  const rate = wanted ?? float32;
  const half = precision === 'mixed16' && mixed16 !== undefined;
  return {
    seconds: ({ kind: work, flops, bytes, stored = bytes }) => {
      const share = efficiencies[units][work];
      // Sums and norms compute in float32; the optimizer's states stay in it.
      const peak = work === 'product' || work === 'convolution' ? rate : float32;
      const moved = half && work !== 'update' ? bytes / 2 : kind === 'gpu' ? stored : bytes;
      return Math.max(flops / (share.compute * peak), moved / (share.bandwidth * bandwidth));
    },
    launchSeconds: peaks.launchSeconds ?? usualLaunch[kind],
    doubt: usualDoubt,
  };
}

/** Steps of an epoch of `rows` rows. */
export const stepsOf = (rows: number, batch: number): number => Math.ceil(rows / batch);

/** The forecast that a range is around: wrong by the same factor either way. */
export const middleOf = ([low, high]: readonly [low: number, high: number]): number => Math.sqrt(low * high);

/** Seconds of an epoch, as a range. */
export function epochSeconds(step: StepTime, rows: number, batch: number): readonly [low: number, high: number] {
  const steps = rows / batch;
  return [step.low * steps, step.high * steps];
}
