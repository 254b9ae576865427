// What a lab says to a claim: the devices of a machine, and their best or nearest measurements.

import type { LabDevice, LabResult, Sample } from '../../protocol/lab.ts';
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
