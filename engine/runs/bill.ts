// The bill of a run: what its attempts have cost, added up. It stands with the run's progress. What a host did after its last
// report, until it died or was ended, is counted by the clock; the sudden end of the whole program loses that, and no more.

import { phases, secondsOfPhases } from '../protocol/bill.ts';
import type { HostSpending, Phase, PhaseSeconds, RunBill } from '../protocol/bill.ts';

/** A meter of energy: joules since it was started; null: it cannot be read (any more). */
export type EnergyReading = () => number | null;
/** Starts one; null: this machine has none that may be read. */
export type EnergyMeter = () => EnergyReading | null;

type DeviceFacts = Pick<RunBill, 'deviceBytes' | 'deviceName'>;

/** What no host told of any more, and what it was about. */
interface Untold {
  readonly phase: Phase;
  readonly seconds: number;
}

export class Bill {
  readonly #before: RunBill | undefined;
  readonly #reading: EnergyReading | null;
  readonly #elapsed: () => number;
  /** Seconds elapsed of which the bill knows what they went into. */
  #told: number;
  #untold: Untold | null = null;
  /** What happens around the host. */
  readonly #around: { preparing: number; starting: number } = { preparing: 0, starting: 0 };
  #host: HostSpending = { phases: {} };
  /** What is being done; a host says of itself what it does once it has begun. */
  #stage: Untold['phase'] = 'preparing';
  #onGpu = false;
  #device: DeviceFacts;
  /** Joules of the pauses so far, and what the meter said when the one that lasts began; null: it is at work. */
  #paused = 0;
  #pausedAt: number | null = null;

  /** `before`: the bill of the attempts so far; `elapsed`: seconds at work until now, pauses left out. */
  constructor(before: RunBill | undefined, meter: EnergyMeter, elapsed: () => number) {
    this.#before = before;
    this.#elapsed = elapsed;
    this.#told = elapsed();
    this.#device = pick(before);
    this.#reading = meter();
  }

  /** Adds the time of what happens around the host. */
  add(phase: 'preparing' | 'starting', milliseconds: number): void {
    this.#around[phase] += milliseconds / 1000;
    this.#stage = phase === 'preparing' ? 'starting' : 'training';
    this.#told = this.#elapsed();
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
    if (!spending) return;
    this.#host = spending;
    this.#told = this.#elapsed();
  }

  /**
   * The work has ended without a result. All since the last report was spent too: on training, as nearly all of a run is, or
   * on what stands before it. Said once more it counts for nothing: what follows is tidying up.
   */
  lost(): void {
    this.#untold ??= { phase: this.#stage, seconds: Math.max(0, this.#elapsed() - this.#told) };
  }

  /** Processor time of what was not told: as much of a second as what was told took, and before any report one thread's. */
  get #untoldProcessor(): number {
    if (this.#untold?.phase !== 'training') return 0;
    const { phases: told, cpuSeconds } = this.#host;
    const seconds = secondsOfPhases(told);
    const perSecond = seconds > 0 ? (cpuSeconds ?? 0) / seconds : this.#onGpu ? 0 : 1;
    return perSecond * this.#untold.seconds;
  }

  get total(): RunBill {
    const { cpuSeconds = 0, peakBytes } = this.#host;
    // Until it has begun a host is being started, whatever it calls that.
    const told = { ...this.#host.phases, preparing: 0 };
    const untold = this.#untold ? { [this.#untold.phase]: this.#untold.seconds } : {};
    const hosted = this.#stage === 'training' ? sum([told, untold]) : told;
    const before = this.#before;
    const read = this.#pausedAt ?? this.#reading?.() ?? undefined;
    const most = Math.max(peakBytes ?? 0, before?.peakBytes ?? 0);
    // Energy of some attempts alone is not that of the run.
    const measured = read !== undefined && (before === undefined || before.joules !== undefined);
    return {
      phases: sum([before?.phases ?? {}, this.#around, told, untold]),
      cpuSeconds: (before?.cpuSeconds ?? 0) + cpuSeconds + this.#untoldProcessor,
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
