// What a lab says to a person: figures with their spread, curves of its charts, the crossover, the steps of the caches, the share of
// the work that does not divide over threads, and how two labs differ. Pure: the window shows it, tests hold it against labs.

import { deviceWords } from '../../../../engine/protocol/lab.ts';
import { valueAt } from '../../../../engine/hardware/calibration.ts';
import { amdahl } from '../../../../engine/hardware/formulas/parallel.ts';
import { labParts } from '../../../../engine/protocol/lab.ts';
import type { LabDevice, LabPart, LabResult, LatencyName, Sample, Spread } from '../../../../engine/protocol/lab.ts';
import type { Curve } from '../../../components/chart/curves.ts';
import { dayOfYear, fixed, missing, plural, short } from '../../../lib/format.ts';

const space = '\u00a0';

/** The place of the best of some samples; undefined where there are none. */
const best = (samples: readonly Sample[]): Sample | undefined =>
  samples.reduce<Sample | undefined>(
    (top, one) => (!top || one.value.median > top.value.median ? one : top),
    undefined,
  );
const largest = (samples: readonly Sample[]): Sample | undefined => samples.toSorted((a, b) => a.at - b.at).at(-1);

/** Half the middle 90 %, as a share of the median. */
export const halfSpread = ({ median, low, high }: Spread): number => (high - low) / 2 / median;
/** Medians that differ by less stand for the same. */
const alike = 0.1;

/** `412 GFLOP/s`, of GFLOP/s. */
export function rateText(gflops: number): string {
  if (gflops >= 1000) return `${significant(gflops / 1000)}${space}TFLOP/s`;
  return gflops >= 0.1 ? `${significant(gflops)}${space}GFLOP/s` : `${significant(gflops * 1000)}${space}MFLOP/s`;
}

/** Three significant digits, without powers of ten. */
export function significant(value: number): string {
  const size = Math.abs(value);
  return fixed(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4);
}

/** `256 kB` of 2¹⁸: caches come in powers of two. */
export function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(bytes) / 10 + 1e-9)));
  return `${short(bytes / 1024 ** unit, 3)}${space}${units[unit]}`;
}

export const microText = (microseconds: number): string => `${significant(microseconds)}${space}µs`;
/** `±2.1 %`; `±>100 %` of what was disturbed so much that no more can be said. */
export function spreadText(spread: Spread): string {
  const half = halfSpread(spread);
  return `±${half > 1 ? '>100' : fixed(100 * half, half < 0.1 ? 1 : 0)}${space}%`;
}

/** Colour, dash and mark of a device: hues are this machine's, an adapter in software is grey. */
export function deviceLook({
  id,
  kind,
  software,
}: Pick<LabDevice, 'id' | 'kind' | 'software'>): Pick<Curve, 'token' | 'dash' | 'points'> {
  if (kind === 'gpu') return { token: software ? 'bar2' : 'gpu', dash: [], points: 'disc' };
  const dash = id === 'cpu-1' ? [2, 3] : id === 'cpu-wasm' ? [8, 2, 2, 2] : [6, 3];
  return { token: 'cpu', dash, points: 'square' };
}

/** Its name where there is little room: all threads are the CPU. */
export const shortWords = (device: Parameters<typeof deviceWords>[0]): string =>
  device.kind === 'gpu'
    ? deviceWords(device)
    : device.id === 'cpu-1'
      ? '1 thread'
      : device.id === 'cpu-wasm'
        ? 'WebAssembly'
        : 'CPU';

export interface Figure {
  readonly id: string;
  readonly label: string;
  /** The number, and what stands behind it. */
  readonly value: string;
  readonly unit: string;
  readonly spread: string;
  /** What it stands for, for comparing. */
  readonly median: number;
  /** What it was at, for the mark in the chart. */
  readonly at?: { readonly chart: 'rate' | 'bandwidth'; readonly x: number };
}

const deviceOf = (result: LabResult, id: string): LabDevice | undefined => result.devices.find((one) => one.id === id);
/** The GPU that stands for all: the first of hardware, else the first. */
export const gpuOf = ({ devices }: Pick<LabResult, 'devices'>): LabDevice | undefined =>
  devices.find(({ kind, software }) => kind === 'gpu' && !software) ?? devices.find(({ kind }) => kind === 'gpu');
export const cpuOf = (result: Pick<LabResult, 'devices'>): LabDevice | undefined =>
  result.devices.find(({ id }) => id === 'cpu') ?? result.devices.find(({ kind }) => kind === 'cpu');

