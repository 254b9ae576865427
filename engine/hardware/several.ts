// One model on several devices, each with a copy of it: what a step takes on 1 … N, where another device is hardly worth having, and
// whether a copy fits at all. By data parallelism (formulas/parallel.ts): the gradients are added up in a ring after each step.

import type { Catalogue, Device } from './catalogue/catalogue.ts';
import { trusted } from './catalogue/figures.ts';
import type { ModelCosts } from './costs/costs.ts';
import type { DeviceForecast, Forecast } from './forecast.ts';
import { fitOf, type ZeroStage } from './formulas/memory.ts';
import { dataParallel, devicesWorthwhile, examplesFactor, languageCriticalBatch } from './formulas/parallel.ts';
import { textbookMemory, withOverheads, type TextbookOptions } from './memory-forecast.ts';
import type { StepTime } from './time-forecast.ts';

/** How devices are joined: what a ring reaches over it, bytes/s. */
export interface Link {
  readonly name: string;
  readonly bandwidth: number;
  /** What adding up waits for, whatever the size: seconds a hop of the ring. */
  readonly latency?: number;
}

/** Cards in a box (NCCL), and boxes on a network. */
const [hop, networkHop] = [5e-6, 30e-6];

/** Cards in a box on PCIe, and boxes on a network; a lane reaches some five eighths of its rate. docs/hardware.md has the sources. */
export const usualLinks: readonly Link[] = [
  { name: 'pcie3', bandwidth: 10e9, latency: hop },
  { name: 'pcie4', bandwidth: 20e9, latency: hop },
  { name: 'pcie5', bandwidth: 40e9, latency: hop },
  { name: 'ethernet10', bandwidth: 1.1e9, latency: networkHop },
  { name: 'ethernet100', bandwidth: 11e9, latency: networkHop },
];

/** What a ring reaches of a link: 366 of 450 GB/s were measured between eight H100, 20 of 31 over PCIe 4. */
const [linkShare, laneShare] = [366 / 450, 20 / 31];
/** GB/s of sixteen lanes of PCIe 5: what is no faster is taken for lanes. */
const mostLanes = 64;

/** A card's link as its catalogue row has it, where that can be trusted; else PCIe 4. */
export function linkOf(device: Pick<Device, 'link' | 'name'> | undefined): Link {
  const own = device?.link;
  if (!own || !trusted(own)) return usualLinks[1];
  const share = own.value > mostLanes ? linkShare : laneShare;
  return { name: `the link of ${device.name}`, bandwidth: share * 1e9 * own.value, latency: hop };
}

/** Bytes/s that a disk of a computer for training delivers: what the input can be read at where nobody says better. */
const diskRate = 3e9;

/** Examples/s that all devices together are fed at. */
export const usualInputRate = ({ example }: Pick<ModelCosts, 'example'>): number =>
  diskRate / (example.values * example.bytes);

/** Loss in nats a token at which a language model is supposed to be, for its critical batch. */
const usualLoss = 3;

/** Sequences from which a larger batch hardly saves steps, of models that predict tokens; undefined: it has to be measured. */
export function criticalBatchOf({ transformer }: Pick<ModelCosts, 'transformer'>): number | undefined {
  if (!transformer?.logits) return undefined;
  return languageCriticalBatch(usualLoss) / transformer.sequence;
}

export interface SeveralOptions {
  readonly costs: ModelCosts;
  /** Of the whole batch on one device. */
  readonly step: StepTime;
  readonly textbook: TextbookOptions;
  /** Bytes of one device; null: whatever its computer has. */
  readonly memoryBytes: number | null;
  readonly link: Link;
  readonly most: number;
  /** Examples/s that the input delivers. */
  readonly inputRate?: number;
  readonly criticalBatch?: number;
  /** Least speed-up a device, as a share. */
  readonly efficiency?: number;
}

export interface SeveralPoint {
  readonly devices: number;
  /** Seconds of a step whose batch is shared out, and of it those for adding up the gradients and for waiting for examples. */
  readonly step: number;
  readonly summing: number;
  readonly input: number;
  readonly speedup: number;
  readonly efficiency: number;
  /** The same where each device keeps the whole batch: so many times the examples a step. */
  readonly grown: number;
  /** Of that what is left as progress beyond the critical batch; `grown` where that is not known. */
  readonly useful: number;
}

/** What has to be done for a model to fit: nothing, a batch in parts, sharing out its states (ZeRO), or cutting through the model itself. */
export type Split =
  | { readonly what: 'nothing' }
  | { readonly what: 'batch' }
  | { readonly what: 'states'; readonly stage: ZeroStage; readonly devices: number }
  | { readonly what: 'model'; readonly activations: number };

export interface Several {
  readonly link: Link;
  readonly points: readonly SeveralPoint[];
  readonly inputRate: number;
  readonly criticalBatch?: number;
  /** Devices up to which each is worth having: the batch shared out, and each with a batch of its own. */
  readonly worthShared: number;
  readonly worthGrown: number;
  readonly split: Split;
}

/** Below this speed-up a device another one is not worth having. */
export const leastEfficiency = 0.7;

