// `bench --profile`: where a training step goes, as tables by kernel and by call, or one object a call.

import type { CallProfile } from '../../engine/bench/profile.ts';
import { profileWorkloads } from '../../engine/bench/profiling.ts';
import type { Workload } from '../../engine/bench/workload.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import {
  callColumns,
  disturbanceText,
  heldBackBy,
  kernelColumns,
  kernelsOf,
  profileText,
  rateOf,
  type MeasuredProfile,
} from '../../engine/protocol/step-profile.ts';
import { openGpuBackend } from './gpu.ts';
import { nodeProfiling } from '../hosts/profiler.ts';
import type { Output } from './output.ts';

/** Calls shown to people; all of them with --json. */
const shownCalls = 15;

/** Throws InputError `usage.profile` for a workload that is one call. */
export function refuseSingleCalls(workloads: readonly Workload[]): void {
  const one = workloads.find(({ openCalls }) => !openCalls);
  if (!one) return;
  throw new InputError('usage.profile', `${one.name} is one call: there is nothing to take apart.`, 'Leave it out.');
}

/** Profiles the training steps among `workloads`, on a GPU or on so many threads; 0: one, or one a core, whichever is faster for each. */
export async function reportProfiles(
  workloads: readonly Pick<Workload, 'name' | 'openCalls'>[],
  { threads, gpu }: { readonly threads: number; readonly gpu: boolean },
  output: Output,
): Promise<void> {
  // What other programs use of a GPU nobody tells.
  const device = gpu ? { ...nodeProfiling, open: openGpuBackend, watchOthers: undefined } : nodeProfiling;
  const onProgress = (share: number, workload: string): void => output.bar(share, `${workload}, call by call`);
  await profileWorkloads(workloads, { ...device, threads, onProgress }, async (profile) => {
    output.clearBar();
    await report(profile, output);
  });
}

async function report(profile: MeasuredProfile<CallProfile>, output: Output): Promise<void> {
  const { workload, threads, timed, step, calls, gpu, peakGflops, others } = profile;
  const sum = calls.reduce((all, { milliseconds }) => all + milliseconds, 0);
  const least = calls.reduce((all, call) => all + call.least, 0);
  output.event({ workload, threads, gpu, timed, step, calls: calls.length, sum, least, peakGflops, others });
  await output.events(
    calls.map((each, call) => {
      const { layer, phase, kernel, milliseconds, share, flops, bytes, least: best, limit } = each;
      return {
        ...{ workload, threads, call, layer, phase, kernel, milliseconds, share },
        ...{ gflops: rateOf(flops, milliseconds), gbPerSecond: rateOf(bytes, milliseconds), least: best, limit },
        heldBackBy: heldBackBy(each),
      };
    }),
  );
  output.line(`${workload}: ${profileText(profile)}`);
  const disturbance = disturbanceText(profile);
  if (disturbance !== null) output.note(`! ${disturbance}`);
  output.line();
  output.table(kernelsOf(profile), kernelColumns);
  output.line();
  const costly = [...calls].sort((a, b) => b.milliseconds - a.milliseconds).slice(0, shownCalls);
  output.table(costly, callColumns);
  if (calls.length > shownCalls) output.line(`… and ${calls.length - shownCalls} more calls.`);
  output.line();
}
