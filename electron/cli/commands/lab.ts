// `lab`: measures this machine, keeps it in the history, and lays it down as a file or takes one up.

import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { beginMeasuring } from '../../../engine/history/measuring.ts';
import { conditionsWords } from '../../../engine/lab/conditions.ts';
import { LabControl } from '../../../engine/lab/control.ts';
import { labText, largestLabFile, readLab } from '../../../engine/lab/file.ts';
import { measureMachine } from '../../../engine/lab/machine.ts';
import { refuseRuns } from '../../../engine/lab/runs.ts';
import { partWords } from '../../../engine/lab/reports.ts';
import { deviceWords } from '../../../engine/protocol/lab.ts';
import { spreadShare } from '../../../engine/lab/spread.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import type { DeviceInfo } from '../../../engine/protocol/app.ts';
import type { LabDevice, LabProgress, LabResult, Sample, Spread } from '../../../engine/protocol/lab.ts';
import { othersNow } from '../../../engine/system/others.ts';
import { createNodeLab, describeMachine } from '../../hosts/lab.ts';
import { cpuDevice } from '../../hosts/devices.ts';
import { about } from '../about.ts';
import { numberOption, textOption, type Command, type CommandContext } from '../command.ts';
import { homeFolder } from '../../../engine/system/home-folder.ts';
import { unreadable } from '../input-file.ts';
import type { Interruption } from '../interruption.ts';
import { formatSeconds, formatTime, type Output } from '../output.ts';
import { checkOutput, writeOutput } from '../output-file.ts';

const defaultSeconds = 60;
const limits = { minimum: 1, maximum: 3600 } as const;

export const lab: Command = {
  ...about.lab,
  positionals: [0, 0],
  options: {
    seconds: { type: 'string', value: 'N', help: `how long it takes, about (default ${defaultSeconds})` },
    export: { type: 'string', value: 'FILE', help: 'write what was measured to a file, too', path: true },
    import: {
      type: 'string',
      value: 'FILE',
      help: 'take up a lab of another machine instead of measuring',
      path: true,
    },
    list: { type: 'boolean', help: 'list the labs of the history instead of measuring' },
  },
  run: async (context) => {
    const { options, output, services } = context;
    const seconds = numberOption(options, 'seconds', limits) ?? defaultSeconds;
    const [target, source] = [textOption(options, 'export'), textOption(options, 'import')];
    if (Number(options.list === true) + Number(source !== undefined) + Number(target !== undefined) > 1) {
      throw new InputError('usage.option', '--list, --import and --export exclude each other.', 'Give one of them.');
    }
    if (options.list === true) return listLabs(context);
    if (target !== undefined) await checkOutput(target, output);
    const store = await services.store;
    const result = source === undefined ? await measureHere(context, seconds) : await readLabFile(source);
    await store.addLab({ result, imported: source !== undefined });
    if (target !== undefined) await writeOutput(target, [labText(result)], output);
    output.event({ event: 'lab', devices: result.devices.map(deviceEvent), notes: result.notes });
    if (!output.json) print(output, result);
  },
};

async function listLabs({ services, output }: CommandContext): Promise<void> {
  const all = await (await services.store).labs();
  for (const one of all) output.event({ event: 'lab_summary', ...one });
  if (output.json) return;
  if (all.length === 0) return output.line('No labs yet: `trainyard lab` measures this machine.');
  output.table(all, [
    { title: 'lab', value: ({ id }) => String(id), right: true },
    { title: 'measured', value: ({ startedAt }) => formatTime(startedAt) },
    { title: 'machine', value: ({ machine, imported }) => `${machine}${imported ? ' (imported)' : ''}` },
    { title: 'took', value: ({ seconds }) => formatSeconds(seconds), right: true },
    { title: 'devices', value: ({ devices }) => devices.join(', ') },
  ]);
}

async function readLabFile(file: string): Promise<LabResult> {
  const name = path.basename(file);
  try {
    const { size } = await stat(file);
    if (size > largestLabFile) throw new InputError('input.lab', `${name} is no lab of Trainyard: it is too large.`);
    return readLab(await readFile(file, 'utf8'), name);
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw unreadable(file, error, 'input.lab', 'Give the file of a lab.');
  }
}

async function measureHere({ services, output, interruption }: CommandContext, seconds: number): Promise<LabResult> {
  await refuseRuns(await services.store, []);
  const done = beginMeasuring(services.home, 'lab');
  try {
    return await measured(output, interruption, seconds);
  } finally {
    done();
  }
}