/** One model on 1 … `most` devices. Throws RangeError for a number of devices below 1. */
export function several(options: SeveralOptions): Several {
  const { costs, step, link, most, efficiency = leastEfficiency } = options;
  if (!(most >= 1)) throw new RangeError(`${most} devices: at least 1 expected.`);
  const { inputRate = usualInputRate(costs), criticalBatch = criticalBatchOf(costs) } = options;
  const { batch, trainedBytes: gradientBytes } = costs;
  const { seconds, by } = step;
  // Calls have to be started everywhere, and every copy makes the update of all weights.
  const serial = ((by.launch ?? 0) + (by.update ?? 0)) / seconds;
  const shared = dataParallel(
    { compute: seconds, serial, gradientBytes, bandwidth: link.bandwidth, latency: link.latency, batch, inputRate },
    most,
  );
  const alone = shared[0].step;
  const points = shared.map((point): SeveralPoint => {
    const { devices, summing } = point;
    const grown = alone / Math.max(seconds + summing, (devices * batch) / inputRate);
    const wasted =
      criticalBatch === undefined
        ? 1
        : examplesFactor(batch, criticalBatch) / examplesFactor(devices * batch, criticalBatch);
    const { step: together, input, speedup, efficiency: share } = point;
    return { devices, step: together, summing, input, speedup, efficiency: share, grown, useful: grown * wasted };
  });
  return {
    link,
    points,
    inputRate,
    ...(criticalBatch === undefined ? {} : { criticalBatch }),
    worthShared: devicesWorthwhile(shared, efficiency),
    worthGrown: devicesWorthwhile(
      shared.map((point, i) => ({ ...point, efficiency: points[i].useful })),
      efficiency,
    ),
    split: splitOf(options),
  };
}

/** Devices among which states are shared out, at most. */
const mostRanks = 2 ** 20;

/** The least that has to be done: what changes nothing of the training first. Beyond the batch, activations are those of one example. */
export function splitOf({
  costs,
  textbook,
  memoryBytes,
}: Pick<SeveralOptions, 'costs' | 'textbook' | 'memoryBytes'>): Split {
  const fits = (options: TextbookOptions, examples: number): boolean => {
    const { total, activations } = textbookMemory(costs, options);
    const needed = total - activations * (1 - examples / costs.batch);
    return memoryBytes === null || fitOf(withOverheads(needed).low, memoryBytes) !== 'too large';
  };
  if (fits(textbook, costs.batch)) return { what: 'nothing' };
  if (fits(textbook, 1)) return { what: 'batch' };
  for (const stage of [1, 2, 3] as const) {
    const fitsOn = (ranks: number): boolean => fits({ ...textbook, zero: { stage, ranks } }, 1);
    if (!fitsOn(mostRanks)) continue;
    let devices = 2;
    while (!fitsOn(devices)) devices *= 2;
    for (let fewer = devices >> 2; fewer >= 1; fewer >>= 1) if (fitsOn(devices - fewer)) devices -= fewer;
    return { what: 'states', stage, devices };
  }
  return { what: 'model', activations: textbookMemory(costs, textbook).activations / costs.batch };
}

/** Several of a device of a forecast, in the numbers that it computes with; `row`: as the catalogue has it. */
export function severalOn(
  { costs, textbook: asked }: Pick<Forecast, 'costs' | 'textbook'>,
  { step, memoryBytes, precision }: Pick<DeviceForecast, 'step' | 'memoryBytes' | 'precision'>,
  row: Pick<Device, 'link' | 'name'> | undefined,
  more: Partial<SeveralOptions> & Pick<SeveralOptions, 'most'>,
): Several {
  return several({ costs, textbook: { ...asked, precision }, step, memoryBytes, link: linkOf(row), ...more });
}

const cards = new Set(['gpu', 'tpu', 'asic']);

/** The quickest device to train on by a trusted data sheet, of those that hold the model; of all where none does. */
export function quickest({ devices }: Pick<Forecast, 'devices'>, catalogue: Catalogue): DeviceForecast | undefined {
  const rows = new Map(catalogue.devices.map((row) => [row.id, row]));
  const known = devices.filter(({ id, precision }) => {
    const row = rows.get(id);
    if (!row || !cards.has(row.kind)) return false;
    return [row.memory, row.bandwidth, precision === 'mixed16' ? row.fp16 : row.fp32].every(trusted);
  });
  const fitting = known.filter(({ fits }) => fits);
  return (fitting.length > 0 ? fitting : known).toSorted((a, b) => a.step.seconds - b.step.seconds)[0];
}

/** What `split` says, in a sentence about one device of `name`. */
export function splitWords(split: Split, name: string): string {
  switch (split.what) {
    case 'nothing':
      return `A copy of the model fits ${name}.`;
    case 'batch':
      return `The batch does not fit ${name} at once: compute it in parts, or share it out.`;
    case 'states':
      return `Weights, gradients and optimizer states do not fit ${name}: divide them among at least ${split.devices} (ZeRO stage ${split.stage}).`;
    case 'model':
      return `The activations of one example do not fit ${name}: the model itself has to be split.`;
  }
}
