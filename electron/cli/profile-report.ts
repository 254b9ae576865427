// `bench --profile`: where a training step goes, as tables by kernel and by call, or one object a call.

import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import type { Workload } from '../../engine/bench/workload.ts';
import {
  groupCalls,
  measurePeaks,
  profileStep,
  type ProfileGroup,
  type StepProfile,
} from '../../engine/bench/profile.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { formatNumber, type Column, type Output } from './output.ts';

/** Calls shown to people; all of them with --json. */
const shownCalls = 15;

const clock = (): number => performance.now();

/** Profiles the training steps among `workloads`, on so many threads; 0: one, or one a core, whichever is faster for each. */
export async function profileWorkloads(
  workloads: readonly Workload[],
  threads: number,
  byName: boolean,
  output: Output,
): Promise<void> {
  const steps = workloads.filter(({ openCalls }) => openCalls);
  const one = workloads.find(({ openCalls }) => !openCalls);
  if (byName && one) {
    throw new InputError('usage.profile', `${one.name} is one call: there is nothing to take apart.`, 'Leave it out.');
  }
  const all = createCpuBackend();
  const counts = threads > 0 ? [threads] : [...new Set([1, all.device.threads])];
  await all.close();
  const devices = await Promise.all(counts.map(async (count) => createCpuBackend({ threads: count })));
  try {
    const peaks = [];
    for (const device of devices) peaks.push(await measurePeaks(device, clock));
    for (const [i, workload] of steps.entries()) {
      output.bar(i / steps.length, `${workload.name}, call by call`);
      let best: StepProfile | null = null;
      let at = 0;
      for (const [d, device] of devices.entries()) {
        const found = await profileStep(device, workload, peaks[d], clock);
        if (!found || (best && best.step <= found.step)) continue;
        [best, at] = [found, d];
      }
      output.clearBar();
      if (best) await report(best, peaks[at].gflops, output);
    }
  } finally {
    for (const device of devices) await device.close();
  }
}

async function report(profile: StepProfile, peak: number, output: Output): Promise<void> {
  const { workload, threads, step, calls } = profile;
  const sum = calls.reduce((all, { milliseconds }) => all + milliseconds, 0);
  const least = calls.reduce((all, call) => all + call.least, 0);
  output.event({ workload, threads, step, calls: calls.length, sum, least, peakGflops: peak });
  await output.events(
    calls.map(({ layer, phase, kernel, milliseconds, share, flops, bytes, least: best, limit }, call) => ({
      ...{ workload, threads, call, layer, phase, kernel, milliseconds, share },
      ...{ gflops: rate(flops, milliseconds), gbPerSecond: rate(bytes, milliseconds), least: best, limit },
    })),
  );
  output.line(
    `${workload}: ${time(step)} a step on ${threads === 1 ? 'one thread' : `${threads} threads`}; ${calls.length} calls take ` +
      `${time(sum)} one by one, ${time(least)} at this CPU’s best (${shown(peak)} GFLOP/s).`,
  );
  output.line();
  output.table(
    groupCalls(calls, ({ kernel }) => kernel),
    [
      { title: 'kernel', value: ({ name }) => name },
      { title: 'calls', value: ({ calls: n }) => `${n}`, right: true },
      ...figures,
    ],
  );
  output.line();
  const single = calls.map(
    (call) => groupCalls([call], ({ layer, phase, kernel }) => `${layer} ${phase}: ${kernel}`)[0],
  );
  const costly = calls
    .map(({ share, limit }, i) => ({ ...single[i], share, limit }))
    .sort((a, b) => b.milliseconds - a.milliseconds)
    .slice(0, shownCalls);
  output.table(costly, [
    { title: 'call', value: ({ name }) => name },
    ...figures,
    { title: 'held back by', value: ({ limit }) => limit },
  ]);
  if (calls.length > shownCalls) output.line(`… and ${calls.length - shownCalls} more calls.`);
  output.line();
}

const rate = (amount: number, milliseconds: number): number | null =>
  milliseconds > 0 ? Number((amount / milliseconds / 1e6).toPrecision(4)) : null;

/** `0.0271`, `45.2`, `1,410`: three digits. */
const shown = (value: number | null): string =>
  value === null ? '–' : value >= 1000 ? formatNumber(Math.round(value)) : String(Number(value.toPrecision(3)));

const time = (milliseconds: number): string =>
  milliseconds < 0.1 ? `${shown(1000 * milliseconds)} µs` : `${shown(milliseconds)} ms`;

/** Below this a call is as long as the clock is exact. Milliseconds. */
const tooShort = 1e-4;

const figures: readonly Column<ProfileGroup>[] = [
  { title: 'time', value: ({ milliseconds }) => time(milliseconds), right: true },
  { title: 'share', value: ({ share }) => `${(100 * share).toFixed(1)} %`, right: true },
  { title: 'GFLOP/s', value: ({ flops, milliseconds }) => shown(rate(flops, milliseconds)), right: true },
  { title: 'GB/s', value: ({ bytes, milliseconds }) => shown(rate(bytes, milliseconds)), right: true },
  {
    title: 'of its best',
    value: ({ least, milliseconds }) =>
      milliseconds > tooShort ? `${Math.round((100 * least) / milliseconds)} %` : '–',
    right: true,
  },
];
