// What a lab has measured, as a device that steps can be forecast on: rates at the size of each product, bandwidth at the working
// set of each call, the cost of a call; and factors by kind of work, fitted to the training steps that were timed with them.

import type { LabDevice, Sample } from '../protocol/lab.ts';
import type { CallCost, WorkKind } from './costs/costs.ts';
import type { TimedDevice } from './time-forecast.ts';

/** A training step that was timed, in seconds, with its calls. */
export interface TimedStep {
  readonly name: string;
  readonly calls: readonly CallCost[];
  readonly seconds: number;
}

/** `launch`: of what starting a call costs among other calls. */
export type Factors = Readonly<Record<WorkKind | 'launch', number>>;

/**
 * Times as long as the roofline says, before anything is fitted: shapes that are no cubes, edges of images, passes over what the
 * contracts count once. Round numbers, by a look at two processors with AVX-512 (Zen 4 and 5): where it counts, they are fitted.
 */
export const usualFactors: Factors = {
  product: 1.1,
  convolution: 1.1,
  depthwise: 1.1,
  normalisation: 2,
  pooling: 1.5,
  elementwise: 1,
  update: 1.3,
  launch: 1,
};

/** Of devices whose kernels nobody has timed call by call: how many times as long these take beyond the usual factors. */
const unknown: Readonly<Partial<Record<WorkKind, number>>> = {
  depthwise: 6.4,
  pooling: 2.7,
  normalisation: 2,
  elementwise: 1.5,
};

/** Value at `at` between samples, linear in the logarithms of both; beyond them that of the nearest. */
export function valueAt(samples: readonly Sample[], at: number): number {
  const sorted = samples.toSorted((a, b) => a.at - b.at);
  const after = sorted.findIndex((sample) => sample.at >= at);
  if (after === 0) return sorted[0].value.median;
  if (after < 0) return sorted[sorted.length - 1].value.median;
  const [low, high] = [sorted[after - 1], sorted[after]];
  const share = Math.log(at / low.at) / Math.log(high.at / low.at);
  return low.value.median ** (1 - share) * high.value.median ** share;
}

/** Whether a device was measured far enough to forecast with. */
export const isComplete = ({ products, copy }: LabDevice): boolean => products.length > 0 && copy.length > 0;

/** Kernels that do more than copy do not reach the speed of the nearest cache: theirs is at least this working set's. Bytes. */
const leastWorkingSet = 2 ** 20;

/** A product is that fast without its start, of which the lab's own calls had one each: at most so much of a call was its start. */
const mostStart = 2 / 3;

/** FLOP/s of a product of this edge, its start left out. Of the CPU: below the smallest measured one in proportion to the edge. */
function productRate(lab: LabDevice, launch: number, edge: number): number {
  const smallest = Math.min(...lab.products.map(({ at }) => at));
  const known = lab.kind === 'cpu' ? Math.max(edge, smallest) : edge;
  const measured = 1e9 * valueAt(lab.products, known);
  const seconds = (2 * Math.max(known, smallest) ** 3) / measured;
  const rate = measured / (1 - Math.min(mostStart, lab.kind === 'cpu' ? launch / seconds : 0));
  return lab.kind === 'cpu' ? rate * Math.min(1, edge / smallest) : rate;
}

/** Bytes that a call moves there: GPUs store 16 bits where a run asks for it. */
const bytesOn = ({ kind }: LabDevice, { bytes, stored = bytes }: CallCost): number => (kind === 'gpu' ? stored : bytes);

/** Seconds that the measured roofs give a call, its start left out. */
function roofSeconds(lab: LabDevice, call: CallCost): number {
  const { kind, flops, edge, cpu } = call;
  const bytes = bytesOn(lab, call);
  const moving = (amount: number, workingSet: number): number =>
    amount / (1e9 * valueAt(lab.copy, Math.max(leastWorkingSet, workingSet)));
  const memory = moving(bytes, bytes);
  const rate = (side: number): number => productRate(lab, callSeconds(lab), side);
  if (cpu && lab.kind === 'cpu') {
    // Threads that have no piece of their own wait for those that have; fewer pieces than threads are cut up.
    const { pieces = Infinity } = cpu;
    const idle =
      Number.isFinite(pieces) && pieces >= lab.threads ? (Math.ceil(pieces / lab.threads) * lab.threads) / pieces : 1;
    return (
      Math.max((idle * cpu.flops) / rate(cpu.edge), memory) + (cpu.streamed > 0 ? moving(cpu.streamed, cpu.from) : 0)
    );
  }
  const times = lab.kind === 'cpu' ? 1 : (unknown[kind] ?? 1);
  if (kind !== 'product' && kind !== 'convolution' && kind !== 'depthwise') return times * memory;
  // Without its sides: a product of as many operations as a cube of this edge.
  return times * Math.max(flops / rate(edge ?? Math.max(1, Math.cbrt(flops / 2))), memory);
}

