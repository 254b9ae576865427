// Where a training step goes: each of its calls timed by itself, in its place in the step, and held against what this device does at
// its best. A GPU tells by its own clock where it can, all calls in one submit; a call that is timed alone pays a submit of its own, which is
// measured among them and taken off.

import type { Backend } from '../backends/backend.ts';
import { measure, quantile } from './measure.ts';
import type { OpenCalls, Workload } from './workload.ts';
import { productWorkload } from './workloads.ts';
import { callCosts } from '../hardware/costs/from-model.ts';
import type { CallCost } from '../hardware/costs/costs.ts';
import type { ProfiledCall, StepProfile } from '../protocol/step-profile.ts';
import { copyProgram, runsOf, stretchesPlan } from '../lab/plans.ts';

/** What a device does at its best, so many threads. */
export interface Peaks {
  /** Of multiply-adds that touch no memory where that can be measured, else of the best product. */
  readonly gflops: number;
  /** GB/s of a copy by its bytes, ascending. */
  readonly copy: readonly { readonly bytes: number; readonly gbPerSecond: number }[];
}

export type CallProfile = CallCost & ProfiledCall;

/** Milliseconds of some calls at the device's best, computing and memory by themselves. */
export function leastOf(
  { flops, bytes }: { readonly flops: number; readonly bytes: number },
  peaks: Peaks,
): Readonly<Record<ProfiledCall['limit'], number>> {
  return { computing: flops / peaks.gflops / 1e6, memory: bytes / bandwidth(peaks, bytes) / 1e6 };
}

const peakProducts = [256, 512, 1024];
/** From what fits the cache of a core to what fits none. */
const peakCopies = Array.from({ length: 6 }, (_, i) => 2 ** (16 + 2 * i));
/** Milliseconds of each size, of a step's calls, and of those of a step that lasts. */
const peakTime = 60;
const callsTime = 1500;
const longestTime = 10_000;
/** Steps whose calls are timed: so many where they are quick, and at least. */
const [usualSteps, leastSteps] = [15, 3];
/** Calls between two empty submits, by which is known what a submit takes. */
const callsAnEmpty = 16;
/** Of the whole step, in milliseconds, after so many that warm it up. */
const [stepTime, leastTimed, warmups] = [500, 5, 3];

/** Best rates of a device, a second's work. */
export async function measurePeaks(backend: Backend, clock: () => number): Promise<Peaks> {
  if (backend.peaks) {
    const { gflops, copyGigabytes } = await backend.peaks();
    return { gflops, copy: [{ bytes: peakCopies[peakCopies.length - 1], gbPerSecond: copyGigabytes }] };
  }
  const rates: number[] = [];
  for (const n of peakProducts) {
    const workload = productWorkload(n);
    const open = await workload.open(backend);
    const { best } = await measure(open, clock, { milliseconds: peakTime });
    rates.push(workload.flops / best / 1e6);
    open.close();
  }
  const programs = peakCopies.map((bytes) => copyProgram(bytes, backend.device.threads));
  const executable = await backend.compile(stretchesPlan(programs));
  const copy: { bytes: number; gbPerSecond: number }[] = [];
  for (const { program, bytes } of programs) {
    const { best } = await measure(runsOf(executable, program), clock, { milliseconds: peakTime, round: 1 });
    copy.push({ bytes, gbPerSecond: bytes / best / 1e6 });
  }
  executable.dispose();
  // What fits a nearer cache comes no slower: so little is copied there that the threads' wait for each other counts.
  for (let i = copy.length - 2; i >= 0; i--) {
    copy[i].gbPerSecond = Math.max(copy[i].gbPerSecond, copy[i + 1].gbPerSecond);
  }
  return { gflops: Math.max(...rates, backend.multiplyAddRate?.(backend.device.threads) ?? 0), copy };
}

/** GB/s that a copy of so many bytes reaches: between two sizes by the logarithm of the bytes, beyond them that of the nearest. */
function bandwidth({ copy }: Peaks, bytes: number): number {
  const after = copy.findIndex((sample) => sample.bytes >= bytes);
  if (after <= 0) return (copy.at(after) ?? copy[0]).gbPerSecond;
  const [low, high] = [copy[after - 1], copy[after]];
  const share = Math.log(bytes / low.bytes) / Math.log(high.bytes / low.bytes);
  return low.gbPerSecond + share * (high.gbPerSecond - low.gbPerSecond);
}

