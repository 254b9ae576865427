// The devices of this machine as forecasts can be made on them: what the last lab measured, else a guess from the cores of the
// processor and the catalogue's figures of the GPU, whose doubt says that it is one.

import type { LabDevice, LabResult, LabSummary } from '../protocol/lab.ts';
import type { StoreService } from '../protocol/store.ts';
import { deviceNamed } from './bill.ts';
import { deviceByLab, isComplete, type Factors } from './calibration.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import { cpuOf, gpuOf } from './claims/evidence.ts';
import { wattsPerThread } from './formulas/energy.ts';
import { cpuPeak, type Roof } from './formulas/roofline.ts';
import { usableBytes } from './memory-forecast.ts';
import { deviceByPeaks, type TimedDevice } from './time-forecast.ts';

export interface MachineDevice {
  readonly id: string;
  readonly kind: 'cpu' | 'gpu';
  readonly name: string;
  readonly timed: TimedDevice;
  /** By the lab; else guessed. */
  readonly measured: boolean;
  /** An adapter in software: to look at, never to go by. */
  readonly software: boolean;
  /** What a run can have of it: of the CPU's what one can address. 0: not known. */
  readonly memoryBytes: number;
  /** Of a GPU its rated power, of the processor what its threads draw; undefined: not known. */
  readonly watts?: number;
}

export interface KnownMachine {
  /** The last one of this machine. */
  readonly lab: LabResult | null;
  readonly cores: number;
  readonly memoryBytes: number;
  /** As its driver names it; null: none, or one in software. */
  readonly gpu: string | null;
  readonly catalogue: Catalogue;
  /** What a lab's training steps say of its roofs. */
  readonly factors?: (device: LabDevice) => Factors | undefined;
  /** Adapters in software as well, named as such. */
  readonly withSoftware?: boolean;
}

/** A lab of at least this share of the seconds of another says as much. */
const asLong = 0.75;
/** A lab is good for so long beside a newer one that took less time. Milliseconds. */
const goodFor = 30 * 86_400_000;

/**
 * The lab that this machine's figures are taken from, of a list with the newest first: the newest, but for a shorter one that was made
 * within a month of a longer, as a claim makes it, which does not take the longer one's place. Null: none was measured here.
 */
export function labOfMachine(labs: readonly LabSummary[]): LabSummary | null {
  const own = labs.filter(({ imported }) => !imported);
  const [newest] = own;
  if (newest === undefined) return null;
  const recent = own.filter(({ startedAt, devices }) => {
    const same = newest.devices.every((device) => devices.includes(device));
    return same && newest.startedAt - startedAt <= goodFor;
  });
  const longest = Math.max(...recent.map(({ seconds }) => seconds), newest.seconds);
  return recent.find(({ seconds }) => seconds >= asLong * longest) ?? newest;
}

/** That lab as it was measured. */
export async function newestLab(store: Pick<StoreService, 'labs' | 'lab'>): Promise<LabResult | null> {
  const chosen = labOfMachine(await store.labs());
  return chosen ? (await store.lab({ lab: chosen.id })).result : null;
}

/** A processor that nobody measured: three gigahertz, AVX2, two channels of memory. */
const guess = { hertz: 3e9, flopsPerCycle: 32, bandwidth: 40e9 } as const;
/** Processors of as many cores differ by this factor either way. */
const guessDoubt = 2.2;
/** A lab's forecasts of workloads it was not fitted to are off by less, mostly (docs/hardware.md). */
const labDoubt = 1.3;

/** What a device of this machine may reach before anything was measured. */
export interface UnmeasuredRoof {
  readonly id: string;
  readonly kind: 'cpu' | 'gpu';
  /** Whence: its data sheet, or its number of cores. */
  readonly source: 'vendor' | 'guessed';
  readonly roof: Roof;
}

export function unmeasuredRoofs({
  cores,
  gpu,
  catalogue,
}: Pick<KnownMachine, 'cores' | 'gpu' | 'catalogue'>): readonly UnmeasuredRoof[] {
  const row = gpu === null ? undefined : deviceNamed(catalogue, gpu);
  const rate = cpuPeak(cores, guess.hertz, guess.flopsPerCycle);
  return [
    { id: 'cpu', kind: 'cpu', source: 'guessed', roof: { rate, bandwidth: guess.bandwidth } },
    ...(row?.fp32 && row.bandwidth
      ? [
          {
            id: 'gpu-0',
            kind: 'gpu',
            source: 'vendor',
            roof: { rate: 1e12 * row.fp32.value, bandwidth: 1e9 * row.bandwidth.value },
          } as const,
        ]
      : []),
  ];
}

/** The CPU, and the GPU where there is one that is not software. */
export function machineDevices(known: KnownMachine): readonly MachineDevice[] {
  const cpu = cpuDevice(known);
  return [cpu, ...gpuDevice(known), ...(known.withSoftware ? softwareDevices(known, cpu) : [])];
}

/** They are the processor under another name. */
function softwareDevices(
  { lab, memoryBytes, factors }: KnownMachine,
  { watts }: MachineDevice,
): readonly MachineDevice[] {
  return (lab?.devices ?? [])
    .filter((device) => device.software && isComplete(device))
    .map((device) => ({
      id: device.id,
      kind: 'gpu',
      name: `${device.name} (software)`,
      timed: deviceByLab(device, factors?.(device), labDoubt),
      measured: true,
      software: true,
      memoryBytes,
      watts,
    }));
}

function cpuDevice({ lab, cores, memoryBytes, factors }: KnownMachine): MachineDevice {
  const measured = cpuOf(lab);
  const threads = measured?.threads ?? cores;
  const usable = usableBytes(memoryBytes);
  const watts = wattsPerThread * threads;
  const common = { id: 'cpu', kind: 'cpu', software: false, memoryBytes: usable, watts } as const;
  if (measured && isComplete(measured)) {
    return {
      ...common,
      name: measured.name,
      timed: deviceByLab(measured, factors?.(measured), labDoubt),
      measured: true,
    };
  }
  const peaks = {
    kind: 'cpu',
    float32: cpuPeak(cores, guess.hertz, guess.flopsPerCycle),
    bandwidth: guess.bandwidth,
  } as const;
  const timed = { ...deviceByPeaks(peaks, 'float32'), doubt: guessDoubt };
  return { ...common, name: `a CPU with ${cores} ${cores === 1 ? 'core' : 'cores'}`, timed, measured: false };
}

function gpuDevice({ lab, gpu, catalogue, factors }: KnownMachine): readonly MachineDevice[] {
  const measured = gpuOf(lab);
  const name = measured?.name ?? gpu;
  if (name === null) return [];
  const row = deviceNamed(catalogue, name);
  const common = {
    id: measured?.id ?? 'gpu-0',
    kind: 'gpu',
    name,
    software: false,
    memoryBytes: 1e9 * (row?.memory?.value ?? 0),
    watts: row?.power?.value,
  } as const;
  if (measured && isComplete(measured)) {
    return [{ ...common, timed: deviceByLab(measured, factors?.(measured), labDoubt), measured: true }];
  }
  if (!row?.fp32 || !row.bandwidth) return [];
  const peaks = { kind: 'gpu', float32: 1e12 * row.fp32.value, bandwidth: 1e9 * row.bandwidth.value } as const;
  return [{ ...common, timed: { ...deviceByPeaks(peaks, 'float32'), doubt: guessDoubt }, measured: false }];
}
