// What a run has cost, as facts: seconds by phase, processor time, energy by the meter. Money is read from them in engine/hardware/bill.ts.

/** What a host spends its time on, and the attempt around it. `data`: rows are read and put on the device, which waits for them. */
export const phases = [
  'preparing',
  'starting',
  'data',
  'training',
  'validation',
  'scoring',
  'checkpoints',
  'baseline',
] as const;

export type Phase = (typeof phases)[number];

/** What a phase is called where people read it. */
export const phaseWord = (phase: string): string => (phase === 'data' ? 'reading rows' : phase);

/** Seconds of each phase. */
export type PhaseSeconds = Readonly<Partial<Record<Phase, number>>>;

/** Seconds of all phases together. */
export const secondsOfPhases = (spent: PhaseSeconds): number =>
  phases.reduce((total, phase) => total + (spent[phase] ?? 0), 0);

/** What a host has spent on a run, this attempt. */
export interface HostSpending {
  readonly phases: PhaseSeconds;
  /** Seconds of processor time of its process, all threads together; absent where it cannot tell. */
  readonly cpuSeconds?: number;
  /** Bytes its process has held in memory at most; absent where it cannot tell. */
  readonly peakBytes?: number;
}

/** What a run has cost, all attempts together, lost work included. Facts alone: energy and money are read from them. */
export interface RunBill extends HostSpending {
  readonly cpuSeconds: number;
  /** Seconds at work on a GPU. */
  readonly gpuSeconds: number;
  /** Energy by the processor's own meter while it was at work, what others did meanwhile included; absent: no meter, or not one that may be read. */
  readonly joules?: number;
  /** Bytes allocated on the device for model and rows. */
  readonly deviceBytes?: number;
  /** As its driver names it. */
  readonly deviceName?: string;
}

/** A run and its bill. */
export interface BilledRun {
  readonly run: number;
  readonly device: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly secondsElapsed: number;
  /** Null: it is of an earlier version. */
  readonly bill: RunBill | null;
}
