// Where a training step goes: each of its calls timed by itself, in its place in the step, and held against what this device does at
// its best. A call that is timed alone pays a submit of its own, which is measured and taken off.

import type { Backend } from '../backends/backend.ts';
import { measure, quantile } from './measure.ts';
import type { Workload } from './workload.ts';
import { productWorkload } from './workloads.ts';
import { callCosts } from '../hardware/costs/from-model.ts';
import type { CallCost } from '../hardware/costs/costs.ts';
import { copyProgram, runsOf, stretchesPlan } from '../lab/plans.ts';

/** What a device does at its best, so many threads. */
export interface Peaks {
  /** Of the best product. */
  readonly gflops: number;
  /** GB/s of a copy by its bytes, ascending. */
  readonly copy: readonly { readonly bytes: number; readonly gbPerSecond: number }[];
}

export interface CallProfile extends CallCost {
  /** In the quarter of the steps that was disturbed least: a submit of its own is taken off. */
  readonly milliseconds: number;
  /** Of all calls' time. */
  readonly share: number;
  /** What its work takes at the device's best. */
  readonly least: number;
  /** Which of the two holds it back there. */
  readonly limit: 'computing' | 'memory';
}

export interface StepProfile {
  readonly workload: string;
  readonly threads: number;
  /** Milliseconds of the whole step, run as training does, at its best. */
  readonly step: number;
  /** In their order. */
  readonly calls: readonly CallProfile[];
}

/** Calls by what they have in common: their number, milliseconds, least milliseconds, and work. */
export interface ProfileGroup {
  readonly name: string;
  readonly calls: number;
  readonly milliseconds: number;
  readonly share: number;
  readonly least: number;
  readonly flops: number;
  readonly bytes: number;
}

const peakProducts = [256, 512, 1024];
/** From what fits the cache of a core to what fits none. */
const peakCopies = Array.from({ length: 6 }, (_, i) => 2 ** (16 + 2 * i));
/** Milliseconds of each size, and of a step. */
const peakTime = 60;
const stepTime = 1500;
const leastSteps = 15;

/** Best rates of a device, a second's work. */
export async function measurePeaks(backend: Backend, clock: () => number): Promise<Peaks> {
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
  return { gflops: Math.max(...rates), copy };
}

/** GB/s that a copy of so many bytes reaches: between two sizes by the logarithm of the bytes, beyond them that of the nearest. */
function bandwidth({ copy }: Peaks, bytes: number): number {
  const after = copy.findIndex((sample) => sample.bytes >= bytes);
  if (after <= 0) return (copy.at(after) ?? copy[0]).gbPerSecond;
  const [low, high] = [copy[after - 1], copy[after]];
  const share = Math.log(bytes / low.bytes) / Math.log(high.bytes / low.bytes);
  return low.gbPerSecond + share * (high.gbPerSecond - low.gbPerSecond);
}

/** Times each call of a workload's step. Null for a workload that is one call. */
export async function profileStep(
  backend: Backend,
  workload: Workload,
  peaks: Peaks,
  clock: () => number,
  between: () => Promise<void> = async () => {},
): Promise<StepProfile | null> {
  const open = await workload.openCalls?.(backend);
  if (!open) return null;
  try {
    const count = open.program.calls.length;
    const { best: step } = await measure({ run: open.step }, clock, { milliseconds: stepTime / 3, between });
    const times: number[][] = Array.from({ length: count }, () => []);
    const submits: number[] = [];
    const timed = async (position: number | null): Promise<number> => {
      const start = clock();
      await open.call(position);
      return clock() - start;
    };
    const end = clock() + stepTime;
    for (let done = 0; done < leastSteps || clock() < end; done++) {
      submits.push(await timed(null));
      for (let i = 0; i < count; i++) times[i].push(await timed(i));
      await between();
    }
    const submit = undisturbed(submits);
    const own = times.map((each) => Math.max(0, undisturbed(each) - submit));
    const all = own.reduce((sum, each) => sum + each, 0);
    const calls = callCosts(open.program).map((cost, i): CallProfile => {
      // Kernels of the CPU leave out what lies beyond borders: that is no work.
      const flops = backend.device.kind === 'cpu' ? Math.min(cost.flops, cost.cpu?.flops ?? Infinity) : cost.flops;
      const [computing, memory] = [flops / peaks.gflops / 1e6, cost.bytes / bandwidth(peaks, cost.bytes) / 1e6];
      const limit = computing > memory ? 'computing' : 'memory';
      return { ...cost, milliseconds: own[i], share: own[i] / all, least: Math.max(computing, memory), limit };
    });
    return { workload: workload.name, threads: open.threads, step, calls };
  } finally {
    open.close();
  }
}

/** Calls put together, those with most time first. */
export function groupCalls(
  calls: readonly CallProfile[],
  nameOf: (call: CallProfile) => string,
): readonly ProfileGroup[] {
  const groups = new Map<string, ProfileGroup>();
  for (const call of calls) {
    const name = nameOf(call);
    const { calls: number = 0, milliseconds = 0, share = 0, least = 0, flops = 0, bytes = 0 } = groups.get(name) ?? {};
    groups.set(name, {
      name,
      calls: number + 1,
      milliseconds: milliseconds + call.milliseconds,
      share: share + call.share,
      least: least + call.least,
      flops: flops + call.flops,
      bytes: bytes + call.bytes,
    });
  }
  return [...groups.values()].sort((a, b) => b.milliseconds - a.milliseconds);
}

const undisturbed = (times: readonly number[]): number =>
  quantile(
    [...times].sort((a, b) => a - b),
    0.25,
  );
