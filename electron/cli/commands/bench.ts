// `bench`: times the benchmark workloads on this machine, if wanted against other programs in the same run. Rounds alternate
// between ours and theirs, because shared machines drift. The suite `tables` (trees) is bench-tables.ts.

import { createCpuBackend } from '../../../engine/backends/cpu/backend.ts';
import type { Backend } from '../../../engine/backends/backend.ts';
import { createWebgpuBackend } from '../../../engine/backends/webgpu/backend.ts';
import { type DevicePeaks, measurePeaks } from '../../../engine/backends/webgpu/probe.ts';
import { measure } from '../../../engine/bench/measure.ts';
import { tableTasks, usualTableRows } from '../../../engine/bench/tables.ts';
import type { Workload } from '../../../engine/bench/workload.ts';
import { workloads } from '../../../engine/bench/workloads.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import { readProfiled } from '../../../engine/runs/profiled.ts';
import { workloadOfRun } from '../../hosts/profiler.ts';
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
import { formatNumber, type Output } from '../output.ts';
import { refuseSingleCalls, reportProfiles } from '../profile-report.ts';
import { threadsOption } from '../threads-option.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import { median, runPeer } from './bench-peers.ts';
import { benchTables } from './bench-tables.ts';

interface Row {
  readonly workload: string;
  readonly device: string;
  readonly threads: number;
  readonly unit: string;
  /** Best milliseconds, as the baselines report; median over rounds when there are several. */
  readonly value: number;
  readonly gflops?: number;
  readonly software?: boolean;
  /** Of the device's measured multiply-add rate, and of its measured copying rate; GPU only. */
  readonly shareOfPeak?: number;
  readonly shareOfCopy?: number;
  /** value of each peer / ours. */
  readonly ratios?: Readonly<Record<string, number>>;
}

/** A device under test. */
interface Timed {
  readonly backend: Backend;
  readonly peaks?: DevicePeaks;
}

/** A GPU's work is timed in rounds this long, because waiting for it costs a few milliseconds. */
const gpuRoundMilliseconds = 100;
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
    profile: { type: 'boolean', help: 'where a training step goes: every call, held against this CPU at its best' },
    run: { type: 'string', value: 'RUN', help: 'with --profile: the step of this run, by its model and settings' },
    rows: {
      type: 'string',
      value: 'N',
      help: 'of the suite tables: rows made up (default 100,000; a forest has 20,000 at most)',
    },
    rounds: { type: 'string', value: 'N', help: 'rounds, alternating with the peers (default 3 with a peer, else 1)' },
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
    const rounds = numberOption(options, 'rounds', { minimum: 1, whole: true }) ?? (peers.length > 0 ? 3 : 1);
    if (suite === 'tables') {
      const rows = numberOption(options, 'rows', { minimum: 100, whole: true }) ?? usualTableRows;
      const threads = threadsOption(options, output);
      return benchTables({ tasks: chooseNamed(options, tableTasks), rows, threads, peers, rounds }, output);
    }
    if (options.rows !== undefined) {
      throw new InputError('usage.rows', 'Only the suite tables has rows to choose.', 'Add --suite tables.');
    }
    const chosen = chooseNamed(options, workloads);
    const devices: Timed[] = [];
    if (suite !== 'gpu') {
      devices.push({ backend: createCpuBackend({ threads: threadsOption(options, output) }) });
    }
    if (suite !== 'cpu') devices.push(await openTimedGpu());
    const rows: Row[] = devices.flatMap(peakRows);
    for (const row of rows) output.event(row);
    const byName = options.only !== undefined;
    for (const workload of chosen) {
      for (const device of devices) {
        if (!byName && isTooLarge(workload, device.backend)) continue;
        const row = await compareOne(workload, device, peers, rounds, output);
        rows.push(row);
        output.event(row);
      }
    }
    for (const { backend } of devices) await backend.close();
    if (!output.json) print(output, rows);
  },
};

/** `--profile`: of the workloads, or of a run. */
async function profile({ options, output, services }: CommandContext): Promise<void> {
  const asked = threadsOption(options, output);
  const name = textOption(options, 'run');
  if (name === undefined) {
    const chosen = chooseNamed(options, workloads);
    if (options.only !== undefined) refuseSingleCalls(chosen);
    return reportProfiles(chosen, asked, output);
  }
  if (options.only !== undefined) {
    throw new InputError('usage.option', '--run and --only exclude each other.', 'Give one of them.');
  }
  const run = await readProfiled(await services.store, runNumber(name));
  return reportProfiles([workloadOfRun(run)], options.threads === undefined ? run.threads : asked, output);
}