/** The six or seven figures of a machine. */
export function figuresOf(result: LabResult): readonly Figure[] {
  const found: Figure[] = [];
  const add = (
    id: string,
    label: string,
    spread: Spread | undefined,
    words: (value: number) => string,
    at?: Figure['at'],
  ): void => {
    if (!spread) return;
    const [value, unit] = words(spread.median).split(space);
    found.push({ id, label, value, unit, spread: spreadText(spread), median: spread.median, ...(at ? { at } : {}) });
  };
  const memory = (value: number): string => `${significant(value)}${space}GB/s`;
  const [cpu, gpu] = [cpuOf(result), gpuOf(result)];
  const word = gpu?.software ? 'GPU in software' : 'GPU';
  const product = (device: LabDevice | undefined, id: string, label: string): void => {
    const top = device && best(device.products);
    if (top) add(id, label, top.value, rateText, { chart: 'rate', x: top.at });
  };
  product(cpu, 'cpu-product', 'CPU products');
  if (cpu?.id === 'cpu') product(deviceOf(result, 'cpu-1'), 'cpu-1-product', 'CPU, 1 thread');
  product(gpu, 'gpu-product', `${word}, products`);
  const half = gpu && best(gpu.products16 ?? []);
  if (half) add('gpu-16', `${word}, 16-bit`, half.value, rateText);
  for (const [id, label, device] of [
    ['memory', 'Memory', cpu],
    ['gpu-memory', `${word}, memory`, gpu],
  ] as const) {
    const end = device && largest(device.copy);
    if (end) add(id, label, end.value, memory, { chart: 'bandwidth', x: end.at });
  }
  if (gpu?.transfer) {
    add('to-gpu', `To ${word}`, gpu.transfer.toGbPerSecond, memory);
    add('from-gpu', `Back from ${word}`, gpu.transfer.fromGbPerSecond, memory);
  }
  const latency = (device: LabDevice | undefined, name: LatencyName): Spread | undefined =>
    device?.latencies.find((one) => one.name === name)?.microseconds;
  add('call', 'CPU call', latency(cpu, 'call'), microText);
  if (gpu) add('submit', `${word}, submit`, latency(gpu, 'submit'), microText);
  else add('barrier', 'CPU barrier', latency(cpu, 'barrier'), microText);
  return found;
}

/** Product rates in FLOP/s by N, or bandwidths in bytes/s by bytes. */
export function curvesOf(result: LabResult, what: 'products' | 'copy', machine = ''): readonly Curve[] {
  const grey = machine !== '';
  return result.devices.flatMap((device): Curve[] => {
    // Of another machine only what it does at best: thin grey lines do not crowd out its own.
    if (grey && device.id !== 'cpu' && device.kind !== 'gpu') return [];
    const samples = device[what].toSorted((a, b) => a.at - b.at);
    if (samples.length === 0) return [];
    const scaled = (of: (spread: Spread) => number): number[] => samples.map(({ value }) => 1e9 * of(value));
    const label = grey ? `${machine} ${device.kind === 'gpu' ? deviceWords(device) : 'CPU'}` : deviceWords(device);
    const look = deviceLook(device);
    const common = {
      id: `${grey ? 'other-' : ''}${device.id}`,
      label,
      ...(grey ? {} : { short: shortWords(device) }),
      x: samples.map(({ at }) => at),
      y: scaled(({ median }) => median),
    };
    if (grey) return [{ ...common, token: 'bar2', dash: look.dash, width: 1 }];
    return [{ ...common, ...look, spread: { low: scaled(({ low }) => low), high: scaled(({ high }) => high) } }];
  });
}

export interface Crossover {
  readonly n: number;
  /** FLOP/s there. */
  readonly rate: number;
  readonly near: LabDevice;
  readonly far: LabDevice;
}

/** The N from which `far` computes products faster and goes on doing so; null where it never does, or always. */
export function crossing(near: LabDevice, far: LabDevice): Crossover | null {
  const sizes = near.products
    .map(({ at }) => at)
    .filter((at) => far.products.some((one) => one.at === at))
    .sort((a, b) => a - b);
  const lead = sizes.map((n) => Math.log(valueAt(far.products, n) / valueAt(near.products, n)));
  const last = lead.findLastIndex((one) => one < 0);
  if (last < 0 || last === sizes.length - 1) return null;
  const share = -lead[last] / (lead[last + 1] - lead[last]);
  const n = sizes[last] * (sizes[last + 1] / sizes[last]) ** share;
  return { n, rate: 1e9 * valueAt(far.products, n), near, far };
}