/** Floating-point operations of a call on a device: kernels of the CPU leave out what lies beyond borders, which is no work. */
export const workOf = ({ flops, cpu }: CallCost, { device }: Pick<Backend, 'device'>): number =>
  device.kind === 'cpu' ? Math.min(flops, cpu?.flops ?? Infinity) : flops;

interface ProfileOptions {
  /** Awaited between steps, and not timed. */
  readonly between?: () => Promise<void>;
  /** Share that is done, 0 … 1. */
  readonly onProgress?: (share: number) => void;
}

/** Times each call of a workload's step. Null for a workload that is one call. */
export async function profileStep(
  backend: Backend,
  workload: Pick<Workload, 'name' | 'openCalls'>,
  peaks: Peaks,
  clock: () => number,
  { between = async () => {}, onProgress = () => {} }: ProfileOptions = {},
): Promise<StepProfile<CallProfile> | null> {
  const open = await workload.openCalls?.(backend);
  if (!open) return null;
  try {
    const count = open.program.calls.length;
    const step = await fastestStep(open, clock, between);
    const times: number[][] = Array.from({ length: count + 1 }, () => []);
    const timedCall = async (position: number | null): Promise<number> => {
      const start = clock();
      await open.call(position);
      return clock() - start;
    };
    // The empty submit is timed among the calls: the first after a pause wakes threads and caches, and takes several times as long.
    const alone = async (): Promise<readonly number[]> => {
      const [empty, found]: [number[], number[]] = [[], []];
      await open.call(null);
      for (let i = 0; i < count; i++) {
        if (i % callsAnEmpty === 0) empty.push(await timedCall(null));
        found.push(await timedCall(i));
      }
      return [undisturbed(empty), ...found];
    };
    const begun = clock();
    const enough = (done: number): boolean =>
      done >= leastSteps && clock() >= begun + (done >= usualSteps ? callsTime : longestTime);
    for (let done = 0; !enough(done); done++) {
      (await (open.times ?? alone)()).forEach((time, i) => times[i].push(time));
      const passed = clock() - begun;
      const usual = Math.min(passed / callsTime, (done + 1) / usualSteps);
      // A step that takes longer than all of the time is done when the least of them are.
      onProgress(Math.min(1, Math.max(passed / longestTime, usual), (done + 1) / leastSteps));
      await between();
    }
    // Browsers round timestamps to a tenth of a millisecond or so: only the mean of them is right.
    const [submit, ...each] = times.map(open.times ? mean : undisturbed);
    const own = each.map((time) => Math.max(0, time - submit));
    const all = own.reduce((sum, each) => sum + each, 0);
    const calls = callCosts(open.program).map((cost, i): CallProfile => {
      const { computing, memory } = leastOf({ flops: workOf(cost, backend), bytes: cost.stored ?? cost.bytes }, peaks);
      const limit = computing > memory ? 'computing' : 'memory';
      const share = all > 0 ? own[i] / all : 0;
      return { ...cost, milliseconds: own[i], share, least: Math.max(computing, memory), limit };
    });
    const timed = open.times ? 'by timestamps' : 'one by one';
    return { workload: workload.name, threads: open.threads, timed, step, calls };
  } finally {
    open.close();
  }
}

/** Milliseconds of a step, as many at once as training submits. */
async function fastestStep(open: OpenCalls, clock: () => number, between: () => Promise<void>): Promise<number> {
  for (let i = 0; i < warmups; i++) await open.steps();
  let best = Infinity;
  const end = clock() + stepTime;
  for (let done = 0; done < leastTimed || clock() < end; done++) {
    const start = clock();
    const steps = await open.steps();
    best = Math.min(best, (clock() - start) / steps);
    await between();
  }
  return best;
}

const mean = (times: readonly number[]): number => times.reduce((sum, time) => sum + time, 0) / times.length;

const undisturbed = (times: readonly number[]): number =>
  quantile(
    [...times].sort((a, b) => a - b),
    0.25,
  );
