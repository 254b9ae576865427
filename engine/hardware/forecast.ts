// The whole forecast of a model: memory, what fits where, seconds an epoch, energy, carbon and money on every device of the catalogue
// and on this machine, as far as a lab has measured it. The window and the command line show what stands here.

import type { Catalogue, Device, Offer } from './catalogue/catalogue.ts';
import type { ModelCosts } from './costs/costs.ts';
import type { Subject } from './costs/familiar.ts';
import { assumedLoad, carbon, energy, energyCost } from './formulas/energy.ts';
import { fitOf, type StateOptimizer } from './formulas/memory.ts';
import { programName } from '../plan/plan.ts';
import type { MachineDevice } from './machine.ts';
import {
  largestOwnBatch,
  largestTextbookBatch,
  planMemory,
  remedies,
  textbookMemory,
  usualMemories,
  withOverheads,
  type PlanMemory,
  type Remedy,
  type TextbookMemory,
  type TextbookOptions,
} from './memory-forecast.ts';
import { deviceByPeaks, epochSeconds, middleOf, stepTime, type StepTime, type TimedDevice } from './time-forecast.ts';

export interface ForecastOptions {
  readonly precision: 'float32' | 'mixed16';
  readonly catalogue: Catalogue;
  /** This machine's devices, its CPU first. */
  readonly here?: readonly MachineDevice[];
  /** Threads of its CPU; one by default. */
  readonly cores?: number;
  /** Of a plan that whoever asks has already; without it the subject's model is planned. */
  readonly own?: PlanMemory;
  /** USD a kWh and g of CO₂ a kWh. */
  readonly tariff: number;
  readonly grid: number;
}

export interface DeviceForecast {
  readonly id: string;
  readonly name: string;
  /** `here`: measured on this machine; `estimate`: this machine, guessed from its cores; else by its data sheet. */
  readonly basis: 'here' | 'estimate' | 'data sheet';
  /** An adapter in software, of this machine. */
  readonly software: boolean;
  /** What it computes in: one without 16-bit units stays with float32, one with nothing else takes 16 bits. */
  readonly precision: 'float32' | 'mixed16';
  /** null: its memory is whatever its computer has, and not known. */
  readonly memoryBytes: number | null;
  /** Bytes that training needs in those numbers, context and fragmentation with them. */
  readonly neededBytes: number;
  /** null: its memory is not known. */
  readonly fits: boolean | null;
  readonly step: StepTime;
  readonly secondsPerEpoch: readonly [low: number, high: number];
  /** Of an epoch, at the middle of its range. */
  readonly kwh: number | null;
  readonly kilogramsCo2: number | null;
  /** USD an epoch: the cheapest rent of the catalogue, else energy at the tariff. */
  readonly cost: number | null;
  readonly costBasis: 'rent' | 'energy' | null;
  readonly offer?: string;
  /** Devices of that instance, all of them paid for. */
  readonly rented?: number;
}

export interface Forecast {
  readonly costs: ModelCosts;
  /** By the textbook, of PyTorch. */
  readonly memory: TextbookMemory;
  readonly textbook: TextbookOptions;
  /** Exact, of this program on this machine's CPU; absent for models it does not build and where this machine was not asked about. */
  readonly own?: PlanMemory;
  /** The same with gradient checkpointing, where that is not asked for. `time`: operations of a step, times those without. */
  readonly checkpointed?: { readonly memory: PlanMemory; readonly time: number };
  /** Largest batch by bytes of a card. */
  readonly largestBatch: readonly { readonly bytes: number; readonly batch: number }[];
  readonly remedies: readonly Remedy[];
  readonly devices: readonly DeviceForecast[];
}

/** Share of the rated power. Every device alone, without the rest of its computer: what that draws is not known of any. */
const load = (assumedLoad.low + assumedLoad.high) / 2;

/** What the memory of an optimizer goes by. */
export const stateOf = (optimizer: Subject['optimizer']): StateOptimizer =>
  optimizer === 'adam' || optimizer === 'adamw' ? 'adam' : 'momentum';

