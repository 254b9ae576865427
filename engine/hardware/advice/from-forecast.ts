// Facts for advice from a forecast: epochs of it on this machine and on the devices of the catalogue, with what buying or renting each
// costs. Figures that are remembered or disputed mark their device as doubtful.

import type { Catalogue, Device } from '../catalogue/catalogue.ts';
import { isStale, trusted } from '../catalogue/figures.ts';
import type { DeviceForecast, Forecast } from '../forecast.ts';
import { withOverheads, type TextbookOptions } from '../memory-forecast.ts';
import { usualSpotHours } from '../formulas/money.ts';
import type { MachineDevice } from '../machine.ts';
import { severalOn } from '../several.ts';
import { epochSeconds, middleOf, stepTime } from '../time-forecast.ts';
import { waitingFacts, type Waiting } from '../waiting.ts';
import { canBeHad, type DeviceFact, type Facts, type Range } from './facts.ts';

export interface FromForecast {
  readonly forecast: Forecast;
  readonly catalogue: Catalogue;
  readonly epochs: number;
  readonly rows: number;
  readonly batch: number;
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
  const together = quick && severalOn(forecast, quick, rowsOf.get(fast.id), { most: mostDevices });
  return {
    model: 'network',
    rows,
    cpu,
    cpuFits: forecasts.get(`here-${cpu.id}`)?.fits,
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
    criticalBatch: together?.criticalBatch,
    several: together && { on: fast.name, link: together.link.name },
    efficiencies: together?.points.map(({ efficiency }) => efficiency),
    tariff,
  };
}

/** What a disk in a data centre takes, bytes/s. */
const diskRate = 1e9;
const mostDevices = 8;

/** A device of this machine as a fact of advice. */
export function factHere(
  { id, kind, name, timed, memoryBytes, watts }: MachineDevice,
  { forecast: { costs }, epochs, rows, batch }: Pick<FromForecast, 'forecast' | 'epochs' | 'rows' | 'batch'>,
): DeviceFact {
  const seconds = training(epochSeconds(stepTime(costs, timed), rows, batch), epochs);
  return {
    id,
    name: kind === 'cpu' ? 'this CPU' : `this GPU, ${name}`,
    kind,
    use: 'training',
    seconds,
    memory: memoryBytes,
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
