// A training step taken apart under the roofs of a device: a point for every layer and way, parts of a table that add up to the step,
// and what they say in words. Forecast from the rates a lab measured; pure.

import { attainable, ridge, type Roof } from '../../../../engine/hardware/formulas/roofline.ts';
import type { CallCost, CostPhase, ModelCosts, WorkKind } from '../../../../engine/hardware/costs/costs.ts';
import { stepTime, type TimedDevice } from '../../../../engine/hardware/time-forecast.ts';
import type { LabDevice } from '../../../../engine/protocol/lab.ts';
import { fixed, missing, percent, plural } from '../../../lib/format.ts';
import { significant } from '../lab/reading.ts';

/** The measured roofs: the best product, and copying what is in no cache. FLOP/s and bytes/s. */
export function roofOf({ products, copy }: Pick<LabDevice, 'products' | 'copy'>): Roof {
  const far = copy.toSorted((a, b) => a.at - b.at).at(-1);
  return {
    rate: 1e9 * Math.max(...products.map(({ value }) => value.median)),
    bandwidth: 1e9 * (far?.value.median ?? 0),
  };
}

/** Work of some calls, and what it takes. */
export interface Part {
  readonly id: string;
  readonly label: string;
  readonly flops: number;
  readonly bytes: number;
  /** Starting the calls left out. */
  readonly seconds: number;
  /** Of the whole step. */
  readonly share: number;
  /** `size`: far below both roofs, as its calls are too small to fill the device. */
  readonly limit: 'memory' | 'arithmetic' | 'size' | 'launches';
  /** Of what the roof allows; null for starts. Above 1: the caches hold it, or Winograd's transforms need fewer operations than are counted. */
  readonly ofRoof: number | null;
}

export interface RoofPoint {
  /** The part it belongs to. */
  readonly part: string;
  readonly name: string;
  readonly phase: CostPhase;
  /** FLOP a byte. */
  readonly intensity: number;
  /** FLOP/s. */
  readonly rate: number;
  readonly share: number;
}

export interface StepApart {
  readonly batch: number;
  /** Of the whole step. */
  readonly seconds: number;
  /** The longest first; they add up to `seconds`. */
  readonly parts: readonly Part[];
  readonly points: readonly RoofPoint[];
  /** Share of the step in calls that memory holds back. */
  readonly waiting: number;
}

const kindWords: Readonly<Record<WorkKind, string>> = {
  product: 'Product',
  convolution: 'Convolution',
  depthwise: 'Depthwise convolution',
  normalisation: 'Normalisation',
  pooling: 'Pooling',
  elementwise: 'Additions and activations',
  update: 'Optimizer',
};
const layerWords: ReadonlyMap<string, string> = new Map([
  ['data', 'Reading rows'],
  ['input', 'Input'],
  ['loss', 'Loss'],
  ['update', 'Optimizer'],
]);
/** More layers than this are shown by their stage and kind of work. */
const mostRows = 13;
const heavy: readonly WorkKind[] = ['product', 'convolution', 'depthwise'];
const launchId = 'launches';

function grouped<T>(all: readonly T[], key: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(key(one));
    if (group) group.push(one);
    else groups.set(key(one), [one]);
  }
  return groups;
}

/** Names of layers: their own, or number and kind of work where they have none. */
function layerName(layer: string, calls: readonly CallCost[]): string {
  const own = layerWords.get(layer);
  if (own !== undefined) return own;
  if (layer.startsWith('stem')) return 'Stem';
  if (!/^\d+$/.test(layer)) return layer.charAt(0).toUpperCase() + layer.slice(1);
  const main = calls.reduce((most, call) => (call.flops > most.flops ? call : most));
  return `Layer ${Number(layer) + 1}, ${kindWords[main.kind].toLowerCase()}`;
}