/** Forecasts a model at its batch. */
export function forecast(
  subject: Subject,
  { precision, catalogue, here = [], cores = 1, own: planned, tariff, grid }: ForecastOptions,
): Forecast {
  const { batch, rows } = subject;
  const costs = subject.costs(batch);
  const options: TextbookOptions = { precision, optimizer: stateOf(subject.optimizer) };
  const memory = textbookMemory(costs, options);
  /** Of each device by the numbers that it computes with. */
  const needs = { float32: neededIn('float32'), mixed16: neededIn('mixed16') } as const;
  function neededIn(numbers: DeviceForecast['precision']): number {
    return withOverheads(textbookMemory(costs, { ...options, precision: numbers }).total).low;
  }
  const fits = (memoryBytes: number | null, numbers: DeviceForecast['precision']): boolean | null =>
    memoryBytes === null ? null : fitOf(needs[numbers], memoryBytes) !== 'too large';
  /** `watts`: what is drawn in training. */
  const bill = (seconds: readonly [number, number], watts: number | undefined, offer: Offer | undefined) => {
    const hours = middleOf(seconds) / 3600;
    const kwh = watts === undefined ? null : energy({ device: watts }, hours);
    // An instance is let whole, however many of its devices train.
    const rent = offer === undefined ? null : offer.onDemand.value * hours;
    return {
      kwh,
      kilogramsCo2: kwh === null ? null : carbon(kwh, grid),
      cost: rent ?? (kwh === null ? null : energyCost(kwh, tariff)),
      costBasis: rent !== null ? ('rent' as const) : kwh === null ? null : ('energy' as const),
      ...(offer ? { offer: `${offer.provider} ${offer.instance}`, rented: offer.count } : {}),
    };
  };
  const cpu = here.find(({ kind }) => kind === 'cpu');
  const own =
    planned ??
    (cpu && subject.model
      ? planMemory(subject.model, { train: rows, validation: 0, test: 0 }, { kind: 'cpu', cores }).memory
      : undefined);
  const measured = here.map((device): DeviceForecast => {
    const { id, kind, name, software, timed, memoryBytes, watts } = device;
    const step = stepTime(costs, timed);
    const secondsPerEpoch = epochSeconds(step, rows, batch);
    return {
      id: `here-${id}`,
      name,
      basis: device.measured ? 'here' : 'estimate',
      software,
      precision: 'float32',
      memoryBytes: memoryBytes || null,
      neededBytes: own && kind === 'cpu' ? own.total : needs.float32,
      fits: own && kind === 'cpu' && memoryBytes > 0 ? own.total <= memoryBytes : fits(memoryBytes || null, 'float32'),
      step,
      secondsPerEpoch,
      // As the bill of a run counts it: the processor by its threads, a GPU by its usual load.
      ...bill(secondsPerEpoch, watts && (kind === 'gpu' && !software ? load * watts : watts), undefined),
    };
  });
  const others = catalogue.devices.flatMap((device): readonly DeviceForecast[] => {
    const timed = device.use === 'training' ? timedDevice(device, precision) : null;
    if (timed === null) return [];
    const step = stepTime(costs, timed.device);
    const secondsPerEpoch = epochSeconds(step, rows, batch);
    const memoryBytes = device.memory ? 1e9 * device.memory.value : null;
    const { id, name } = device;
    return [
      {
        id,
        name,
        basis: 'data sheet',
        software: false,
        precision: timed.precision,
        memoryBytes,
        neededBytes: needs[timed.precision],
        fits: fits(memoryBytes, timed.precision),
        step,
        secondsPerEpoch,
        ...bill(secondsPerEpoch, device.power && load * device.power.value, cheapest(catalogue, id)),
      },
    ];
  });
  return {
    costs,
    memory,
    textbook: options,
    ...(own ? { own } : {}),
    ...(own && cpu ? withCheckpointing(subject, cores) : {}),
    largestBatch: usualMemories.map((bytes) => ({ bytes, batch: largestTextbookBatch(subject.costs, options, bytes) })),
    remedies: remedies(subject.costs, options, batch),
    devices: [...measured, ...others.toSorted((a, b) => a.secondsPerEpoch[0] - b.secondsPerEpoch[0])],
  };
}

function withCheckpointing({ model, rows, costs, batch }: Subject, cores: number): Pick<Forecast, 'checkpointed'> {
  if (!model || model.training.checkpointing) return {};
  const training = { ...model.training, batch, checkpointing: true };
  const { plan, memory } = planMemory(
    { ...model, training },
    { train: rows, validation: 0, test: 0 },
    { kind: 'cpu', cores },
  );
  const step = plan.programs[programName('train', batch)];
  if (!step) return {};
  return { checkpointed: { memory, time: step.flops / (batch * costs(batch).flopsPerExample) } };
}

/**
 * The largest batch on this machine's CPU with so many bytes to spare, by the textbook where this program does not build the model. Apart
 * from the forecast, as it takes some ten plans; the window takes them in slices (`largestOwnBatch`).
 */
export function largestHere(
  { model, costs, rows }: Subject,
  textbook: TextbookOptions,
  cores: number,
  bytes: number,
): number {
  if (!model) return largestTextbookBatch(costs, textbook, bytes);
  const plans = largestOwnBatch(model, rows, cores, bytes);
  for (;;) {
    const plan = plans.next();
    if (plan.done === true) return plan.value;
  }
}

/** The offer with the least bill for one such device, the whole instance paid; what is free is free for a while. */
function cheapest({ offers }: Catalogue, device: string): Offer | undefined {
  return offers
    .filter((offer) => offer.device === device && offer.onDemand.value > 0)
    .toSorted((a, b) => a.onDemand.value - b.onDemand.value)[0];
}

/** What a step of other costs takes on a device of the catalogue; null without rate or bandwidth. */
export function stepOn(costs: Pick<ModelCosts, 'calls'>, device: Device, precision: ForecastOptions['precision']) {
  const timed = timedDevice(device, precision);
  return timed && stepTime(costs, timed.device);
}

/** A device of the catalogue at this precision or, where it has nothing for it, at the other; null without rate or bandwidth. */
function timedDevice(
  { kind, bandwidth, fp32, fp16 }: Device,
  wanted: ForecastOptions['precision'],
): { readonly device: TimedDevice; readonly precision: ForecastOptions['precision'] } | null {
  if (!bandwidth || !(fp32 ?? fp16)) return null;
  const precision = wanted === 'mixed16' ? (fp16 ? 'mixed16' : 'float32') : fp32 ? 'float32' : 'mixed16';
  const peaks = {
    kind: kind === 'cpu' ? ('cpu' as const) : ('gpu' as const),
    // Sums outside the products: where no rate is known, far below that of the units for products.
    float32: 1e12 * (fp32?.value ?? fp16!.value / 16),
    ...(fp16 ? { mixed16: 1e12 * fp16.value } : {}),
    bandwidth: 1e9 * bandwidth.value,
  };
  return { device: deviceByPeaks(peaks, precision), precision };
}
