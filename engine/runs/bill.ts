// The bill of a run: what its attempts have cost, added up. It stands with the run's progress, so a sudden end loses at most
// what came after the last report.

import { phases, secondsOfPhases, type HostSpending, type PhaseSeconds, type RunBill } from '../protocol/bill.ts';

/** A meter of energy: joules since it was started; null: it cannot be read (any more). */
export type EnergyReading = () => number | null;
/** Starts one; null: this machine has none that may be read. */
export type EnergyMeter = () => EnergyReading | null;

type DeviceFacts = Pick<RunBill, 'deviceBytes' | 'deviceName'>;

export class Bill {
  readonly #before: RunBill | undefined;
  readonly #reading: EnergyReading | null;
  /** What happens around the host. */
  readonly #around: { preparing: number; starting: number } = { preparing: 0, starting: 0 };
  #host: HostSpending = { phases: {} };
  #onGpu = false;
  #device: DeviceFacts;
  /** Joules of the pauses so far, and what the meter said when the one that lasts began; null: it is at work. */
  #paused = 0;
  #pausedAt: number | null = null;

  /** `before`: the bill of the attempts so far. */
  constructor(before: RunBill | undefined, meter: EnergyMeter) {
    this.#before = before;
    this.#device = pick(before);
    this.#reading = meter();
  }

  /** Adds the time of what happens around the host. */
  add(phase: 'preparing' | 'starting', milliseconds: number): void {
    this.#around[phase] += milliseconds / 1000;
  }

  began({ device, name, bytes }: { readonly device: string; readonly name: string; readonly bytes: number }): void {
    this.#onGpu = device === 'gpu';
    this.#device = { deviceBytes: bytes, deviceName: name };
  }

  /** What the processor takes during a pause is not the run's. May be said twice, as `resume`. */
  pause(): void {
    this.#pausedAt ??= this.#reading?.() ?? null;
  }

  resume(): void {
    if (this.#pausedAt === null) return;
    this.#paused += (this.#reading?.() ?? this.#pausedAt) - this.#pausedAt;
    this.#pausedAt = null;
  }

  /** What the host has spent so far. */
  spent(spending: HostSpending | undefined): void {
    if (spending) this.#host = spending;
  }

  get total(): RunBill {
    const { cpuSeconds = 0, peakBytes } = this.#host;
    // Until it has begun a host is being started, whatever it calls that.
    const hosted = { ...this.#host.phases, preparing: 0 };
    const before = this.#before;
    const read = this.#pausedAt ?? this.#reading?.() ?? undefined;
    const most = Math.max(peakBytes ?? 0, before?.peakBytes ?? 0);
    // Energy of some attempts alone is not that of the run.
    const measured = read !== undefined && (before === undefined || before.joules !== undefined);
    return {
      phases: sum([before?.phases ?? {}, this.#around, hosted]),
      cpuSeconds: (before?.cpuSeconds ?? 0) + cpuSeconds,
      gpuSeconds: (before?.gpuSeconds ?? 0) + (this.#onGpu ? secondsOfPhases(hosted) : 0),
      ...(measured ? { joules: read - this.#paused + (before?.joules ?? 0) } : {}),
      ...this.#device,
      ...(most > 0 ? { peakBytes: most } : {}),
    };
  }
}

const pick = ({ deviceBytes, deviceName }: Partial<RunBill> = {}): DeviceFacts => ({
  ...(deviceBytes === undefined ? {} : { deviceBytes }),
  ...(deviceName === undefined ? {} : { deviceName }),
});

function sum(parts: readonly PhaseSeconds[]): PhaseSeconds {
  const seconds = phases.map((phase) => [phase, parts.reduce((total, part) => total + (part[phase] ?? 0), 0)] as const);
  return Object.fromEntries(seconds.filter(([, value]) => value > 0));
}
