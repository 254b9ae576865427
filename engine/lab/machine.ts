// A whole lab: the devices of a machine one after the other, each in the process that has it. A device that fails leaves the rest;
// a lab that is cancelled leaves nothing.

import { toWire } from '../protocol/errors.ts';
import type { DeviceInfo } from '../protocol/app.ts';
import type { LabDevice, LabHost, LabMachine, LabProgress, LabResult, LabTarget } from '../protocol/lab.ts';
import type { LabControl } from './control.ts';

/** A process that measures, and how to end it. */
export interface OpenLabHost {
  readonly host: LabHost;
  /** Resolves with the reason when it has gone; never, where it cannot. */
  readonly exited: Promise<string>;
  kill(): void;
}

export interface MachineLabOptions {
  readonly seconds: number;
  /** Starts the process that has the processor, or the one that has the GPUs. */
  readonly openHost: (kind: LabTarget['kind']) => Promise<OpenLabHost>;
  /** The devices of this machine. */
  readonly devices: () => Promise<readonly DeviceInfo[]>;
  readonly control: LabControl;
  /** Milliseconds: monotonic, and since 1970. */
  readonly clock: () => number;
  readonly now: () => number;
  readonly onProgress: (progress: LabProgress) => void;
}

/** What is measured, with its part of the time. */
interface Share {
  readonly target: LabTarget;
  readonly weight: number;
}

const cpuShares: readonly Share[] = [
  { target: { id: 'cpu', kind: 'cpu', threads: 0 }, weight: 3 },
  { target: { id: 'cpu-1', kind: 'cpu', threads: 1 }, weight: 2 },
  { target: { id: 'cpu-wasm', kind: 'cpu', threads: 0, native: false }, weight: 1.5 },
];
const gpuWeight = 3;

/**
 * Measures every device of this machine for about `seconds`.
 * @throws CancelledError, or what keeps the first device of the CPU from being measured.
 */
export async function measureMachine(options: MachineLabOptions): Promise<LabResult> {
  const { seconds, control, clock, now } = options;
  const startedAt = now();
  const start = clock();
  const infos = await Promise.race([options.devices(), control.cancellation]);
  const { shares, notes } = chooseTargets(infos);
  const devices: LabDevice[] = [];
  let machine: LabMachine | undefined;
  const whole = shares.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  const hosts = new Hosts(options);
  try {
    for (const { target, weight } of shares) {
      const [from, part] = [before / whole, weight / whole];
      before += weight;
      const told = (event: LabProgress): void =>
        options.onProgress({
          ...event,
          done: from + part * event.done,
          secondsLeft: event.secondsLeft + seconds * Math.max(0, 1 - from - part),
        });
      try {
        const found = await measureOn(await hosts.of(target.kind), target, seconds * part, control, told);
        machine ??= found.machine;
        devices.push(found.device);
        notes.push(...found.notes.map((note) => `${target.id}: ${note}`));
        if (found.gone !== null) hosts.close();
      } catch (error) {
        control.check();
        if (machine === undefined) throw error;
        notes.push(`${target.id}: it could not be measured: ${toWire(error).message}`);
        hosts.close();
      }
    }
  } finally {
    hosts.close();
  }
  if (machine === undefined) throw new Error('no host said which machine this is');
  return { version: 1, machine, startedAt, seconds: (clock() - start) / 1000, devices, notes };
}

/** The process of one kind of device at a time. */
class Hosts {
  readonly #options: MachineLabOptions;
  #kind: LabTarget['kind'] | null = null;
  #open: OpenLabHost | null = null;

  constructor(options: MachineLabOptions) {
    this.#options = options;
  }

  async of(kind: LabTarget['kind']): Promise<OpenLabHost> {
    if (this.#open !== null && this.#kind === kind) return this.#open;
    this.close();
    const { openHost, control } = this.#options;
    const opening = openHost(kind);
    try {
      this.#open = await Promise.race([opening, control.cancellation]);
    } catch (error) {
      // One that opens after all has been cancelled is ended.
      opening.then(
        (host) => host.kill(),
        () => undefined,
      );
      throw error;
    }
    this.#kind = kind;
    return this.#open;
  }

  close(): void {
    this.#open?.kill();
    this.#open = null;
  }
}

interface Found {
  readonly device: LabDevice;
  readonly notes: readonly string[];
  readonly machine?: LabMachine;
  /** Why the process is gone; null = it is there. */
  readonly gone: string | null;
}

/** One device. If its process goes, the parts that were complete are kept. */
async function measureOn(
  { host, exited }: OpenLabHost,
  target: LabTarget,
  seconds: number,
  control: LabControl,
  onProgress: (progress: LabProgress) => void,
): Promise<Found> {
  let kept: LabDevice | null = null;
  const stop = host.onLabProgress((event) => {
    if (event.measured) kept = event.measured;
    onProgress(event);
  });
  const gone = exited.then((reason) => ({ gone: reason }));
  const cancelled = control.cancellation.catch((error: unknown) => {
    host.cancelLab().catch(() => undefined);
    throw error;
  });
  cancelled.catch(() => undefined);
  try {
    const measuring = host.measureLab({ target, seconds }).then(
      (found) => ({ ...found, gone: null }),
      // A connection closes together with its process, and the process's own ending says more.
      async (error: unknown) => {
        if (toWire(error).code !== 'internal.disconnected') throw error;
        return gone;
      },
    );
    const outcome = await Promise.race([measuring, gone, cancelled]);
    if (outcome.gone === null) return outcome as Found;
    if (kept === null) throw new Error(`its process ended: ${outcome.gone}.`);
    const word = target.kind.toUpperCase();
    const note = `${word} lost while measuring (${outcome.gone}): the rest was kept. Measure the ${word} again.`;
    return { device: kept, notes: [note], gone: outcome.gone };
  } finally {
    stop();
  }
}

/** The CPU in three ways, and every adapter; one in software only where there is no other. */
export function chooseTargets(infos: readonly DeviceInfo[]): {
  readonly shares: readonly Share[];
  readonly notes: string[];
} {
  const notes: string[] = ['16-bit products were left out: there are no 16-bit kernels yet.'];
  const cpu = infos.find(({ kind }) => kind === 'cpu');
  const hasNative = /native/.test(cpu?.facts['kernels'] ?? '');
  if (!hasNative) notes.push('cpu-wasm was left out: without the native addon it is the same as cpu.');
  const gpus = infos.filter(({ kind }) => kind === 'gpu').map((info, adapter) => ({ info, adapter }));
  const usable = gpus.filter(({ info }) => info.available);
  const hardware = usable.filter(({ info }) => !info.software);
  const chosen = hardware.length > 0 ? hardware : usable;
  if (chosen.length === 0) {
    const reason = gpus.flatMap(({ info }) => info.reason ?? [])[0];
    notes.push(`No GPU was measured: ${reason ?? 'WebGPU sees no adapter here.'}`);
  }
  for (const { info } of usable) {
    if (!chosen.some((one) => one.info === info))
      notes.push(`${info.name} was left out: it is an adapter in software.`);
  }
  const shares = [
    ...cpuShares.filter(({ target }) => target.native !== false || hasNative),
    ...chosen.map(({ adapter }, index) => ({
      target: { id: `gpu-${index}`, kind: 'gpu', adapter } as const,
      weight: gpuWeight,
    })),
  ];
  return { shares, notes };
}
