// `bench`: times the benchmark workloads on this machine, if wanted against other programs in the same run. Rounds alternate
// between ours and theirs, because shared machines drift. The suite `tables` (trees) is bench-tables.ts.

import { createCpuBackend } from '../../../engine/backends/cpu/backend.ts';
import type { Backend, DevicePeaks } from '../../../engine/backends/backend.ts';
import { describeCpu } from '../../../engine/backends/cpu/describe.ts';
import { createWebgpuBackend } from '../../../engine/backends/webgpu/backend.ts';
import { measurePeaks as measureGpuPeaks } from '../../../engine/backends/webgpu/probe.ts';
import { workloadOfRun } from '../../../engine/bench/profiler.ts';
import { leastOf, measurePeaks, workOf, type Peaks } from '../../../engine/bench/profile.ts';
import { tableTasks, usualTableRows } from '../../../engine/bench/tables.ts';
import type { Workload } from '../../../engine/bench/workload.ts';
import { workloads } from '../../../engine/bench/workloads.ts';
import { callCosts } from '../../../engine/hardware/costs/from-model.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import { readProfiled } from '../../../engine/runs/profiled.ts';
import { about } from '../about.ts';
import {
  choiceOption,
  numberOption,
  runNumber,
  textOption,
  type Command,
  type CommandContext,
  type OptionValues,
} from '../command.ts';
import { openFirstGpu } from '../gpu.ts';
import { checkOutput, writeOutput } from '../output-file.ts';
import { refuseSingleCalls, reportProfiles } from '../profile-report.ts';
import { threadsOption } from '../threads-option.ts';
import { peerVariables } from './bench-peers.ts';
import { compareOne, printRows, type Comparison, type Row, type Shares } from './bench-rows.ts';
import { benchTables } from './bench-tables.ts';

/** A device under test. */
interface Timed extends Pick<Comparison, 'backend' | 'sharesOf'> {
  /** Of a GPU: a row each. */
  readonly peaks?: DevicePeaks;
}

/** Pairs whose median is told. */
const roundsWithPeers = 5;
/** Operations of a unit above which a workload takes too long on a CPU, or on a GPU made of software. */
const tooLarge = { cpu: 2e10, software: 1e9 } as const;

export const bench: Command = {
  ...about.bench,
  positionals: [0, 0],
  options: {
    suite: {
      type: 'string',
      value: 'cpu|gpu|all|tables',
      help: 'devices to time (default cpu); tables: trees, on the CPU',
    },
    only: { type: 'string', value: 'NAME,…', help: `of ${namesOf(workloads)}; of tables ${namesOf(tableTasks)}` },
    threads: { type: 'string', value: 'N', help: 'CPU threads; 0 = as many as pay' },
    peer: {
      type: 'string',
      value: 'COMMAND',
      help: 'a program that times the same workloads; {only} becomes the names',
      multiple: true,
    },
    profile: {
      type: 'boolean',
      help: 'where a training step goes: every call, held against the device at its best (--suite gpu: the GPU)',
    },
    run: {
      type: 'string',
      value: 'RUN',
      help: 'with --profile: the step of this run, by its model and settings, on the device it trained on',
    },
    rows: {
      type: 'string',
      value: 'N',
      help: 'of the suite tables: rows made up (default 100,000; a forest has 20,000 at most)',
    },
    rounds: { type: 'string', value: 'N', help: 'rounds, alternating with the peers (default 5 with a peer, else 1)' },
    out: { type: 'string', value: 'FILE', help: 'keeps the table, with what it was measured on, as JSON' },
  },
  run: async (context) => {
    const { options, output } = context;
    if (options.profile === true) {
      return profile(context);
    }
    if (options.run !== undefined) {
      throw new InputError('usage.run', 'Of a run only the profile is taken.', 'Add --profile.');
    }
    const suite = choiceOption(options, 'suite', ['cpu', 'gpu', 'all', 'tables'] as const) ?? 'cpu';
    const peers = (options.peer ?? []) as readonly string[];
    const rounds =
      numberOption(options, 'rounds', { minimum: 1, whole: true }) ?? (peers.length > 0 ? roundsWithPeers : 1);
    const target = textOption(options, 'out');
    if (target !== undefined) await checkOutput(target, output);
    if (suite === 'tables') {
      const rows = numberOption(options, 'rows', { minimum: 100, whole: true }) ?? usualTableRows;
      const threads = threadsOption(options, output);
      const tasks = chooseNamed(options, tableTasks);
      const table = await benchTables({ tasks, rows, threads, peers, rounds }, output);
      if (target !== undefined) await writeOutput(target, [tableText(table)], output);
      return;
    }
    if (options.rows !== undefined) {
      throw new InputError('usage.rows', 'Only the suite tables has rows to choose.', 'Add --suite tables.');
    }
    const chosen = chooseNamed(options, workloads);
    const devices: Timed[] = [];
    if (suite !== 'gpu') {
      devices.push(timedCpu(threadsOption(options, output)));
    }
    if (suite !== 'cpu') devices.push(await openTimedGpu());
    const rows: Row[] = devices.flatMap(peakRows);
    for (const row of rows) output.event(row);
    const byName = options.only !== undefined;
    for (const workload of chosen) {
      for (const device of devices) {
        if (!byName && isTooLarge(workload, device.backend)) continue;
        const row = await compareOne(workload, { ...device, peers, rounds }, output);
        rows.push(row);
        output.event(row);
      }
    }
    for (const { backend } of devices) await backend.close();
    printRows(output, rows);
    for (const [name, value] of Object.entries(peers.length > 0 ? peerVariables() : {}))
      output.note(`Peers ran with ${name}=${value}, as our own kernels are kept to AVX2.`);
    if (target !== undefined) await writeOutput(target, [tableText(rows)], output);
  },
};

