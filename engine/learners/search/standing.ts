// What the trials of a search come to: the best, how it compares, what was saved and which settings matter.

import type { OutputSpec } from '../../model/spec.ts';
import { isBetter } from '../../protocol/search.ts';
import type { SearchStanding, SettingImportance, Trial, TrialSettings } from '../../protocol/search.ts';
import { goesOn } from '../../search/asha.ts';
import { importanceOf, leastTrials } from '../../search/importance.ts';
import { optimism } from '../../search/optimism.ts';
import type { Seen } from '../../search/sampler.ts';
import { pointOf, type Space } from '../../search/space.ts';
import { shownLoss } from '../auto/leaderboard.ts';
import type { RunConfig } from '../../protocol/runs.ts';
import { metricOf } from './declaration.ts';

/** Pairs of settings that are told. */
const mostPairs = 10;

/** As a sampler sees it. */
const seenOf = ({ settings, score, reached, rungs }: Trial): Seen => ({
  chosen: settings,
  score,
  reached,
  rungs,
});

/** The trials in the order of their numbers, and what follows from them. */
export class Trials {
  readonly #output: OutputSpec;
  readonly #space: Space;
  readonly #seed: number;
  readonly #folds: number;
  readonly #configOf: (settings: TrialSettings) => RunConfig;
  readonly all: Trial[] = [];
  readonly #seen: Seen[] = [];
  /** By settings: the trials that would come to the same, each further than the one before. */
  readonly #bySettings = new Map<string, Trial[]>();
  /** Trials that were stopped, and those that went on with them. */
  readonly #wentOn = new Map<number, number>();
  readonly #rungs = new Map<number, { readonly trials: number[]; readonly losses: number[] }>();
  #best: Trial | null = null;
  /** After each trial, from none on: how many at the end had settings that had been tried before. */
  readonly #repeats = [0];
  #importance: { readonly of: number; readonly found: SettingImportance | null } = { of: 0, found: null };

  constructor(
    space: Space,
    seed: number,
    output: OutputSpec,
    folds: number,
    configOf: (settings: TrialSettings) => RunConfig,
  ) {
    this.#configOf = configOf;
    this.#output = output;
    this.#space = space;
    this.#seed = seed;
    this.#folds = folds;
  }

