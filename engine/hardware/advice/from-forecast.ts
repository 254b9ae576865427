// Facts for advice from a forecast: epochs of it on this machine and on the devices of the catalogue, with what buying or renting each
// costs. Figures that are remembered or disputed mark their device as doubtful.

import type { Catalogue, Device } from '../catalogue/catalogue.ts';
import { isStale, trusted } from '../catalogue/figures.ts';
import type { ModelCosts } from '../costs/costs.ts';
import type { DeviceForecast, Forecast } from '../forecast.ts';
import { withOverheads } from '../memory-forecast.ts';
import { usualSpotHours } from '../formulas/money.ts';
import { dataParallel } from '../formulas/parallel.ts';
import type { MachineDevice } from '../machine.ts';
import { epochSeconds, stepTime, usualLaunch } from '../time-forecast.ts';
import type { DeviceFact, Facts, Range } from './facts.ts';

export interface FromForecast {
  readonly forecast: Forecast;
  readonly catalogue: Catalogue;
  readonly epochs: number;
  readonly rows: number;
  readonly batch: number;
  /** This machine's CPU. */
  readonly cpu: DeviceFact;
  readonly gpu?: DeviceFact;
  /** USD a kWh. */
  readonly tariff: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function factsOf({ forecast, catalogue, epochs, rows, batch, cpu, gpu, tariff, now }: FromForecast): Facts {
  const { memory, costs, devices, remedies } = forecast;
  const rowsOf = new Map(catalogue.devices.map((device) => [device.id, device]));
  const forecasts = new Map(devices.map((device) => [device.id, device]));
  const others = [...rowsOf.values()].flatMap((device) => {
    const found = forecasts.get(device.id);
    // The processor of a computer is not bought for training; it is what stands here.
    if (device.kind === 'cpu' || (found === undefined && device.use === 'training')) return [];
    return [deviceFact(device, found, epochs, catalogue, now)];
  });
  const fast = others
    .filter((device) => device.kind === 'gpu' && device.use === 'training' && !device.doubtful)
    .toSorted((a, b) => a.seconds.middle - b.seconds.middle)[0];
  const { parameters, gradients, optimizer } = memory;
  return {
    model: 'network',
    rows,
    cpu,
    gpu,
    others,
    memoryNeeded: withOverheads(memory.total).low,
    stateBytes: parameters + gradients + optimizer,
    checkpointMinutes: (parameters + optimizer) / diskRate / 60,
    hoursBetweenInterruptions: usualSpotHours,
    savings: remedies.map(({ name, saves, time }) => ({ name, bytes: saves, timeFactor: time })),
    stepFlops: costs.flopsPerExample * batch,
    batch,
    efficiencies: fast && efficienciesOf(fast.seconds.middle / epochs / (rows / batch), costs),
    tariff,
  };
}

/** What a disk in a data centre takes, bytes/s. */
const diskRate = 1e9;
/** Bus bandwidth of cards on PCIe of generation 4, bytes/s. */
const pcie = 20e9;
const mostDevices = 8;
/** What adding up waits for, whatever the size: seconds a hop of the ring (NCCL between cards of one box). */
const hop = 5e-6;

/** Of 1, 2, … devices in a box that take `step` seconds alone. Gradients are added up, and each device starts all calls by itself. */
function efficienciesOf(step: number, { parameterBytes, calls }: ModelCosts): readonly number[] {
  const starts = Math.min(1, (calls.length * usualLaunch.gpu) / step);
  return dataParallel(
    { compute: step, serial: starts, gradientBytes: parameterBytes, bandwidth: pcie, latency: hop },
    mostDevices,
  ).map(({ efficiency }) => efficiency);
}

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
  return { low: low * epochs, middle: Math.sqrt(low * high) * epochs, high: high * epochs };
}

function deviceFact(
  device: Device,
  found: DeviceForecast | undefined,
  epochs: number,
  { offers }: Catalogue,
  now: number,
): DeviceFact {
  const { id, name, kind, use, unified, memory, bandwidth, power, streetPrice, launchPrice, systemPrice } = device;
  const rate = found?.precision === 'mixed16' ? device.fp16 : device.fp32;
  const price = [streetPrice, launchPrice, systemPrice].find(trusted)?.value;
  const [offer] = offers
    .filter((row) => row.device === id && row.count === 1 && trusted(row.onDemand))
    .toSorted((a, b) => a.onDemand.value - b.onDemand.value);
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
  };
}