/** Which part of the table a call belongs to. */
function partOf(call: CallCost, names: ReadonlyMap<string, string>): string {
  if (call.phase === 'update') return kindWords.update;
  const name = names.get(call.layer) ?? call.layer;
  if (names.size <= mostRows) return name;
  if (!heavy.includes(call.kind)) return kindWords[call.kind];
  const works = `${kindWords[call.kind].toLowerCase()}s`;
  if (/^layer \d+$/.test(call.layer)) return `Layers, ${works}`;
  const stage = /^s(\d+)b/.exec(call.layer)?.[1];
  return stage === undefined ? name : `Stage ${stage}, ${works}`;
}

/** From this share of its roof on work is over it, not merely measured a little better than the best product. */
const overRoof = 1.05;
/** Below this share of its roof neither arithmetic nor memory holds work back. */
const leastOfRoof = 0.25;

/** What the table says of the roof: work over the roof of memory is held by the caches. */
export const roofShare = ({ ofRoof, limit }: Pick<Part, 'ofRoof' | 'limit'>): string =>
  ofRoof === null
    ? missing
    : ofRoof > overRoof && limit === 'memory'
      ? 'in cache'
      : percent(ofRoof, ofRoof < 0.095 ? 1 : 0);

interface Work {
  readonly flops: number;
  readonly bytes: number;
  readonly seconds: number;
}

/** Share of the roof that work reaches, and what holds it back. */
function placed({ flops, bytes, seconds }: Work, roof: Roof): Pick<Part, 'limit'> & { readonly ofRoof: number } {
  const ofRoof = (flops > 0 ? flops / attainable(flops / bytes, roof) : bytes / roof.bandwidth) / seconds;
  const limit = ofRoof < leastOfRoof ? 'size' : flops / bytes < ridge(roof) ? 'memory' : 'arithmetic';
  return { ofRoof, limit };
}

/** Takes a step of a model apart, as this device is forecast to do it. */
export function stepApart(
  { batch, calls }: Pick<ModelCosts, 'batch' | 'calls'>,
  device: TimedDevice,
  roof: Roof,
): StepApart {
  const { seconds: whole } = stepTime({ calls }, device);
  const work = (some: readonly CallCost[]): Work => ({
    flops: some.reduce((sum, { flops }) => sum + flops, 0),
    bytes: some.reduce((sum, { bytes }) => sum + bytes, 0),
    seconds: some.reduce((sum, call) => sum + device.seconds(call), 0),
  });
  const names = new Map(
    [...grouped(calls, ({ layer }) => layer)].map(([layer, own]) => [layer, layerName(layer, own)]),
  );
  const parts = [...grouped(calls, (call) => partOf(call, names))].map(([label, own]): Part => {
    const all = work(own);
    return { id: label, label, ...all, share: all.seconds / whole, ...placed(all, roof) };
  });
  const starting = calls.length * device.launchSeconds;
  const launches: Part = {
    id: launchId,
    label: `Starting ${plural(calls.length, 'call')}, ${significant(1e6 * device.launchSeconds)} µs each among others`,
    flops: 0,
    bytes: 0,
    seconds: starting,
    share: starting / whole,
    limit: 'launches',
    ofRoof: null,
  };
  const points = [...grouped(calls, ({ layer, phase }) => `${layer} ${phase}`).values()].flatMap((own): RoofPoint[] => {
    const { flops, bytes, seconds } = work(own);
    if (flops === 0 || bytes === 0) return [];
    // A layer of several kinds of work lights up with the one that takes longest.
    const main = own.reduce((most, call) => (device.seconds(call) > device.seconds(most) ? call : most));
    const name = names.get(main.layer) ?? main.layer;
    const place = { intensity: flops / bytes, rate: flops / seconds, share: seconds / whole };
    return [{ part: partOf(main, names), name, phase: main.phase, ...place }];
  });
  return {
    batch,
    seconds: whole,
    parts: [...parts, launches].sort((a, b) => b.seconds - a.seconds),
    points: points.sort((a, b) => a.intensity - b.intensity),
    waiting: work(calls.filter((call) => placed(work([call]), roof).limit === 'memory')).seconds / whole,
  };
}

