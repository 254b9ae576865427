// A few rates of a device in a few seconds, in the shape of a lab's result: for forecasts that have to be tried now (the crossover of
// a model, the forecast bench). All figures are taken in turns, round after round, so that a noisy machine disturbs all alike.

import type { Backend, Executable } from '../backends/backend.ts';
import { fitFactors, type Factors, type TimedStep } from '../hardware/calibration.ts';
import { callCosts } from '../hardware/costs/from-model.ts';
import type { Call, Plan } from '../plan/plan.ts';
import type { LabDevice, Spread } from '../protocol/lab.ts';
import { productWorkload, workloads, type OpenWorkload, type Workload } from './workloads.ts';

export interface Interleaving {
  readonly clock: () => number;
  /** Times each is measured. */
  readonly rounds: number;
  /** Milliseconds of one measurement at least. */
  readonly roundMilliseconds: number;
  /** Which of the times, sorted, stands for all: 0.5 by default, the median; 0, the least, where others use the machine. */
  readonly quantile?: number;
}

/** Milliseconds of a unit of each, measured in turns. */
export async function interleaved(
  opened: readonly Pick<OpenWorkload, 'run'>[],
  { clock, rounds, roundMilliseconds, quantile }: Interleaving,
): Promise<readonly Spread[]> {
  const time = async (workload: Pick<OpenWorkload, 'run'>, units: number): Promise<number> => {
    const start = clock();
    await workload.run(units);
    return (clock() - start) / units;
  };
  const units: number[] = [];
  for (const workload of opened) {
    let count = 1;
    for (let i = 0; i < 3; i++) {
      const milliseconds = Math.max(1e-4, await time(workload, count));
      count = Math.max(1, Math.min(10_000, Math.round(roundMilliseconds / milliseconds)));
    }
    units.push(count);
  }
  const times: number[][] = opened.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, workload] of opened.entries()) times[i].push(await time(workload, units[i]));
  }
  return times.map((values) => spreadOf(values, quantile));
}

export function spreadOf(values: readonly number[], quantile = 0.5): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))];
  return { median: at(quantile), low: at(Math.min(0.05, quantile)), high: at(0.95), calls: sorted.length };
}

const productSizes = [16, 32, 64, 128, 256, 512];
const copyBytes = [2 ** 15, 2 ** 18, 2 ** 21, 2 ** 24, 2 ** 26];
/** Small calls of the program that tells what one more costs, and their elements. */
const [manyCalls, smallElements] = [64, 64];

/** Adds pairs of numbers: three arrays of `bytes` in all, or `calls` small ones. */
async function openAdds(backend: Backend, bytes: number, calls = 1): Promise<Pick<OpenWorkload, 'run' | 'close'>> {
  const elements = Math.max(smallElements, Math.floor(bytes / 12));
  const place = (slot: number) => ({ slot, offset: 0, shape: [elements] });
  const call: Call = {
    kernel: 'add',
    inputs: [place(0), place(1)],
    outputs: [place(2)],
    params: { count: elements },
  };
  const stepCapacity = 64;
  const plan: Plan = {
    slots: ['a', 'b', 'c'].map((label, id) => ({ id, label, elements, type: 'f32', kind: 'persistent' })),
    tensors: Object.fromEntries(
      ['a', 'b', 'c'].map((name, slot) => [name, { slot, offset: 0, shape: [elements], type: 'f32' as const }]),
    ),
    programs: {
      add: { name: 'add', batch: 1, calls: Array.from({ length: calls }, () => call), flops: elements * calls, bytes },
    },
    stepCapacity,
    checkpoint: [],
  };
  const executable: Executable = await backend.compile(plan);
  return {
    run: async (units = 1) => {
      for (let done = 0; done < units; done += stepCapacity) {
        await executable.run('add', Math.min(stepCapacity, units - done));
      }
      await executable.read('c', 0, 1);
    },
    close: () => executable.dispose(),
  };
}

export interface QuickLab {
  readonly lab: LabDevice;
  /** Of the training workloads that were timed with it. */
  readonly steps: readonly TimedStep[];
  readonly factors: Factors;
}

/** The calls of a unit of a workload. */
export function callsOf({ programs }: Workload): TimedStep['calls'] {
  return programs.flatMap(({ program, times }) => Array.from({ length: times }, () => callCosts(program)).flat());
}

/** Measures a device, and the training workloads of these names on it. */
export async function quickLab(
  backend: Backend,
  id: string,
  timing: Interleaving,
  names: readonly string[] = ['tabular-mlp', 'mlp', 'mnist-cnn', 'resnet20'],
): Promise<QuickLab> {
  const { device } = backend;
  const open = async (name: string): Promise<OpenWorkload> =>
    workloads.find((workload) => workload.name === name)!.open(backend);
  const products = await Promise.all(productSizes.map((n) => productWorkload(n).open(backend)));
  const arrays = await Promise.all(copyBytes.map((bytes) => openAdds(backend, bytes)));
  const few = await Promise.all([1, 1 + manyCalls].map((calls) => openAdds(backend, 12 * smallElements, calls)));
  const training = await Promise.all(names.map(open));
  const all = [...products, ...arrays, ...few, ...training];
  const times = await interleaved(all, timing);
  for (const opened of all) opened.close();
  const rate = (work: number, { median, low, high, calls }: Spread): Spread => ({
    median: work / median / 1e6,
    low: work / high / 1e6,
    high: work / low / 1e6,
    calls,
  });
  const copy = copyBytes.map((bytes, i) => ({ at: bytes, value: rate(bytes, times[products.length + i]) }));
  const [one, more] = times.slice(products.length + arrays.length);
  const microseconds = Math.max(0.01, (1000 * (more.median - one.median)) / manyCalls);
  const latency = { median: microseconds, low: microseconds, high: microseconds, calls: one.calls };
  const trained = times.slice(products.length + arrays.length + few.length);
  const lab: LabDevice = {
    id,
    kind: device.kind === 'gpu' ? 'gpu' : 'cpu',
    name: device.name,
    threads: 1,
    software: device.software ?? false,
    products: productSizes.map((n, i) => ({ at: n, value: rate(2 * n ** 3, times[i]) })),
    copy,
    triad: copy,
    latencies: [{ name: 'call', microseconds: latency }],
    workloads: names.map((name, i) => ({
      name,
      unit: workloads.find((workload) => workload.name === name)!.unit,
      milliseconds: trained[i],
    })),
  };
  const steps = names.map((name, i): TimedStep => ({
    name,
    calls: callsOf(workloads.find((workload) => workload.name === name)!),
    seconds: trained[i].median / 1000,
  }));
  return { lab: { ...lab, threads: device.threads }, steps, factors: fitFactors(lab, steps) };
}
