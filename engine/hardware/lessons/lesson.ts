// Pages that let one thing be tried: a control, what it comes to, a chart. A lesson computes from what a lab measured here, else from
// usual figures, and says which.

import type { LabDevice, LabResult } from '../../protocol/lab.ts';
import { isComplete, valueAt } from '../calibration.ts';
import { cpuOf, gpuOf, latency } from '../claims/evidence.ts';

export interface LessonCurve {
  readonly id: string;
  readonly label: string;
  readonly device: 'cpu' | 'gpu' | 'other';
  /** Not measured, or not reached: dashed. */
  readonly ideal?: boolean;
  readonly x: readonly number[];
  readonly y: readonly number[];
}

export interface LessonAnswer {
  /** What the value of the control comes to. */
  readonly text: string;
  /** The place of it in the chart. */
  readonly mark?: { readonly x: number; readonly y: number; readonly label: string };
  readonly curves: readonly LessonCurve[];
}

export interface LessonView {
  /** Measured here, or with usual figures. */
  readonly basis: string;
  readonly control: {
    readonly label: string;
    readonly minimum: number;
    readonly maximum: number;
    readonly step: number;
    readonly initial: number;
    readonly unit: string;
  };
  readonly xTitle: string;
  readonly yTitle: string;
  readonly logarithmic: boolean;
  readonly at: (value: number) => LessonAnswer;
  /** Why it is so, with numbers. */
  readonly why: string;
  /** Rows of the product that each of so many threads takes; of the lesson about it alone. */
  readonly split?: number;
}

export interface Lesson {
  readonly id: string;
  readonly title: string;
  /** What it is about, a sentence. */
  readonly about: string;
  readonly next: readonly string[];
  readonly view: (lab: LabResult | null) => LessonView;
}

/** A device as lessons reckon with it: FLOP/s at the edge of a product, bytes/s, seconds to be asked. */
export interface Reckoned {
  readonly name: string;
  readonly kind: 'cpu' | 'gpu';
  readonly measured: boolean;
  readonly rate: (edge: number) => number;
  readonly bandwidth: number;
  readonly call: number;
  readonly threads: number;
}

const measuredDevice = (device: LabDevice): Reckoned => ({
  name: device.name,
  kind: device.kind,
  measured: true,
  rate: (edge) => 1e9 * valueAt(device.products, edge),
  bandwidth: 1e9 * device.copy.at(-1)!.value.median,
  call: (latency(device, device.kind === 'gpu' ? 'submit' : 'call') ?? 2) / 1e6,
  threads: device.threads,
});

/** Rates climb with the size of a product until the units are full. */
const rising =
  (peak: number, half: number) =>
  (edge: number): number =>
    (peak * edge) / (edge + half);

const usualCpu: Reckoned = {
  name: 'a usual CPU of 8 cores',
  kind: 'cpu',
  measured: false,
  rate: rising(400e9, 60),
  bandwidth: 40e9,
  call: 2e-6,
  threads: 8,
};
const usualGpu: Reckoned = {
  name: 'an RTX 4090',
  kind: 'gpu',
  measured: false,
  rate: rising(58e12, 900),
  bandwidth: 1008e9,
  call: 30e-6,
  threads: 1,
};

/** The CPU and a GPU: those measured, else usual ones. */
export function reckoned(lab: LabResult | null): {
  readonly cpu: Reckoned;
  readonly gpu: Reckoned;
  readonly basis: string;
} {
  const [near, far] = [cpuOf(lab), gpuOf(lab)];
  const cpu = near && isComplete(near) ? measuredDevice(near) : usualCpu;
  const gpu = far && isComplete(far) ? measuredDevice(far) : usualGpu;
  const basis =
    cpu.measured && gpu.measured
      ? 'Measured here.'
      : cpu.measured
        ? `The CPU as measured here; no GPU was, so ${gpu.name} by its data sheet.`
        : `Not measured: ${cpu.name} and ${gpu.name} by their data sheets.`;
  return { cpu, gpu, basis };
}

export const range = (from: number, to: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));
/** Even steps of the logarithm. */
export const powers = (from: number, to: number, count: number): number[] =>
  range(Math.log(from), Math.log(to), count).map((value) => Math.round(Math.exp(value)));
/** Three digits. */
export const short = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
/** `5.3 ms`, `12 µs`. */
export function time(seconds: number): string {
  const [factor, unit] = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e3, 'ms'] : [1e6, 'µs'];
  return `${short(seconds * factor)} ${unit}`;
}