/** The crossover of this machine: its GPU against the CPU, and without one all threads against one. */
export function crossoverOfLab(result: LabResult): { readonly found: Crossover | null; readonly words: string } {
  const gpu = gpuOf(result);
  const cpu = cpuOf(result);
  const one = deviceOf(result, 'cpu-1');
  const [near, far] = gpu && cpu ? [cpu, gpu] : [one, cpu];
  if (!near || !far || near === far || near.products.length === 0 || far.products.length === 0)
    return { found: null, words: '' };
  const found = crossing(near, far);
  const [first, second] = [deviceWords(near), deviceWords(far)];
  if (found) return { found, words: `crossover N = ${fixed(found.n)}: ${first} ahead to the left` };
  const end = largest(far.products)!;
  const ahead = end.value.median > valueAt(near.products, end.at);
  return { found, words: ahead ? `${second} ahead at every size` : `${first} ahead at every size measured` };
}

/** A fall of the bandwidth over one doubling by more than this is the edge of a cache. */
const stepFall = 0.18;

/** Where the bandwidth falls: the last size that was still fast. Falls in a row are one. */
export function cacheSteps(samples: readonly Sample[]): readonly number[] {
  const sorted = samples.toSorted((a, b) => a.at - b.at);
  const falls = sorted.map(({ value }, i) => i > 0 && value.median < (1 - stepFall) * sorted[i - 1].value.median);
  return sorted.flatMap(({ at }, i) => (falls[i + 1] && !falls[i] ? [at] : []));
}

export interface Scaling {
  /** At 1, 2, … threads. */
  readonly threads: readonly number[];
  readonly speedup: readonly number[];
  /** Share of the work that does not divide, by least squares of the logarithms. */
  readonly serial: number;
}

/** Speed-up by threads and the serial share that fits it best (Amdahl); null without two counts of threads. */
export function scalingOf({ scaling }: Pick<LabDevice, 'scaling'>): Scaling | null {
  const samples = (scaling?.samples ?? []).toSorted((a, b) => a.at - b.at);
  const first = samples.find(({ at }) => at === 1);
  if (!first || samples.length < 2) return null;
  const threads = samples.map(({ at }) => at);
  const speedup = samples.map(({ value }) => value.median / first.value.median);
  const wrong = (serial: number): number =>
    threads.reduce((sum, n, i) => sum + Math.log(amdahl(serial, n) / speedup[i]) ** 2, 0);
  const shares = Array.from({ length: 1001 }, (_, i) => i / 1000);
  const serial = shares.reduce((top, one) => (wrong(one) < wrong(top) ? one : top));
  return { threads, speedup, serial };
}

export interface Difference {
  readonly figure: Figure;
  /** New over old. */
  readonly factor: number;
}

/** Figures of both labs with how they moved, the largest first. */
export function differences(now: LabResult, before: LabResult): readonly Difference[] {
  const old = new Map(figuresOf(before).map((figure) => [figure.id, figure]));
  return figuresOf(now)
    .flatMap((figure) => {
      const other = old.get(figure.id);
      return other ? [{ figure, factor: figure.median / other.median }] : [];
    })
    .sort((a, b) => Math.abs(Math.log(b.factor)) - Math.abs(Math.log(a.factor)));
}

/** `within 4 % of 14 Nov`, or which figures moved and the likely reason. '' where nothing can be compared. */
export function comparison(now: LabResult, before: LabResult): string {
  const all = differences(now, before);
  if (all.length === 0) return '';
  const away = (factor: number): number => Math.max(factor, 1 / factor) - 1;
  const moved = all.filter(({ factor }) => away(factor) > alike);
  if (moved.length === 0)
    return `within ${fixed(Math.max(1, 100 * away(all[0].factor)))}${space}% of ${dayOfYear(before.startedAt)}`;
  const words = moved
    .slice(0, 2)
    .map(({ figure, factor }) => `${figure.label} ${factor > 1 ? 'up' : 'down'} ${by(factor)}`);
  const more = moved.length > 2 ? ` and ${moved.length - 2} more` : '';
  return `since ${dayOfYear(before.startedAt)}: ${words.join(', ')}${more}; ${likelyReason(now, before)}`;
}

const by = (factor: number): string =>
  factor >= 2 || factor <= 0.5
    ? `×${significant(Math.max(factor, 1 / factor))}`
    : `${fixed(100 * Math.abs(factor - 1))}${space}%`;

