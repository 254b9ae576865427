// A step taken apart as `bench --profile` and the page of a run show it: on a CPU on one thread or on all, whichever is faster, held
// against what the device does at its best a moment before.

import type { Backend } from '../backends/backend.ts';
import type { MeasuredProfile } from '../protocol/step-profile.ts';
import { measurePeaks, profileStep, type CallProfile, type Peaks } from './profile.ts';
import type { Workload } from './workload.ts';

export interface ProfilingOptions {
  /** The CPU on so many threads, 0 = as many as there are; or a GPU. */
  readonly open: (threads: number) => Promise<Backend>;
  /** 0 = one, or one a core, whichever is faster. */
  readonly threads: number;
  readonly clock: () => number;
  /** Begins to watch other programs; what it returns says how many processors they used since, null where nobody knows. */
  readonly watchOthers?: () => () => number | null;
  readonly processors: number;
  /** Share of all that is done, 0 … 1, and the workload that is under way. */
  readonly onProgress: (share: number, workload: string) => void;
  readonly between?: () => Promise<void>;
}

/** Share of a device's time that its best rates take. */
const peaksShare = 0.25;

/** Every workload whose step can be taken apart, in their order; `found` is told each. */
export async function profileWorkloads(
  workloads: readonly Pick<Workload, 'name' | 'openCalls'>[],
  options: ProfilingOptions,
  found: (profile: MeasuredProfile<CallProfile>) => Promise<void>,
): Promise<void> {
  const { open, clock, between, onProgress } = options;
  const steps = workloads.filter(({ openCalls }) => openCalls);
  const devices: { readonly backend: Backend; readonly peaks: Peaks }[] = [];
  const others = options.watchOthers?.();
  try {
    const whole = (part: number): number => part / Math.max(1, steps.length);
    const first = await open(options.threads);
    const { kind, name } = first.device;
    const counts = options.threads > 0 ? [first.device.threads] : [...new Set([1, first.device.threads])];
    await first.close();
    for (const [i, threads] of counts.entries()) {
      onProgress(whole((peaksShare * i) / counts.length), steps[0]?.name ?? '');
      const backend = await open(threads);
      devices.push({ backend, peaks: noPeaks });
      devices[i] = { backend, peaks: await measurePeaks(backend, clock) };
    }
    for (const [w, workload] of steps.entries()) {
      let best: MeasuredProfile<CallProfile> | null = null;
      for (const [d, { backend, peaks }] of devices.entries()) {
        const told = (share: number): void => {
          const done = (d + share) / devices.length;
          onProgress(whole(w + (w === 0 ? peaksShare + (1 - peaksShare) * done : done)), workload.name);
        };
        told(0);
        const profile = await profileStep(backend, workload, peaks, clock, { between, onProgress: told });
        if (!profile || (best && best.step <= profile.step)) continue;
        best = { ...profile, gpu: kind === 'gpu' ? name : null, peakGflops: peaks.gflops, others: null };
      }
      const busy = others?.() ?? null;
      if (best) await found({ ...best, others: busy === null ? null : { busy, processors: options.processors } });
    }
  } finally {
    for (const { backend } of devices) await backend.close();
  }
}

const noPeaks: Peaks = { gflops: 0, copy: [] };