/** `--profile`: of the workloads, or of a run. */
async function profile({ options, output, services }: CommandContext): Promise<void> {
  const other = ['peer', 'rows', 'rounds', 'out'].find((option) => ownValue(options, option) !== undefined);
  if (other !== undefined) {
    throw new InputError('usage.option', `--profile has no use for --${other}.`, 'Leave one of them out.');
  }
  const suite = choiceOption(options, 'suite', ['cpu', 'gpu'] as const);
  const asked = threadsOption(options, output);
  const name = textOption(options, 'run');
  if (name === undefined) {
    const chosen = chooseNamed(options, workloads);
    if (options.only !== undefined) refuseSingleCalls(chosen);
    return reportProfiles(chosen, { threads: asked, gpu: suite === 'gpu' }, output);
  }
  if (options.only !== undefined) {
    throw new InputError('usage.option', '--run and --only exclude each other.', 'Give one of them.');
  }
  const run = await readProfiled(await services.store, runNumber(name));
  const threads = options.threads === undefined ? run.threads : asked;
  const gpu = suite === undefined ? run.gpu : suite === 'gpu';
  return reportProfiles([workloadOfRun(run)], { threads, gpu }, output);
}

function namesOf(named: readonly { readonly name: string }[]): string {
  return named.map(({ name }) => name).join(', ');
}

function chooseNamed<W extends { readonly name: string }>(options: OptionValues, all: readonly W[]): readonly W[] {
  const names = textOption(options, 'only')
    ?.split(',')
    .map((name) => name.trim());
  if (!names) return all;
  return names.map((name) => {
    const found = all.find((workload) => workload.name === name);
    if (found) return found;
    throw new InputError('usage.workload', `There is no workload “${name}”.`, `Workloads: ${namesOf(all)}.`);
  });
}

async function openTimedGpu(): Promise<Timed> {
  const opened = await openFirstGpu();
  const peaks = await measureGpuPeaks(opened);
  const sharesOf = async ({ flops, bytes }: Workload, milliseconds: number): Promise<Shares> =>
    // What lies above one of them is in the caches.
    shares(milliseconds, flops / peaks.gflops / 1e6, bytes / peaks.copyGigabytes / 1e6);
  return { backend: createWebgpuBackend(opened), peaks, sharesOf };
}

/** The CPU, held against its own peaks on as many threads as a workload ran on: measured when the first of them is done. */
function timedCpu(threads: number): Timed {
  const known = new Map<number, Peaks>();
  const peaksOn = async (count: number): Promise<Peaks> => {
    const before = known.get(count);
    if (before !== undefined) return before;
    const backend = createCpuBackend({ threads: count });
    const peaks = await measurePeaks(backend, () => performance.now());
    await backend.close();
    known.set(count, peaks);
    return peaks;
  };
  const backend = createCpuBackend({ threads });
  return {
    backend,
    sharesOf: async ({ programs }, milliseconds, count) => {
      const peaks = await peaksOn(count);
      const calls = programs.map(({ program, times }) => {
        const least = callCosts(program).map((cost) =>
          leastOf({ flops: workOf(cost, backend), bytes: cost.bytes }, peaks),
        );
        const sum = (limit: keyof (typeof least)[number]): number =>
          times * least.reduce((all, call) => all + call[limit], 0);
        return { computing: sum('computing'), memory: sum('memory') };
      });
      const all = (limit: 'computing' | 'memory'): number => calls.reduce((sum, each) => sum + each[limit], 0);
      return shares(milliseconds, all('computing'), all('memory'));
    },
  };
}

function shares(milliseconds: number, computing: number, memory: number): Shares {
  const share = (part: number): number => Number((part / milliseconds).toPrecision(3));
  return { shareOfPeak: share(computing), shareOfCopy: share(memory) };
}

/** The table as a file keeps it. */
function tableText(rows: readonly object[]): string {
  const { name, instructions, cores } = describeCpu();
  const machine = { cpu: name, instructions, cores, node: process.version };
  const measured = new Date().toISOString();
  return `${JSON.stringify({ measured, machine, peerVariables: peerVariables(), rows }, null, 2)}\n`;
}

/** What the device can do at most, as rows of its own. */
function peakRows({ backend, peaks }: Timed): readonly Row[] {
  if (!peaks) return [];
  const row = (workload: string, unit: string, value: number): Row => ({
    workload,
    device: backend.device.kind,
    threads: backend.device.threads,
    unit,
    value: Number(value.toPrecision(4)),
    ...(backend.device.software ? { software: true } : {}),
  });
  return [row('multiply-add peak', 'GFLOP/s', peaks.gflops), row('copy', 'GB/s', peaks.copyGigabytes)];
}

function isTooLarge({ flops }: Workload, { device }: Backend): boolean {
  if (device.kind === 'gpu') return device.software === true && flops > tooLarge.software;
  return flops > tooLarge.cpu;
}