export interface StepWords {
  readonly title: string;
  readonly detail: string;
  /** Sentences under the roofs: what each is about, and what is said of it. */
  readonly reading: readonly (readonly [about: string, said: string])[];
}

/** Shares of an example's time below this are not worth a word. */
const leastShare = 0.005;

/** What the step says, and what another batch would do to it. */
export function stepWords(step: StepApart, other: StepApart, device: string, roof: Roof): StepWords {
  const each = step.seconds / step.batch;
  const gain = 1 - other.seconds / other.batch / each;
  const size = percent(Math.abs(gain), Math.abs(gain) < 0.095 ? 1 : 0);
  const change =
    Math.abs(gain) < leastShare
      ? 'would change nothing'
      : `would be ${size} ${gain > 0 ? 'quicker' : 'slower'} an example`;
  return {
    title: `${percent(step.waiting)} of the step waits for memory. Batch ${fixed(other.batch)} ${change}.`,
    detail: whyOf(step, other, gain),
    reading: readingOf(step, device, roof, gain >= leastShare),
  };
}

/** Where the time of an example goes that another batch saves. */
function whyOf(step: StepApart, other: StepApart, gain: number): string {
  if (gain < leastShare) return 'What an example costs stays as it is.';
  const spent = ({ parts, batch }: StepApart, limit: Part['limit']): number =>
    parts.reduce((sum, part) => sum + (part.limit === limit ? part.seconds : 0), 0) / batch;
  const each = step.seconds / step.batch;
  const causes = [
    ['launches', 'fewer starts of calls an example'],
    ['size', 'calls that fill the device better'],
    ['arithmetic', 'larger products'],
    ['memory', 'numbers read once for more examples'],
  ] as const;
  const said = causes.flatMap(([limit, words]) => {
    const saved = (spent(step, limit) - spent(other, limit)) / each;
    return saved >= leastShare ? [`${percent(saved, 1)} by ${words}`] : [];
  });
  return said.length > 0
    ? `Of the time of an example it saves ${said.join(', ')}.`
    : 'Larger calls come nearer to the roofs.';
}

function readingOf({ parts }: StepApart, device: string, roof: Roof, batchHelps: boolean): StepWords['reading'] {
  const first = (limit: Part['limit']): Part | undefined => parts.find((part) => part.limit === limit);
  const [memory, arithmetic, size] = [first('memory'), first('arithmetic'), first('size')];
  const reading: (readonly [string, string])[] = [];
  if (memory) {
    const { flops, bytes, share } = memory;
    const does =
      flops > 0 ? `${significant(flops / bytes)} FLOP for each byte` : 'bytes are moved and nothing is computed';
    const needs = `the ${device} needs ${significant(ridge(roof))} before its arithmetic is the limit`;
    reading.push([
      memory.label,
      `${does}; ${needs}. Held back by memory for ${percent(share, 1)} of the step, whatever the batch.`,
    ]);
  }
  if (arithmetic) {
    const { label, ofRoof, share } = arithmetic;
    const spared = (ofRoof ?? 0) > overRoof && /convolution/i.test(label);
    const why = spared ? ', as Winograd’s transforms spare multiplications of 3 × 3 kernels' : '';
    reading.push([
      label,
      `held back by arithmetic for ${percent(share, 1)} of the step, at ${percent(ofRoof ?? 0)} of the roof${why}.`,
    ]);
  }
  if (size) {
    const { label, ofRoof, share } = size;
    const reached = percent(ofRoof ?? 0, (ofRoof ?? 0) < 0.095 ? 1 : 0);
    const said = `calls too small to fill the ${device}: ${reached} of the roof, ${percent(share, 1)} of the step`;
    reading.push([
      label,
      `${said}. ${batchHelps ? 'A larger batch helps' : 'Whatever the batch: its sides are short, wider layers would fill it'}.`,
    ]);
  }
  return reading;
}