  add(trial: Trial): void {
    this.all.push(trial);
    this.#seen.push(seenOf(trial));
    const key = JSON.stringify(trial.settings);
    const like = this.#bySettings.get(key) ?? [];
    const before = trial.after === undefined ? undefined : this.all[trial.after - 1];
    const isNew = like.length === 0 || before !== undefined;
    this.#repeats.push(isNew ? 0 : this.#repeats.at(-1)! + 1);
    const isCut = trial.state === 'completed' && trial.reached < 1;
    if (trial.state !== 'failed' && !isCut && isNew) this.#bySettings.set(key, [...like, trial]);
    if (before !== undefined) this.#wentOn.set(before.trial, trial.trial);
    // What it went on with has told of the others.
    for (const [rung, loss] of trial.rungs.slice(before?.rungs.length ?? 0)) {
      const at = this.#rungs.get(rung) ?? { trials: [], losses: [] };
      this.#rungs.set(rung, at);
      at.trials.push(trial.trial);
      at.losses.push(loss);
    }
    if (isBetter(trial, this.#best)) this.#best = trial;
  }

  /** Of equal ones the first. Only trials that were completed are. */
  get best(): Trial | null {
    return this.#best;
  }

  /** Whether one of the first `known` trials was completed. */
  anyCompleted(known: number): boolean {
    return this.all.slice(0, known).some(({ state }) => state === 'completed');
  }

  /** Of the first `known` trials: how many at their end, in a row, had settings that had been tried before. */
  repeats(known: number): number {
    return this.#repeats[known];
  }

  /** The first `known` trials as samplers see them: of one that went on, the last. */
  seen(known: number): Seen[] {
    const seen = this.#seen.slice(0, known);
    return this.#wentOn.size === 0 ? seen : seen.filter((_, at) => !((this.#wentOn.get(at + 1) ?? Infinity) <= known));
  }

  /**
   * Of the first `known` trials the one that goes on: at the highest rung, the best of those that were stopped there, if it is among the best of
   * all that came there by now. `whole`: the best at the highest rung, whatever the others are. None of `taken`, which go on already.
   */
  toGoOn(known: number, taken: ReadonlySet<number>, whole: boolean): Trial | undefined {
    const waits = (trial: number, rung: number): boolean => {
      const { state, rungs } = this.all[trial - 1];
      return state === 'stopped' && rungs.at(-1)![0] === rung && !taken.has(trial);
    };
    for (const rung of [...this.#rungs.keys()].sort((a, b) => b - a)) {
      const losses = this.atRung(rung, known);
      const { trials } = this.#rungs.get(rung)!;
      let best = -1;
      losses.forEach((loss, at) => {
        if (Number.isFinite(loss) && !(loss >= losses[best]) && waits(trials[at], rung)) best = at;
      });
      if (best < 0) continue;
      if (whole || goesOn(rung, losses[best], losses.toSpliced(best, 1))) return this.all[trials[best] - 1];
    }
    return undefined;
  }

  /** Losses that the first `known` trials had at a rung. */
  atRung(rung: number, known: number): readonly number[] {
    const { trials, losses } = this.#rungs.get(rung) ?? { trials: [], losses: [] };
    return losses.slice(0, trials.findLastIndex((trial) => trial <= known) + 1);
  }

  /** One of the first `known` trials with the same settings, which would come to the same. */
  like(settings: Trial['settings'], known: number): Trial | undefined {
    return this.#bySettings.get(JSON.stringify(settings))?.findLast(({ trial }) => trial <= known);
  }

  /** Finds out which settings matter, where there are more trials than the last time. */
  findImportance(): void {
    if (this.#importance.of === this.all.length) return;
    const whole = this.all.filter(({ state, reached }) => state === 'completed' && reached >= 1);
    const stopped = this.#left();
    this.#importance = { of: this.all.length, found: this.#foundImportance(whole, stopped) };
  }

  standing(): SearchStanding<RunConfig> {
    const completed = this.all.filter(({ state }) => state === 'completed');
    const stopped = this.all.filter(({ state }) => state === 'stopped');
    const best = this.#best;
    const steps = this.all.reduce((sum, trial) => sum + trial.steps, 0);
    return {
      trials: this.all.length,
      completed: completed.length,
      stopped: stopped.length,
      failed: this.all.length - completed.length - stopped.length,
      best: best && {
        trial: best.trial,
        score: best.score!,
        settings: best.settings,
        config: this.#configOf(best.settings),
        ...(best.reached < 1 && { cut: best.note }),
      },
      metric: metricOf(this.#output),
      luck: this.#luck(completed),
      steps,
      fullSteps: this.#fullSteps(),
      overhead: median(this.all.filter((trial) => trial.steps > 0).map((trial) => trial.seconds - trial.training)),
      importance: this.#importance.found,
      folds: this.#folds,
    };
  }

  /** Those that were stopped and did not go on. */
  #left(): readonly Trial[] {
    return this.all.filter(({ trial, state }) => state === 'stopped' && !this.#wentOn.has(trial));
  }

  /** Each setting that was tried once: where its trial was stopped, the steps of one that was completed. */
  #fullSteps(): number {
    // What was taken over from a trial with the same settings took no steps.
    const own = ({ steps }: Trial): boolean => steps > 0;
    const whole = this.all.filter(({ state }) => state !== 'stopped').filter(own);
    const ofCompleted = mean(whole.filter(({ state }) => state === 'completed').map((trial) => this.#stepsOf(trial)));
    const left = this.#left().filter(own).length;
    return whole.reduce((sum, trial) => sum + this.#stepsOf(trial), left * ofCompleted);
  }

  /** With those of what it went on with, each once. */
  #stepsOf({ steps, after, anew }: Trial): number {
    return steps + (after === undefined || anew ? 0 : this.#stepsOf(this.all[after - 1]));
  }

  /** In the unit of the score. */
  #luck(completed: readonly Trial[]): number | null {
    const best = this.#best;
    // Those that were scored on the same parts, each to its end.
    const whole = completed.filter(({ reached }) => reached >= 1);
    if (best === null || whole.length < 2) return null;
    const bias = optimism(whole.map(({ losses }) => losses));
    const mean = best.losses.reduce((sum, loss) => sum + loss, 0) / best.losses.length;
    return shownLoss(this.#output, mean + bias) - shownLoss(this.#output, mean);
  }

  #foundImportance(completed: readonly Trial[], stopped: readonly Trial[]): SettingImportance | null {
    // What was stopped early has a score of its own kind: it counts as bad as the worst third of what was completed, which tells nothing alone.
    if (completed.length === 0) return null;
    const scores = completed.map(({ score }) => score!).sort((a, b) => a - b);
    const bad = scores[Math.floor((2 / 3) * scores.length)] ?? NaN;
    const enough = Math.max(stopped.length, leastTrials(Object.keys(this.#space).length));
    const counted = completed.length >= enough ? completed : [...completed, ...stopped];
    const found = importanceOf(
      counted.map(({ settings }) => pointOf(this.#space, settings)),
      counted.map(({ state, score }) => (state === 'completed' ? score! : Math.max(bad, score ?? bad))),
      this.#seed,
    );
    const names = Object.keys(this.#space);
    return (
      found && {
        single: Object.fromEntries(names.map((name, at) => [name, found.single[at]])),
        pairs: found.pairs
          .slice(0, mostPairs)
          .map(({ of: [one, other], share }) => ({ of: [names[one], names[other]] as const, share })),
      }
    );
  }
}

const mean = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

function median(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
