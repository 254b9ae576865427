// The leaderboard of an ensemble: what each member scores on rows it did not learn from, with an interval, and the ensemble above them.

import type { OutputSpec } from '../../model/spec.ts';
import type { LeaderboardRow } from '../../protocol/leaderboard.ts';
import type { Member } from './member.ts';
import type { PartRows } from './part-rows.ts';
import { lossesOf, meanOf, mixed, selectGreedily, type Judge, type Said } from './selection.ts';
import { valuesPerRow } from './trained.ts';

/** Of a normal distribution: 95 % lie within so many standard deviations. */
const normal95 = 1.96;

/** A mean loss as it is shown: a log loss, or a root mean square in the target's unit. */
export const shownLoss = (output: OutputSpec, mean: number): number =>
  output.kind === 'classes' ? Math.max(0, mean) : Math.sqrt(Math.max(0, mean)) * output.scale;

/** The loss of each row that a member has predicted out of fold. */
export function lossesOfMember(
  { outOfFold, models }: Pick<Member, 'outOfFold' | 'models'>,
  rows: PartRows,
  output: OutputSpec,
): Float64Array {
  const own = Uint32Array.from(models.flatMap(({ part }) => [...rows.rowsOf(part)]));
  const kind = output.kind === 'classes' ? 'classes' : 'values';
  return lossesOf({ kind, truth: rows.targets, rows: own }, saidOf(outOfFold, rows.targets, output), null, 1);
}

/** A score of rows with its interval: the mean log loss, or the root of the mean square in the target's unit. Less is better. */
export function scoreOf(
  losses: Float64Array,
  output: OutputSpec,
): { readonly score: number; readonly interval: readonly [number, number] } {
  const mean = meanOf(losses);
  const variance = losses.reduce((sum, loss) => sum + (loss - mean) ** 2, 0) / Math.max(1, losses.length - 1);
  const around = normal95 * Math.sqrt(variance / Math.max(1, losses.length));
  const shown = (value: number): number => shownLoss(output, value);
  return { score: shown(mean), interval: [shown(mean - around), shown(mean + around)] };
}

/** The rows that members are scored on. */
export type ScoredRows = Pick<PartRows, 'rowsOf' | 'targets' | 'count'>;

/** The members and what they say of the rows. */
export class Standing {
  readonly #rows: ScoredRows;
  readonly #output: OutputSpec;
  readonly members: readonly Member[];
  /** [members][N] of the truth: see `Said`. */
  readonly #said: readonly Said[];

  constructor(members: readonly Member[], rows: ScoredRows, output: OutputSpec) {
    this.members = members;
    this.#rows = rows;
    this.#output = output;
    this.#said = members.map(({ outOfFold }) => saidOf(outOfFold, rows.targets, output));
  }

