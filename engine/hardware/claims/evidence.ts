// What a lab says to a claim: the devices of a machine, and their best or nearest measurements.

import type { LabDevice, LabResult, Sample, Spread } from '../../protocol/lab.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';

export interface Evidence {
  readonly lab: LabResult | null;
  readonly catalogue: Catalogue;
  /** Watts while training, where they are known. */
  readonly watts?: { readonly cpu: number; readonly gpu: number };
}

/** The CPU with all threads. */
export const cpuOf = (lab: LabResult | null): LabDevice | undefined =>
  lab?.devices.find(({ id }) => id === 'cpu') ?? lab?.devices.find(({ kind }) => kind === 'cpu');

/** The first GPU that is one: an adapter in software decides nothing. */
export const gpuOf = (lab: LabResult | null): LabDevice | undefined =>
  lab?.devices.find(({ kind, software }) => kind === 'gpu' && !software);

export const best = (samples: readonly Sample[]): number =>
  samples.reduce((most, { value }) => Math.max(most, value.median), 0);

/** The sample whose size is nearest, by ratio; `undefined` where there is none within a factor 4. */
export function nearest(samples: readonly Sample[], at: number): Sample | undefined {
  const distance = (sample: Sample): number => Math.abs(Math.log(sample.at / at));
  const [first] = [...samples].sort((a, b) => distance(a) - distance(b));
  return first !== undefined && distance(first) <= Math.log(4) ? first : undefined;
}

/** Sizes both measured, with the ratio of their values. */
export function ratios(over: readonly Sample[], under: readonly Sample[]): { at: number; ratio: number }[] {
  const values = new Map(under.map(({ at, value }) => [at, value.median]));
  return over.flatMap(({ at, value }) => {
    const other = values.get(at);
    return other === undefined || other <= 0 ? [] : [{ at, ratio: value.median / other }];
  });
}

/** Microseconds of a small call. */
export const latency = (device: LabDevice, name: LabDevice['latencies'][number]['name']): number | undefined =>
  device.latencies.find((entry) => entry.name === name)?.microseconds.median;

/** A device as its slow calls, or its quick ones, have it: of rates the low end is slow, of times the high one. */
function atEnd(device: LabDevice, end: 'slow' | 'quick'): LabDevice {
  const at = (spread: Spread, side: 'low' | 'high'): Spread => ({ ...spread, median: spread[side] });
  const rate = (spread: Spread): Spread => at(spread, end === 'slow' ? 'low' : 'high');
  const time = (spread: Spread): Spread => at(spread, end === 'slow' ? 'high' : 'low');
  const rates = (samples: readonly Sample[]): Sample[] =>
    samples.map((sample) => ({ ...sample, value: rate(sample.value) }));
  return {
    ...device,
    products: rates(device.products),
    ...(device.products16 ? { products16: rates(device.products16) } : {}),
    copy: rates(device.copy),
    triad: rates(device.triad),
    latencies: device.latencies.map((entry) => ({ ...entry, microseconds: time(entry.microseconds) })),
    workloads: device.workloads.map((entry) => ({ ...entry, milliseconds: time(entry.milliseconds) })),
  };
}

/** The lab as it might have been: each device at the slow or the quick end of its spread, the others at their medians. */
export const endsOf = (lab: LabResult): readonly LabResult[] =>
  lab.devices.flatMap(({ id }) =>
    (['slow', 'quick'] as const).map((end) => ({
      ...lab,
      devices: lab.devices.map((device) => (device.id === id ? atEnd(device, end) : device)),
    })),
  );
