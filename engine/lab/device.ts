// Measures one device: opens it for each part of the lab, divides the time, keeps what is complete when a part fails.

import type { Backend, DeviceDescription } from '../backends/backend.ts';
import { CancelledError, toWire, TrainyardError } from '../protocol/errors.ts';
import type { LabDevice, LabMeasurement, LabPart, LabProgress, LabTarget } from '../protocol/lab.ts';
import type { LabControl, LabSurroundings } from './control.ts';
import { parts, type PartContext } from './parts.ts';
import { partWords } from './reports.ts';
import { LabSession } from './session.ts';

export interface DeviceLabOptions {
  readonly target: LabTarget;
  /** Opens the device with so many CPU threads (0 = as many as pay, as training does); a GPU has none. */
  readonly open: (threads: number) => Promise<Backend>;
  /** Threads of the CPU that count as all of them. */
  readonly threads: number;
  /** Bytes that arrays may take at most. */
  readonly memory: number;
  readonly seconds: number;
  /** Calls that a figure needs at least. */
  readonly calls?: number;
  /** What is measured; everything that applies by default. */
  readonly only?: readonly LabPart[];
  readonly surroundings: LabSurroundings;
  readonly control: LabControl;
  readonly onProgress: (progress: LabProgress) => void;
}

/** Milliseconds of a round of calls, at most. */
const rounds = { cpu: 5, gpu: 40 } as const;
/** Milliseconds between two words of progress within a part. */
const progressInterval = 100;

/**
 * Measures a device for about `seconds`.
 * @throws CancelledError; what opening the device throws where not even its name can be told.
 */
export async function measureDevice(options: DeviceLabOptions): Promise<LabMeasurement> {
  const { target, open, seconds, surroundings, control } = options;
  const { clock } = surroundings;
  const start = clock();
  const end = start + 1000 * seconds;
  const threads = target.kind === 'gpu' ? 0 : target.threads || options.threads;
  let part: LabPart | null = null;
  let name: string | null = null;
  let told = -Infinity;
  const tell = (measured?: LabDevice): void => {
    told = clock();
    const done = Math.min(1, (told - start) / (end - start));
    const secondsLeft = Math.max(0, (end - told) / 1000);
    options.onProgress({ device: target.id, name, part, done, secondsLeft, ...(measured ? { measured } : {}) });
  };
  const session = new LabSession({
    round: rounds[target.kind],
    calls: options.calls,
    surroundings,
    control,
    onTick: () => {
      if (clock() - told >= progressInterval) tell();
    },
  });

  tell();
  const description = await describe(open, threads);
  name = description.name;
  let device = emptyDevice(target, description, threads);
  const wanted = parts.filter(
    ({ name: known, applies }) => applies(target, threads) && (options.only?.includes(known) ?? true),
  );
  const whole = wanted.reduce((sum, { weight: own }) => sum + own, 0);
  let weight = whole;
  for (const { name: wantedPart, weight: own, measure } of wanted) {
    part = wantedPart;
    tell();
    // However late it is: a part of a disturbed machine has half of what it would have had.
    const planned = (1000 * seconds * own) / whole;
    const share = Math.max(planned / 2, ((end - clock()) * own) / weight);
    weight -= own;
    const context: PartContext = { ...options, session, share, device, threads, doing: partWords[part].toLowerCase() };
    try {
      await measure(context, (found) => (device = { ...device, ...found }));
    } catch (error) {
      if (error instanceof CancelledError) throw error;
      session.notes.push(failureNote(target, context.doing, error));
      if (isLost(error)) break;
    } finally {
      session.closePart(part);
    }
    tell(device);
  }
  return { device, notes: session.notes, reports: session.reports };
}

async function describe(open: DeviceLabOptions['open'], threads: number): Promise<DeviceDescription> {
  const backend = await open(threads);
  try {
    return backend.device;
  } finally {
    await backend.close();
  }
}

function emptyDevice(
  { id, kind }: LabTarget,
  { name, software = false }: DeviceDescription,
  threads: number,
): LabDevice {
  const nothing = { products: [], copy: [], triad: [], latencies: [], workloads: [] };
  return { id, kind, name, threads: Math.max(1, threads), software, ...nothing };
}

const isLost = (error: unknown): boolean => error instanceof TrainyardError && error.code === 'device.lost';

/** "GPU lost while copying 64 MB: the rest was kept." */
function failureNote({ kind }: LabTarget, doing: string, error: unknown): string {
  const word = kind.toUpperCase();
  const { message } = toWire(error);
  if (isLost(error))
    return `${word} lost while measuring ${doing}: the rest was kept. Measure the ${word} again. (${message})`;
  return `The ${word} failed while measuring ${doing}: the rest was kept. (${message})`;
}