function namesOf(named: readonly { readonly name: string }[]): string {
  return named.map(({ name }) => name).join(', ');
}

function chooseNamed<W extends { readonly name: string }>(options: OptionValues, all: readonly W[]): readonly W[] {
  const names = textOption(options, 'only')?.split(',');
  if (!names) return all;
  return names.map((name) => {
    const found = all.find((workload) => workload.name === name);
    if (found) return found;
    throw new InputError('usage.workload', `There is no workload “${name}”.`, `Workloads: ${namesOf(all)}.`);
  });
}

async function openTimedGpu(): Promise<Timed> {
  const opened = await openFirstGpu();
  const peaks = await measurePeaks(opened);
  return { backend: createWebgpuBackend(opened), peaks };
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

async function compareOne(
  workload: Workload,
  { backend, peaks }: Timed,
  peers: readonly string[],
  rounds: number,
  output: Output,
): Promise<Row> {
  const ours: number[] = [];
  const theirs = new Map<string, number[]>();
  let threads = 1;
  const roundMilliseconds = backend.device.kind === 'gpu' ? gpuRoundMilliseconds : 0;
  for (let round = 0; round < rounds; round++) {
    output.bar(round / rounds, `${workload.name} on ${backend.device.name}`);
    const open = await workload.open(backend);
    threads = open.threads;
    ours.push((await measure(open, () => performance.now(), { round: roundMilliseconds })).best);
    open.close();
    for (const command of peers) {
      for (const { peer, value } of await runPeer(command, workload.name)) {
        theirs.set(peer, [...(theirs.get(peer) ?? []), value]);
      }
    }
  }
  output.clearBar();
  const value = median(ours);
  const ratios = [...theirs].map(([peer, values]) => [peer, Number((median(values) / value).toFixed(2))] as const);
  return {
    workload: workload.name,
    device: backend.device.kind,
    threads,
    unit: workload.unit,
    value: Number(value.toPrecision(5)),
    gflops: Number((workload.flops / value / 1e6).toPrecision(4)),
    ...(peaks ? shares(workload, value, peaks) : {}),
    ...(backend.device.software ? { software: true } : {}),
    ...(ratios.length > 0 ? { ratios: Object.fromEntries(ratios) } : {}),
  };
}

/** Of the device's measured rates; what lies above one of them is in the caches. */
function shares({ flops, bytes }: Workload, milliseconds: number, peaks: DevicePeaks) {
  const share = (rate: number, most: number): number => Number((rate / most).toPrecision(3));
  return {
    shareOfPeak: share(flops / milliseconds / 1e6, peaks.gflops),
    shareOfCopy: share(bytes / milliseconds / 1e6, peaks.copyGigabytes),
  };
}

const percent = (share: number | undefined): string =>
  share === undefined ? '–' : `${formatNumber(Number((100 * share).toPrecision(3)))} %`;

function print(output: Output, rows: readonly Row[]): void {
  const peers = [...new Set(rows.flatMap((row) => Object.keys(row.ratios ?? {})))];
  output.table(rows, [
    { title: 'workload', value: (row) => row.workload },
    {
      title: 'device',
      value: (row) =>
        `${row.device}${row.threads > 1 ? ` ×${row.threads}` : ''}${row.software ? ' (software: for testing)' : ''}`,
    },
    { title: 'best', value: (row) => `${formatNumber(row.value)} ${row.unit}`, right: true },
    { title: 'GFLOP/s', value: (row) => (row.gflops ? formatNumber(row.gflops) : '–'), right: true },
    ...(rows.some((row) => row.shareOfPeak !== undefined)
      ? [
          { title: 'of peak', value: (row: Row) => percent(row.shareOfPeak), right: true },
          { title: 'of copy', value: (row: Row) => percent(row.shareOfCopy), right: true },
        ]
      : []),
    ...peers.map((peer) => ({
      title: `${peer} takes`,
      value: (row: Row) => {
        const ratio = ownValue(row.ratios ?? {}, peer);
        return ratio ? `${formatNumber(ratio)} ×` : '–';
      },
      right: true,
    })),
  ]);
}