/** Why figures of the same machine differ, as far as the labs tell. */
export function likelyReason(now: LabResult, before: LabResult): string {
  if (now.machine.powerSource !== before.machine.powerSource) {
    return now.machine.powerSource === 'battery'
      ? 'likely: it runs on battery now'
      : 'likely: it is on mains power now';
  }
  if (now.machine.cpu !== before.machine.cpu || now.machine.cores !== before.machine.cores)
    return 'likely: another processor';
  if (now.seconds < before.seconds / 2 || before.seconds < now.seconds / 2)
    return 'likely: the two took different times';
  const busy = [now, before].map(({ notes }) => notes.some((note) => /other programs used [1-9]/i.test(note)));
  if (busy[0] || busy[1])
    return `likely: other programs were busy ${busy[0] ? (busy[1] ? 'both times' : 'this time') : 'then'}`;
  return 'likely: heat, power plan or driver';
}

const day = 86_400_000;
export const staleDays = 90;
/** Whole days since a lab, where that is more than a lab is good for; else null. */
export function staleSince(result: Pick<LabResult, 'startedAt'>, now: number): number | null {
  const days = Math.floor((now - result.startedAt) / day);
  return days > staleDays ? days : null;
}

/** The latest earlier lab of the same machine. */
export function sameMachine(a: LabResult, b: LabResult): boolean {
  return a.machine.name === b.machine.name && a.machine.cpu === b.machine.cpu;
}

export const latencyWords: Readonly<Record<LatencyName, string>> = {
  call: 'call',
  barrier: 'barrier',
  submit: 'submit',
  readback: 'read back',
};

export const partWords: Readonly<Record<LabPart, string>> = {
  latency: 'Latencies',
  product: 'Matrix products',
  copy: 'Copying',
  triad: 'Adding',
  transfer: 'To the GPU and back',
  scaling: 'Threads',
  workloads: 'Training steps',
};

/** The parts that are measured of a device. */
export const partsOf = ({ id, kind }: Pick<LabDevice, 'id' | 'kind'>): readonly LabPart[] =>
  labParts.filter((part) => (part === 'transfer' ? kind === 'gpu' : part === 'scaling' ? id === 'cpu' : true));

/** What came of a part, with its spread; null while nothing has. */
export function stepValue(device: LabDevice, part: LabPart): string | null {
  const said = (spread: Spread | undefined, words: (value: number) => string): string | null =>
    spread ? `${words(spread.median)} ${spreadText(spread)}` : null;
  const memory = (value: number): string => `${significant(value)}${space}GB/s`;
  switch (part) {
    case 'latency':
      return said(device.latencies[0]?.microseconds, microText);
    case 'product':
      return said(best(device.products)?.value, rateText);
    case 'copy':
    case 'triad':
      return said(largest(device[part])?.value, memory);
    case 'transfer':
      return said(device.transfer?.toGbPerSecond, memory);
    case 'scaling':
      return said(largest(device.scaling?.samples ?? [])?.value, rateText);
    case 'workloads':
      return device.workloads.length > 0 ? plural(device.workloads.length, 'workload') : null;
    default:
      return part satisfies never;
  }
}

const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];

/** `412 G` of 4.12e11: ticks and labels of rates. */
function prefixed(value: number): { readonly number: string; readonly prefix: string } {
  const step = Math.min(prefixes.length - 1, Math.max(0, Math.floor(Math.log10(value) / 3 + 1e-9)));
  return { number: significant(value / 1000 ** step), prefix: prefixes[step] };
}

/** `412 GFLOP/s`, `58.1 GB/s`. */
export function perSecond(value: number | null | undefined, unit: 'FLOP/s' | 'B/s'): string {
  if (value === null || value === undefined || !Number.isFinite(value) || value <= 0) return missing;
  const { number, prefix } = prefixed(value);
  return `${number}${space}${prefix}${unit}`;
}

/** The same without its unit: `412 G`. */
export function prefixedShort(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value) || value <= 0) return missing;
  const { number, prefix } = prefixed(value);
  return `${number}${prefix ? space + prefix : ''}`;
}

/** Decades of a logarithmic axis: `100 G`; others stay without words and line. */
export function flopTick(value: number): string | null {
  const decade = Math.log10(value);
  if (Math.abs(decade - Math.round(decade)) > 1e-9) return null;
  const { number, prefix } = prefixed(value);
  return `${number.replace(/\.0+$/, '')}${prefix ? space + prefix : ''}`;
}