  #judge(parts: readonly number[]): Judge {
    const rows = Uint32Array.from(parts.flatMap((part) => [...this.#rows.rowsOf(part)]).sort((a, b) => a - b));
    return { kind: this.#output.kind === 'classes' ? 'classes' : 'values', truth: this.#rows.targets, rows };
  }

  #parts({ models }: Member): readonly number[] {
    return models.map(({ part }) => part);
  }

  /**
   * [members] weights. Of members that did not come to all their folds none counts beside one that did: a mix would be chosen, and
   * judged, by a part of the rows alone. Where none did, those with the most folds count.
   */
  select(): readonly number[] {
    const most = Math.max(...this.members.map(({ models }) => models.length));
    const counted = this.members.filter(({ models }) => models.length === most);
    const said = counted.map((member) => this.#said[this.members.indexOf(member)]);
    const { weights } = selectGreedily(said, this.#judge(this.#parts(counted[0])));
    return this.members.map((member) => weights[counted.indexOf(member)] ?? 0);
  }

  #allParts(): readonly number[] {
    return Array.from({ length: this.#rows.count }, (_, part) => part + 1);
  }

  /** The parts that all members of weight have predicted. */
  partsOf(weights: readonly number[]): readonly number[] {
    const weighty = this.members.filter((_, index) => weights[index] > 0);
    return this.#allParts().filter((part) => weighty.every((member) => this.#parts(member).includes(part)));
  }

  /** The rows that the ensemble is judged by, and what it says of them: [rows, values]. */
  outOfFold(weights: readonly number[]): { readonly rows: Uint32Array; readonly values: Float64Array } {
    const { rows } = this.#judge(this.partsOf(weights));
    const width = valuesPerRow(this.#output);
    const values = new Float64Array(rows.length * width);
    this.members.forEach(({ outOfFold }, index) => {
      if (weights[index] === 0) return;
      rows.forEach((row, at) => {
        for (let k = 0; k < width; k++) values[at * width + k] += weights[index] * outOfFold[row * width + k];
      });
    });
    return { rows, values };
  }

  /** The ensemble first, then the members by their scores, those with fewer folds behind: theirs are of fewer rows. */
  board(weights: readonly number[]): readonly LeaderboardRow[] {
    const weighty = weights.filter((weight) => weight > 0).length;
    const best = this.#row(mixed(this.#said, weights), this.partsOf(weights), null);
    const ensemble: LeaderboardRow = {
      ...best,
      member: null,
      run: null,
      learner: 'auto',
      title: weighty === 1 ? 'The best one alone' : `Ensemble of ${weighty}`,
      seconds: this.members.reduce((sum, { seconds }) => sum + seconds, 0),
      microseconds: this.members.reduce((sum, member, i) => sum + (weights[i] > 0 ? member.microseconds : 0), 0),
      weight: 1,
    };
    const all = mixed(this.#said, weights);
    const rows = this.members.map((member, index): LeaderboardRow => ({
      ...this.#row(this.#said[index], this.#parts(member), all),
      member: member.number,
      run: null,
      learner: member.config.learner,
      title: member.title,
      seconds: member.seconds,
      microseconds: member.microseconds,
      weight: weights[index],
    }));
    rows.sort((one, other) => other.folds.length - one.folds.length || one.score - other.score);
    return [ensemble, ...rows, this.#constant(all)];
  }

  /** The answer that is always the same: the shares of the classes, or the mean, of all training rows. */
  #constant(best: Said): LeaderboardRow {
    const { targets } = this.#rows;
    const counts = new Map<number, number>();
    for (const target of targets) counts.set(target, (counts.get(target) ?? 0) + 1);
    const mean = targets.reduce((sum, target) => sum + target, 0) / targets.length;
    const said =
      this.#output.kind === 'classes'
        ? Float64Array.from(targets, (target) => (counts.get(target) ?? 0) / targets.length)
        : new Float64Array(targets.length).fill(mean);
    return {
      ...this.#row(said, this.#allParts(), best),
      ...{ member: null, run: null, learner: 'constant', title: 'Always the same answer' },
      ...{ seconds: 0, microseconds: 0, weight: 0 },
    };
  }

  #row(
    said: Said,
    parts: readonly number[],
    best: Said | null,
  ): Pick<LeaderboardRow, 'score' | 'interval' | 'folds' | 'ofFolds' | 'ensembleThere' | 'tied'> {
    const judge = this.#judge(parts);
    const losses = lossesOf(judge, said, null, 1);
    const there = best && judge.rows.length < this.#judged(best) ? lossesOf(judge, best, null, 1) : null;
    const folds = parts.map((part) => scoreOf(lossesOf(this.#judge([part]), said, null, 1), this.#output).score);
    const tied = best === null || !this.#isWorse(said, best, parts);
    return {
      ...{ ...scoreOf(losses, this.#output), folds, ofFolds: this.#rows.count },
      ...(there ? { ensembleThere: scoreOf(there, this.#output).score } : {}),
      tied,
    };
  }

  /** Rows of all parts that the ensemble has predicted. */
  #judged(best: Said): number {
    return this.#judge(this.#allParts()).rows.filter((row) => !Number.isNaN(best[row])).length;
  }

  /** Whether chance does not explain that it is behind, on the rows that both have predicted. */
  #isWorse(said: Said, best: Said, parts: readonly number[]): boolean {
    const { kind, truth, rows } = this.#judge(parts);
    const judge = { kind, truth, rows: rows.filter((row) => !Number.isNaN(best[row])) };
    const behind = differences(lossesOf(judge, said, null, 1), lossesOf(judge, best, null, 1));
    return scoreOf(behind, plain).interval[0] > 0;
  }
}

/** Losses as they are. */
const plain: OutputSpec = { kind: 'classes', classes: [] };

const differences = (one: Float64Array, other: Float64Array): Float64Array => one.map((loss, row) => loss - other[row]);

/** [N] the probability of what is so, or the value. */
function saidOf(values: Float64Array, targets: Float32Array, output: OutputSpec): Said {
  if (output.kind === 'value') return values;
  const K = output.classes.length;
  return Float64Array.from(targets, (target, row) => values[row * K + target]);
}
