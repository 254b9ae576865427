// Facts for advice from a forecast: epochs of it on this machine and on the devices of the catalogue, with what buying or renting each
// costs. Figures that are remembered or disputed mark their device as doubtful.

import type { Catalogue, Device } from '../catalogue/catalogue.ts';
import { isStale, trusted } from '../catalogue/figures.ts';
import type { ModelCosts } from '../costs/costs.ts';
import { stepOn, type DeviceForecast, type Forecast } from '../forecast.ts';
import { textbookMemory, withOverheads, type TextbookOptions } from '../memory-forecast.ts';
import { InputError } from '../../protocol/errors.ts';
import { usualSpotHours } from '../formulas/money.ts';
import type { MachineDevice } from '../machine.ts';
import { criticalBatchOf, severalOn } from '../several.ts';
import { epochSeconds, middleOf, stepTime } from '../time-forecast.ts';
import { waitingFacts, type Waiting } from '../waiting.ts';
import { canBeHad, type DeviceFact, type Facts, type Range, type Together } from './facts.ts';

export interface FromForecast {
  readonly forecast: Forecast;
  readonly catalogue: Catalogue;
  readonly epochs: number;
  readonly rows: number;
  readonly batch: number;
  /** Of the model at another batch. */
  readonly costsAt: (batch: number) => ModelCosts;
  /** This machine's CPU. */
  readonly cpu: DeviceFact;
  readonly gpu?: DeviceFact;
  /** What past runs waited for. */
  readonly waiting?: Waiting | null;
  /** USD a kWh. */
  readonly tariff: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Whether the processor trains it: a batch that does not fit is computed in parts, of two rows at least. Absent: its memory is not known. */
function fitsInParts(here: DeviceForecast | undefined, { own }: Forecast, batch: number): boolean | undefined {
  if (!here || here.fits === null) return undefined;
  if (here.fits || !own || here.memoryBytes === null) return here.fits;
  const ofBatch = own.activations + own.workspace;
  return own.total - ofBatch * (1 - Math.min(1, 2 / batch)) <= here.memoryBytes;
}

export function factsOf(asked: FromForecast): Facts {
  const { forecast, catalogue, epochs, rows, batch, cpu, gpu, waiting = null, tariff, now } = asked;
  const { memory, costs, devices, remedies } = forecast;
  const rowsOf = new Map(catalogue.devices.map((device) => [device.id, device]));
  const forecasts = new Map(devices.map((device) => [device.id, device]));
  const others = [...rowsOf.values()].flatMap((device) => {
    const found = forecasts.get(device.id);
    // The processor of a computer is not bought for training; it is what stands here.
    if (device.kind === 'cpu' || (found === undefined && device.use === 'training')) return [];
    return [deviceFact(device, found, forecast.textbook.precision, epochs, catalogue, now)];
  });
  const fast = others
    .filter(
      (device) => device.kind === 'gpu' && device.use === 'training' && !device.doubtful && canBeHad(device, false),
    )
    .toSorted((a, b) => a.seconds.middle - b.seconds.middle)[0];
  const { parameters, gradients, optimizer } = memory;
  const quick = fast && forecasts.get(fast.id);
  const several = quick && severalOn(forecast, quick, rowsOf.get(fast.id), { most: mostDevices });
  return {
    model: 'network',
    rows,
    cpu,
    cpuFits: fitsInParts(forecasts.get(`here-${cpu.id}`), forecast, batch),
    gpu,
    others,
    memoryNeeded: withOverheads(memory.total).low,
    stateBytes: parameters + gradients + optimizer,
    checkpointMinutes: (parameters + optimizer) / diskRate / 60,
    hoursBetweenInterruptions: usualSpotHours,
    savings: remedies.map(({ name, saves, time }) => ({ name, bytes: saves, timeFactor: time })),
    stepFlops: costs.flopsPerExample * batch,
    batch,
    ...waitingFacts(waiting),
    criticalBatch: criticalBatchOf(costs),
    several: several && { on: fast.name, link: several.link.name },
    efficiencies: several?.points.map(({ efficiency }) => efficiency),
    together: ({ id }, size) => {
      const [found, row] = [forecasts.get(id), rowsOf.get(id)];
      return found && row ? togetherOn(asked, found, row, size) : null;
    },
    tariff,
  };
}

/** Several of a device with a batch of any size; null: it cannot be planned. */
function togetherOn(
  { forecast, costsAt, batch }: FromForecast,
  found: DeviceForecast,
  row: Device,
  size: number,
): Together | null {
  const { precision } = found;
  const costs = size === batch ? forecast.costs : plannedOrNull(costsAt, size);
  const step = costs && stepOn(costs, row, precision);
  if (!step) return null;
  const { points, link } = severalOn({ ...forecast, costs }, { ...found, step }, row, { most: mostAsked });
  const { total, activations } = textbookMemory(costs, { ...forecast.textbook, precision });
  const alone = found.step.seconds / batch;
  return {
    link: link.name,
    points: points.map(({ devices, step: seconds, efficiency }) => ({
      speedup: (alone * size) / seconds,
      efficiency,
      needed: withOverheads(total - activations * (1 - 1 / devices)).low,
    })),
  };
}

function plannedOrNull(costsAt: FromForecast['costsAt'], batch: number): ModelCosts | null {
  try {
    return costsAt(batch);
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

/** What a disk in a data centre takes, bytes/s. */
const diskRate = 1e9;
/** In the table of several devices, and that a threshold may ask for. */
const [mostDevices, mostAsked] = [8, 64];

/** A device of this machine as a fact of advice. */
export function factHere(
  { id, kind, name, timed, memoryBytes, watts }: MachineDevice,
  { forecast, epochs, rows, batch }: Pick<FromForecast, 'forecast' | 'epochs' | 'rows' | 'batch'>,
): DeviceFact {
  const seconds = training(epochSeconds(stepTime(forecast.costs, timed), rows, batch), epochs);
  return {
    id,
    name: kind === 'cpu' ? 'this CPU' : `this GPU, ${name}`,
    kind,
    use: 'training',
    seconds,
    memory: memoryBytes,
    needed: forecast.devices.find((row) => row.id === `here-${id}`)?.neededBytes,
    watts,
  };
}

/** Seconds of `epochs` from those of one, the middle where the factor either way is the same. */
export function training([low, high]: readonly [number, number], epochs: number): Range {
  return { low: low * epochs, middle: middleOf([low, high]) * epochs, high: high * epochs };
}

function deviceFact(
  device: Device,
  found: DeviceForecast | undefined,
  asked: TextbookOptions['precision'],
  epochs: number,
  { offers }: Catalogue,
  now: number,
): DeviceFact {
  const { id, name, kind, use, unified, memory, bandwidth, power, streetPrice, launchPrice, systemPrice } = device;
  const rate = found?.precision === 'mixed16' ? device.fp16 : device.fp32;
  const price = [streetPrice, launchPrice, systemPrice].find(trusted)?.value;
  const rents = offers
    .filter((row) => row.device === id && trusted(row.onDemand))
    .toSorted((a, b) => a.onDemand.value - b.onDemand.value);
  const offer = rents.find(({ count }) => count === 1);
  const boxes = rents.filter(({ count, onDemand }) => count > 1 && onDemand.value > 0);
  return {
    id,
    name,
    kind,
    use,
    unified,
    seconds: training(found?.secondsPerEpoch ?? [Infinity, Infinity], epochs),
    memory: 1e9 * (memory?.value ?? 0),
    needed: found?.neededBytes,
    bandwidth: bandwidth && 1e9 * bandwidth.value,
    watts: power?.value,
    doubtful: [memory, bandwidth, rate].some((figure) => !trusted(figure)),
    price,
    rent: offer && {
      offer: `${offer.provider} ${offer.instance}`,
      perHour: offer.onDemand.value,
      spotPerHour: trusted(offer.spot) ? offer.spot.value : undefined,
      free: offer.onDemand.value === 0,
      stale: isStale(offer.onDemand, now),
    },
    boxes: boxes.map(({ count, onDemand, provider, instance }) => ({
      ...{ count, perHour: onDemand.value, offer: `${provider} ${instance}` },
    })),
    ...(found && found.precision !== asked
      ? { otherNumbers: found.precision === 'mixed16' ? ('16 bits' as const) : ('float32' as const) }
      : {}),
  };
}