/** Seconds that one more call costs. */
export function callSeconds({ latencies, threads }: Pick<LabDevice, 'latencies' | 'threads'>): number {
  const of = (name: string): number =>
    (latencies.find((latency) => latency.name === name)?.microseconds.median ?? 0) / 1e6;
  return of('call') + (threads > 1 ? of('barrier') : 0);
}

/** What a device reached at its best: no call is forecast to do better, whatever factors say. */
function leastSeconds(lab: LabDevice): (call: CallCost) => number {
  const best = (samples: readonly Sample[]): number => 1e9 * Math.max(...samples.map(({ value }) => value.median));
  const [rate, bandwidth] = [best(lab.products), best(lab.copy)];
  // Kernels of the CPU leave out what lies beyond borders: that is no work.
  return (call) => {
    const flops = call.cpu && lab.kind === 'cpu' ? Math.min(call.flops, call.cpu.flops) : call.flops;
    return Math.max(flops / rate, bytesOn(lab, call) / bandwidth);
  };
}

/** The device of a lab with these factors, never beyond its best product and copy. `doubt`: what forecasts were off by where it was tried. */
export function deviceByLab(lab: LabDevice, factors: Factors = usualFactors, doubt = 1.3): TimedDevice {
  const least = leastSeconds(lab);
  return {
    seconds: (call) => Math.max(factors[call.kind] * roofSeconds(lab, call), least(call)),
    launchSeconds: factors.launch * callSeconds(lab),
    doubt,
  };
}

/** How strongly a factor is held at its usual value: as much as this share of a timed step's error. */
const pull = 0.02;
const rounds = 400;

/**
 * The factors that make the forecasts of `steps` least wrong (squares of the logarithms of their ratios), each pulled to its usual
 * value, so that a kind that no step exercises stays there. Coordinate by coordinate with ever smaller steps. A time that is less than
 * the machine's best allows is the fault of no kind: each has at least the seconds of `leastSeconds`.
 */
export function fitFactors(lab: LabDevice, steps: readonly TimedStep[]): Factors {
  const kinds = Object.keys(usualFactors) as (keyof Factors)[];
  const launch = callSeconds(lab);
  const leastOf = leastSeconds(lab);
  const none = (): Record<keyof Factors, number> =>
    Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<keyof Factors, number>;
  const rows = steps.map(({ calls, seconds }) => {
    const [by, least] = [none(), none()];
    for (const call of calls) {
      by[call.kind] += roofSeconds(lab, call);
      least[call.kind] += leastOf(call);
    }
    by.launch = calls.length * launch;
    return { by, least, seconds };
  });
  const logs = Object.fromEntries(kinds.map((kind) => [kind, Math.log(usualFactors[kind])])) as Record<
    keyof Factors,
    number
  >;
  const loss = (): number => {
    const wrong = rows.reduce((sum, { by, least, seconds }) => {
      const found = kinds.reduce((all, kind) => all + Math.max(Math.exp(logs[kind]) * by[kind], least[kind]), 0);
      return sum + Math.log(found / seconds) ** 2;
    }, 0);
    return kinds.reduce((sum, kind) => sum + pull * (logs[kind] - Math.log(usualFactors[kind])) ** 2, wrong);
  };
  let step = 0.5;
  let best = loss();
  for (let round = 0; round < rounds && step > 1e-4; round++) {
    let better = false;
    for (const kind of kinds) {
      for (const move of [step, -step]) {
        logs[kind] += move;
        const now = loss();
        if (now < best) {
          best = now;
          better = true;
        } else logs[kind] -= move;
      }
    }
    if (!better) step /= 2;
  }
  return Object.fromEntries(kinds.map((kind) => [kind, Math.exp(logs[kind])])) as Factors;
}
