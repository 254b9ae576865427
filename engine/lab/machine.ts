// A whole lab: the devices of a machine in turns, round after round (rounds.ts), each in the process that has it. A device that fails
// leaves the rest; a lab that is cancelled leaves nothing.

import { deviceWords } from '../protocol/lab.ts';
import { toWire } from '../protocol/errors.ts';
import type { DeviceInfo } from '../protocol/app.ts';
import type {
  LabDevice,
  LabHost,
  LabMachine,
  LabMeasurement,
  LabProgress,
  LabResult,
  LabTarget,
} from '../protocol/lab.ts';
import type { LabControl } from './control.ts';
import { callsOfRound, mergedRounds, roundsOf } from './rounds.ts';

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
  const measured = new Map<LabTarget, LabMeasurement[]>();
  const failed = new Set<LabTarget>();
  let machine: LabMachine | undefined;
  const whole = shares.reduce((sum, { weight }) => sum + weight, 0);
  const rounds = roundsOf((seconds * Math.min(...shares.map(({ weight }) => weight))) / whole);
  const hosts = new Hosts(options);
  /** One device in one round, which begins when `from` of the whole is done. */
  const measureOnce = async ({ target, weight }: Share, from: number): Promise<void> => {
    const part = weight / whole / rounds;
    const told = (event: LabProgress): void =>
      options.onProgress({
        ...event,
        done: from + part * event.done,
        secondsLeft: event.secondsLeft + seconds * Math.max(0, 1 - from - part),
      });
    const request = { target, seconds: seconds * part, ...(rounds > 1 ? { calls: callsOfRound(rounds) } : {}) };
    try {
      const found = await measureOn(await hosts.of(target.kind), request, control, told);
      machine ??= found.machine;
      measured.set(target, [...(measured.get(target) ?? []), found]);
      if (found.gone === null) return;
    } catch (error) {
      control.check();
      if (machine === undefined) throw error;
      notes.push(`${target.id}: it could not be measured: ${toWire(error).message}`);
    }
    failed.add(target);
    hosts.close(target.kind);
  };
  try {
    for (let round = 0; round < rounds; round++) {
      let before = 0;
      for (const share of shares) {
        if (!failed.has(share.target)) await measureOnce(share, (round + before / whole) / rounds);
        before += share.weight;
      }
    }
  } finally {
    hosts.closeAll();
  }
  if (machine === undefined) throw new Error('no host said which machine this is');
  const merged = [...measured].map(([{ id }, found]) => ({ id, ...mergedRounds(found) }));
  return {
    version: 1,
    machine,
    startedAt,
    seconds: (clock() - start) / 1000,
    devices: merged.map(({ device }) => device),
    notes: [
      ...notes,
      ...merged.flatMap(({ device, notes: own }) => own.map((note) => `${deviceWords(device)}: ${note}`)),
    ],
  };
}

/** The processes that have the devices, one a kind, open from their first round to the last. */
class Hosts {
  readonly #options: MachineLabOptions;
  readonly #open = new Map<LabTarget['kind'], OpenLabHost>();

  constructor(options: MachineLabOptions) {
    this.#options = options;
  }

  async of(kind: LabTarget['kind']): Promise<OpenLabHost> {
    const known = this.#open.get(kind);
    if (known) return known;
    const { openHost, control } = this.#options;
    const opening = openHost(kind);
    try {
      const opened = await Promise.race([opening, control.cancellation]);
      this.#open.set(kind, opened);
      return opened;
    } catch (error) {
      // One that opens after all has been cancelled is ended.
      opening.then(
        (host) => host.kill(),
        () => undefined,
      );
      throw error;
    }
  }

  close(kind: LabTarget['kind']): void {
    this.#open.get(kind)?.kill();
    this.#open.delete(kind);
  }

  closeAll(): void {
    for (const kind of [...this.#open.keys()]) this.close(kind);
  }
}

interface Found extends LabMeasurement {
  /** Why the process is gone; null = it is there. */
  readonly gone: string | null;
}

/** One device. If its process goes, the parts that were complete are kept. */
async function measureOn(
  { host, exited }: OpenLabHost,
  request: Parameters<LabHost['measureLab']>[0],
  control: LabControl,
  onProgress: (progress: LabProgress) => void,
): Promise<Found> {
  const { target } = request;
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
    const measuring = host.measureLab(request).then(
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
  if (!hasNative) notes.push('WebAssembly was left out: without the native addon the CPU computes with nothing else.');
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
