// Of two classes, from which probability on to act: what a threshold finds and what it costs. A row is taken for the second class where its
// probability is above the threshold.

import type { ClassRows } from '../protocol/evaluated-rows.ts';
import { countScores } from './class-scores.ts';
import { earned, percentiles, resampleCells, resamples, wilson, type Interval } from './intervals.ts';

/** What a row costs that is of the class and was not found, and one that was taken for it by mistake. */
export interface Costs {
  readonly missed: number;
  readonly needless: number;
}

/** Rows by what became of them. */
export interface Outcome {
  readonly left: number;
  readonly needless: number;
  readonly missed: number;
  readonly found: number;
}

/** Thresholds are looked at in steps of this. */
export const thresholdStep = 0.01;
const steps = 100;

/** Outcomes at 0, 0.01 … 1, counted once: whatever the slider says is looked up here. */
export function outcomesByThreshold({ truth, probabilities }: ClassRows): readonly Outcome[] {
  // Rows by the first threshold that is not below their probability.
  const others = new Float64Array(steps + 1);
  const wanted = new Float64Array(steps + 1);
  truth.forEach((k, row) => {
    const p = probabilities[row * 2 + 1];
    let step = Math.min(steps, Math.max(0, Math.ceil(p * steps)));
    while (step < steps && p > step / steps) step++;
    while (step > 0 && p <= (step - 1) / steps) step--;
    (k === 1 ? wanted : others)[step]++;
  });
  let left = 0;
  let missed = 0;
  const all = { others: others.reduce((sum, n) => sum + n, 0), wanted: wanted.reduce((sum, n) => sum + n, 0) };
  return Array.from({ length: steps + 1 }, (_, step) => {
    left += others[step];
    missed += wanted[step];
    return { left, missed, needless: all.others - left, found: all.wanted - missed };
  });
}

export const outcomeAt = (outcomes: readonly Outcome[], threshold: number): Outcome =>
  outcomes[Math.min(steps, Math.max(0, Math.round(threshold * steps)))];

/** Mean cost a row. */
export function costOf({ left, needless, missed, found }: Outcome, costs: Costs): number {
  return (missed * costs.missed + needless * costs.needless) / (left + needless + missed + found);
}

/** The threshold of least cost; of equal ones the middle of the first stretch. */
export function cheapestThreshold(outcomes: readonly Outcome[], costs: Costs): number {
  const prices = outcomes.map((outcome) => costOf(outcome, costs));
  const best = Math.min(...prices);
  const first = prices.findIndex((price) => price <= best + 1e-12 * Math.abs(best));
  let last = first;
  while (last + 1 < prices.length && prices[last + 1] <= best + 1e-12 * Math.abs(best)) last++;
  return Math.round((first + last) / 2) / steps;
}

export interface ThresholdScores {
  readonly balanced_accuracy: Interval & { readonly value: number };
  readonly accuracy: Interval & { readonly value: number };
  readonly f1: Interval & { readonly value: number };
  readonly cost: Interval & { readonly value: number };
}

/** The same scores alone; a score that does not exist is no number. */
export const plainThresholdScores = ({ left, needless, missed, found }: Outcome) =>
  countScores([left, needless, missed, found], 2);

/** Scores that move with the threshold, with intervals; in less than a millisecond or two whatever the rows. */
export function thresholdScores(outcome: Outcome, costs: Costs): ThresholdScores {
  const counts = [outcome.left, outcome.needless, outcome.missed, outcome.found];
  const scoresOf = (cells: readonly number[]) => ({
    ...countScores(cells, 2),
    cost: costOf({ left: cells[0], needless: cells[1], missed: cells[2], found: cells[3] }, costs),
  });
  const names = ['balanced_accuracy', 'accuracy', 'f1', 'cost'] as const;
  const drawn = names.map(() => new Float64Array(resamples));
  resampleCells(counts, (cells, number) => {
    const found = scoresOf(cells);
    names.forEach((name, i) => (drawn[i][number] = found[name]));
  });
  const values = scoresOf(counts);
  return Object.fromEntries(
    names.map((name, i) => {
      const rows = counts.reduce((sum, count) => sum + count, 0);
      const interval =
        name === 'accuracy' ? wilson(outcome.left + outcome.found, rows) : earned(percentiles(drawn[i]), rows);
      return [name, { value: values[name], ...interval }];
    }),
  ) as unknown as ThresholdScores;
}