async function measured(output: Output, interruption: Interruption, seconds: number): Promise<LabResult> {
  const control = new LabControl();
  const stop = interruption.listen(() => control.cancel());
  const { cores: processors, powerSource } = describeMachine();
  const conditions = { processors, busy: await othersNow(), battery: powerSource === 'battery' };
  for (const words of conditionsWords(conditions)) output.note(words);
  const host = createNodeLab(async (adapter) => (await import('../gpu.ts')).openListedGpuBackend(adapter));
  try {
    const result = await measureMachine({
      seconds,
      devices: foundDevices,
      // There is no process to end: it ends between two calls.
      openHost: async () => ({ host, exited: new Promise<string>(() => {}), kill: () => undefined }),
      control,
      clock: () => performance.now(),
      now: () => Date.now(),
      onProgress: (event) => tell(output, event),
    });
    // What was asked for while the last call ran.
    control.check();
    return result;
  } finally {
    output.clearBar();
    stop();
  }
}

async function foundDevices(): Promise<readonly DeviceInfo[]> {
  return [await cpuDevice(homeFolder()), ...(await (await import('../gpu.ts')).listGpus())];
}

function tell(output: Output, { device, part, done, secondsLeft }: LabProgress): void {
  const what = part === null ? 'opening' : partWords[part].toLowerCase();
  output.bar(done, `${device}: ${what}, ${Math.ceil(secondsLeft)} s left`);
}

/** As other programs read it: rates by size, the rate of copying in memory, the cost of one more call; and how far each spread, as a share either way. */
export function deviceEvent({ id, products, copy, latencies }: LabDevice): object {
  const call = latencies.find(({ name }) => name === 'call')?.microseconds;
  return {
    id,
    gflops: Object.fromEntries(products.map(({ at, value }) => [String(at), rounded(value.median)])),
    copy_gb_s: rounded(copy.at(-1)?.value.median),
    launch_us: rounded(call?.median),
    spread: {
      gflops: Object.fromEntries(products.map(({ at, value }) => [String(at), halfSpread(value)])),
      copy_gb_s: halfSpread(copy.at(-1)?.value),
      launch_us: halfSpread(call),
    },
  };
}

const rounded = (value: number | undefined): number | null =>
  value === undefined ? null : Number(value.toPrecision(4));

const halfSpread = (spread: Spread | undefined): number | null =>
  spread === undefined ? null : Number((spreadShare(spread) / 2).toPrecision(3));

/** `4`; `>100` of what was disturbed so much that no more can be said. */
function halfPercent(spread: Spread): string {
  const half = Math.round(50 * spreadShare(spread));
  return half > 100 ? '>100' : String(half);
}

const largest = (samples: readonly Sample[]): Sample | undefined =>
  [...samples].sort((a, b) => b.value.median - a.value.median)[0];

function print(output: Output, { machine, devices, notes, seconds }: LabResult): void {
  output.line(`${machine.name}: ${machine.cpu}, measured in ${formatSeconds(seconds)}`);
  output.line();
  const figure = (spread: Spread | undefined, unit: string): string =>
    spread === undefined ? '–' : `${Number(spread.median.toPrecision(3))} ${unit} ±${halfPercent(spread)} %`;
  const latency = (device: LabDevice, name: string): Spread | undefined =>
    device.latencies.find((one) => one.name === name)?.microseconds;
  output.table(devices, [
    {
      title: 'device',
      value: (device) => `${deviceWords(device)}${device.software ? ' (software: for testing)' : ''}`,
    },
    { title: 'best product', value: ({ products }) => figure(largest(products)?.value, 'GFLOP/s'), right: true },
    { title: 'copy', value: ({ copy }) => figure(copy.at(-1)?.value, 'GB/s'), right: true },
    { title: 'call', value: (device) => figure(latency(device, 'call'), 'µs'), right: true },
    { title: 'submit', value: (device) => figure(latency(device, 'submit'), 'µs'), right: true },
    { title: 'read-back', value: (device) => figure(latency(device, 'readback'), 'µs'), right: true },
  ]);
  output.line();
  const steps = devices.flatMap((device) => device.workloads.map((one) => ({ device, ...one })));
  output.table(steps, [
    { title: 'training', value: ({ name }) => name },
    { title: 'device', value: ({ device }) => deviceWords(device) },
    { title: 'median', value: ({ milliseconds, unit }) => figure(milliseconds, unit), right: true },
  ]);
  if (notes.length > 0) output.line();
  for (const note of notes) output.line(`- ${note}`);
}
