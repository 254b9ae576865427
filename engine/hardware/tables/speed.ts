// How long a model of a table that is no network takes on a processor: the work of it (work.ts) times what a lab's fits say of the
// machine. One function for the line of a new run, the command line, and the bill of a run.

import type { LabDevice } from '../../protocol/lab.ts';
import { tableWork, warmUp, type TableModel, type TableTask } from './work.ts';

/** What a lab fits, each for the learners that do the same. */
export type LabFit = 'boosted' | 'forest' | 'linear';

/** How a processor compares with the one that all was timed on: its time is so many times as long. */
export interface LearnerSpeed extends Readonly<Record<LabFit, number>> {
  /** All threads do what is shared so many times as fast as one. */
  readonly gain: { readonly boosted: number; readonly forest: number };
  /** What a lab has timed; the rest is a guess, and its forecasts may be off by so much more. */
  readonly measured: readonly LabFit[];
}

/** The fit that tells of a learner; null: of the best of all, which takes the time that it is given. */
function fitOf({ learner }: TableModel): LabFit | null {
  return learner === 'auto' ? null : learner === 'extra' ? 'forest' : learner;
}

/** Whether a lab has timed such models here: of the best of all, any of them. */
export function isMeasured({ measured }: LearnerSpeed, model: TableModel): boolean {
  const fit = fitOf(model);
  return fit === null ? measured.length > 0 : measured.includes(fit);
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
  // Of all rows: drawn ones would have the host say for each tree what is out of its bag, which is not what threads share.
  forest: {
    name: 'forest-of-8',
    seconds: 0.0062,
    task: {
      model: { learner: 'forest', forest: { trees: 8, minRows: 1, nodeFraction: 0, bootstrap: 'no' } },
      counts: { train: 2_000, validation: 0, test: 0 },
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
} as const satisfies Record<LabFit, { readonly name: string; readonly seconds: number; readonly task: TableTask }>;

/** Processors differ by this factor either way where nobody measured. */
const guessDoubt = 2.2;
/** Of what threads share, what stays with one: rows of a tree, and whole trees. */
const serial = { boosted: 0.25, forest: 0.05 } as const;
const guessedGain = (fit: keyof typeof serial, threads: number): number =>
  1 / (serial[fit] + (1 - serial[fit]) / threads);

/** FLOP/s of a core of the processor that all costs are of: one with a wider or faster one is taken to be faster by the root of it. */
const usualCore = 110e9;

/** A processor that nobody measured, of so many threads and a peak in float32. */
export function unmeasuredSpeed(threads: number, peak = threads * usualCore): LearnerSpeed {
  const time = Math.sqrt((usualCore * threads) / peak);
  const gain = { boosted: guessedGain('boosted', threads), forest: guessedGain('forest', threads) };
  return { boosted: time, forest: time, linear: time, gain, measured: [] };
}

/** As a lab measured it: all threads, and one. What it has not timed goes by what it has, and is a guess as before the first lab. */
export function learnerSpeed(devices: readonly LabDevice[], threads: number): LearnerSpeed {
  const secondsOn = (id: string, fit: LabFit): number | undefined => {
    const workloads = devices.find((device) => device.id === id)?.workloads ?? [];
    const found = workloads.find(({ name }) => name === labFits[fit].name);
    return found && found.milliseconds.median / 1000;
  };
  const timed = (['boosted', 'forest', 'linear'] as const).flatMap((fit) => {
    const seconds = secondsOn('cpu-1', fit);
    return seconds === undefined ? [] : [{ fit, times: seconds / labFits[fit].seconds }];
  });
  const guess = unmeasuredSpeed(threads);
  if (timed.length === 0) return guess;
  const usual = Math.exp(timed.reduce((sum, { times }) => sum + Math.log(times), 0) / timed.length);
  const times = (fit: LabFit): number => timed.find((one) => one.fit === fit)?.times ?? usual;
  const gain = (fit: 'boosted' | 'forest', most: number): number => {
    const [one, all] = [secondsOn('cpu-1', fit), secondsOn('cpu', fit)];
    return one === undefined || all === undefined ? guess.gain[fit] : gainOf(labFits[fit].task, all / one, most);
  };
  // Threads of which each has a tree of the fit: more do as well in a forest that has one for each.
  const busy = Math.min(threads, labFits.forest.task.model.forest.trees);
  return {
    boosted: times('boosted'),
    forest: times('forest'),
    linear: times('linear'),
    gain: { boosted: gain('boosted', threads), forest: (gain('forest', busy) * threads) / busy },
    measured: timed.map(({ fit }) => fit),
  };
}

/** How many times as fast all threads do what is shared, of a fit that takes them so many times as long as it takes one: 1 … `most`. */
function gainOf(task: TableTask, times: number, most: number): number {
  const { alone, shared } = tableWork(task)!;
  const share = (alone - warmUp) / (alone - warmUp + shared);
  const left = times - share;
  return left > 0 ? Math.min(most, Math.max(1, (1 - share) / left)) : most;
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
  const kind = fitOf(model)!;
  const gain = kind === 'linear' ? 1 : speed.gain[kind];
  const shared = work.shared / Math.max(1, Math.min(gain, work.parts));
  const fit = speed[kind] * (work.alone + shared + work.scoring) + speed.linear * work.reading;
  const doubt = doubts[model.learner] * (isMeasured(speed, model) ? 1 : guessDoubt);
  return [(fit + around) / doubt, (fit + around) * doubt];
}
