// How long a model of a table that is no network takes on a processor: the work of it (work.ts) times what a lab's fits say of the
// machine. One function for the line of a new run, the command line, and the bill of a run.

import type { LabDevice } from '../../protocol/lab.ts';
import { tableWork, warmUp, type TableModel, type TableTask } from './work.ts';

/** How a processor compares with the one that all was timed on: its time is so many times as long. */
export interface LearnerSpeed {
  readonly boosted: number;
  readonly forest: number;
  readonly linear: number;
  /** All threads do what is shared so many times as fast as one. */
  readonly gain: number;
  /** The forecasts of all of them may be off by so much more, as nobody measured. */
  readonly doubt: number;
  readonly measured: boolean;
}

/** Fits of a lab, and what each takes on one thread of the processor that all costs of work.ts are of. */
export const labFits = {
  boosted: {
    name: 'boosted-trees',
    seconds: 0.0119,
    task: {
      model: {
        learner: 'boosted',
        boosted: { trees: 3, leaves: 31, minRows: 20, patience: 0, rowFraction: 0.8, featureFraction: 0.8 },
      },
      counts: { train: 10_000, validation: 0, test: 0 },
      columns: 20,
      classes: 2,
    },
  },
  forest: {
    name: 'random-forest',
    seconds: 0.0071,
    task: {
      model: { learner: 'forest', forest: { trees: 1, minRows: 1, nodeFraction: 0, bootstrap: 'yes' } },
      counts: { train: 4_000, validation: 0, test: 0 },
      columns: 16,
      classes: 2,
    },
  },
  linear: {
    name: 'linear-model',
    seconds: 0.0087,
    task: {
      model: { learner: 'linear', linear: { penalty: 1 } },
      counts: { train: 1_500, validation: 0, test: 0 },
      columns: 20,
      classes: 2,
    },
  },
} as const satisfies Record<string, { readonly name: string; readonly seconds: number; readonly task: TableTask }>;

/** Processors differ by this factor either way where nobody measured. */
const guessDoubt = 2.2;
/** Of what threads share in boosting, what stays with one. */
const serial = 0.25;
const guessedGain = (threads: number): number => 1 / (serial + (1 - serial) / threads);

/** FLOP/s of a core of the processor that all costs are of: one with a wider or faster one is taken to be faster by the root of it. */
const usualCore = 110e9;

/** A processor that nobody measured, of so many threads and a peak in float32. */
export function unmeasuredSpeed(threads: number, peak = threads * usualCore): LearnerSpeed {
  const time = Math.sqrt((usualCore * threads) / peak);
  const gain = guessedGain(threads);
  return { boosted: time, forest: time, linear: time, gain, doubt: guessDoubt, measured: false };
}

/** As a lab measured it: all threads, and one. Before the first, or of a lab without such fits, a guess. */
export function learnerSpeed(devices: readonly LabDevice[], threads: number): LearnerSpeed {
  const secondsOn = (id: string, fit: keyof typeof labFits): number | undefined => {
    const workloads = devices.find((device) => device.id === id)?.workloads ?? [];
    const found = workloads.find(({ name }) => name === labFits[fit].name);
    return found && found.milliseconds.median / 1000;
  };
  const [one, forest, linear] = (['boosted', 'forest', 'linear'] as const).map((fit) => {
    const seconds = secondsOn('cpu-1', fit);
    return seconds === undefined ? null : seconds / labFits[fit].seconds;
  });
  if (one === null || forest === null || linear === null) return unmeasuredSpeed(threads);
  const all = secondsOn('cpu', 'boosted');
  const { alone, shared } = tableWork(labFits.boosted.task)!;
  const share = (alone - warmUp) / (alone - warmUp + shared);
  const seconds = one * labFits.boosted.seconds;
  const left = (all ?? seconds) - share * seconds;
  const gain = left > 0 ? Math.min(threads, Math.max(1, ((1 - share) * seconds) / left)) : threads;
  return { boosted: one, forest, linear, gain, doubt: 1, measured: true };
}

/** What the data of a fit decides, which nobody knows before: how deep trees grow, how many steps a linear model needs. */
const doubts: Readonly<Record<Exclude<TableModel['learner'], 'auto'>, number>> = {
  boosted: 1.3,
  forest: 1.5,
  extra: 1.5,
  linear: 2.5,
};

/** Seconds of a whole fit, rows read and scored; `around`: what stands around it. */
export function tableSeconds(task: TableTask, speed: LearnerSpeed, around = 0): readonly [low: number, high: number] {
  const { model } = task;
  const work = tableWork(task);
  if (model.learner === 'auto' || work === null) {
    const given = model.learner === 'auto' ? 60 * model.auto.minutes : 0;
    return [given, given + 2 * around];
  }
  const own = speed[model.learner === 'extra' ? 'forest' : model.learner];
  const fit = own * (work.alone + work.shared / speed.gain + work.scoring) + speed.forest * work.reading;
  const doubt = doubts[model.learner] * speed.doubt;
  return [(fit + around) / doubt, (fit + around) * doubt];
}
