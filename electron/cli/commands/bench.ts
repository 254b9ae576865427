// `bench`: times the benchmark workloads on this machine, if wanted against other programs in the same run. A peer is a
// command that prints one JSON object a line with `peer`, `workload` and `value` (milliseconds); rounds alternate
// between ours and theirs, because shared machines drift.

import { spawn } from 'node:child_process';
import { createCpuBackend } from '../../../engine/backends/cpu/backend.ts';
import type { Backend } from '../../../engine/backends/backend.ts';
import { createWebgpuBackend } from '../../../engine/backends/webgpu/backend.ts';
import { type DevicePeaks, measurePeaks } from '../../../engine/backends/webgpu/probe.ts';
import { measure } from '../../../engine/bench/measure.ts';
import type { Workload } from '../../../engine/bench/workload.ts';
import { workloads } from '../../../engine/bench/workloads.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import { choiceOption, numberOption, textOption, type Command, type OptionValues } from '../command.ts';
import { openFirstGpu } from '../gpu.ts';
import { formatNumber, type Output } from '../output.ts';
import { profileWorkloads } from '../profile-report.ts';
import { threadsOption } from '../threads-option.ts';
import { ownValue } from '../../../engine/protocol/own.ts';

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
  name: 'bench',
  usage: '',
  summary: 'Times the benchmark workloads on this machine.',
  positionals: [0, 0],
  options: {
    suite: { type: 'string', value: 'cpu|gpu|all', help: 'devices to time (default cpu)' },
    only: { type: 'string', value: 'NAME,…', help: `of ${workloads.map((workload) => workload.name).join(', ')}` },
    threads: { type: 'string', value: 'N', help: 'CPU threads; 0 = as many as pay' },
    peer: {
      type: 'string',
      value: 'COMMAND',
      help: 'a program that times the same workloads; {only} becomes the names',
      multiple: true,
    },
    profile: { type: 'boolean', help: 'where a training step goes: every call, held against this CPU at its best' },
    rounds: { type: 'string', value: 'N', help: 'rounds, alternating with the peers (default 3 with a peer, else 1)' },
  },
  run: async ({ options, output }) => {
    if (options.profile === true) {
      const threads = threadsOption(options, output);
      return profileWorkloads(chooseWorkloads(options), threads, options.only !== undefined, output);
    }
    const suite = choiceOption(options, 'suite', ['cpu', 'gpu', 'all'] as const) ?? 'cpu';
    const peers = (options.peer ?? []) as readonly string[];
    const rounds = numberOption(options, 'rounds', { minimum: 1, whole: true }) ?? (peers.length > 0 ? 3 : 1);
    const chosen = chooseWorkloads(options);
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

function chooseWorkloads(options: OptionValues): readonly Workload[] {
  const names = textOption(options, 'only')?.split(',');
  if (!names) return workloads;
  return names.map((name) => {
    const found = workloads.find((workload) => workload.name === name);
    if (found) return found;
    const known = workloads.map((workload) => workload.name).join(', ');
    throw new InputError('usage.workload', `There is no workload “${name}”.`, `Workloads: ${known}.`);
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

/** Runs a peer for one workload and reads its lines; those for other workloads are passed over. */
async function runPeer(command: string, workload: string): Promise<readonly { peer: string; value: number }[]> {
  const line = command.includes('{only}') ? command.replaceAll('{only}', workload) : `${command} --only ${workload}`;
  const child = spawn(line, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  return text
    .split('\n')
    .filter((part) => part.startsWith('{'))
    .map((part) => JSON.parse(part) as { peer: string; workload: string; value?: number; threads?: number })
    .flatMap(({ peer, workload: name, value, threads }) =>
      name === workload && value !== undefined ? [{ peer: threads ? `${peer} ×${threads}` : peer, value }] : [],
    );
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
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
