// How long a run takes from its start to its end: its steps by a device's forecast, a look at the validation rows after each epoch, and
// what stands around them (rows made ready, processes started, the baseline), which past runs of this machine have told.

import type { BilledRun, PhaseSeconds } from '../protocol/bill.ts';
import type { RunRecord } from '../protocol/runs.ts';
import type { ModelCosts } from './costs/costs.ts';
import type { MachineDevice } from './machine.ts';
import { epochSeconds, stepTime } from './time-forecast.ts';

export interface AskedRun {
  readonly costs: Pick<ModelCosts, 'calls' | 'batch'>;
  /** Trained on, each epoch. */
  readonly rows: number;
  readonly epochs: number;
  /** Rows looked at after each epoch. */
  readonly validation?: number;
  /** Seconds that stand around the epochs. */
  readonly around?: Around;
}

/** Seconds by where the run trains: a GPU compiles its programs first. */
export type Around = Readonly<Record<'cpu' | 'gpu', number>>;

/** Before the first run: tables of hundreds to tens of thousands of rows took 0.3 to 0.9 s. */
export const usualAround: Around = { cpu: 0.5, gpu: 0.5 };
const runsCounted = 9;
const aroundPhases = ['preparing', 'starting', 'scoring', 'checkpoints', 'baseline'] as const;

const secondsAround = (spent: PhaseSeconds): number =>
  aroundPhases.reduce((sum, phase) => sum + (spent[phase] ?? 0), 0);

/** Seconds that the newest runs on devices of each kind took around their epochs, in the median. */
export function aroundRuns(runs: readonly Pick<BilledRun, 'device' | 'startedAt' | 'bill'>[]): Around {
  const newestFirst = runs.toSorted((a, b) => b.startedAt - a.startedAt);
  const median = (kind: keyof Around): number => {
    const newest = newestFirst
      .filter(({ device }) => device.includes('gpu') === (kind === 'gpu'))
      .map(({ bill }) => (bill === null ? 0 : secondsAround(bill.phases)))
      .filter((spent) => spent > 0)
      .slice(0, runsCounted)
      .sort((a, b) => a - b);
    return newest.length === 0 ? usualAround[kind] : newest[newest.length >> 1];
  };
  return { cpu: median('cpu'), gpu: median('gpu') };
}

/**
 * Epochs, or trees, that a run itself has made: those of the run it goes on from are not its own. With the steps of an epoch the part of
 * one that it was stopped in counts.
 */
export function ownEpochs(
  { relation, start }: Pick<RunRecord, 'relation' | 'start'>,
  { epoch, step }: { readonly epoch: number; readonly step: number },
  stepsAnEpoch?: number,
): number {
  const before = relation === 'continued' ? start : null;
  return stepsAnEpoch === undefined ? epoch - (before?.epoch ?? 0) : (step - (before?.step ?? 0)) / stepsAnEpoch;
}

/** Seconds of a run on a device, as a range. */
export function runSeconds(
  { costs, rows, epochs, validation = 0, around }: AskedRun,
  { kind, timed: device }: Pick<MachineDevice, 'kind' | 'timed'>,
): readonly [low: number, high: number] {
  const forward = { calls: costs.calls.filter(({ phase }) => phase === 'forward') };
  const trained = epochSeconds(stepTime(costs, device), rows, costs.batch);
  const looked = epochSeconds(stepTime(forward, device), validation, costs.batch);
  const seconds = around?.[kind] ?? 0;
  const waiting = [seconds / device.doubt, seconds * device.doubt] as const;
  const of = (end: 0 | 1): number => (trained[end] + looked[end]) * epochs + waiting[end];
  return [of(0), of(1)];
}
