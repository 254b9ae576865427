// Runs tested against each other on rows that both predict and neither learned from (`comparedRows`): the rows are predicted when they are asked for, once a run, and every
// pair is tested once they are there (engine/evaluation/paired.ts), slice by slice of a frame. The window of two runs and the pane of many
// read the same.

import { SvelteMap } from 'svelte/reactivity';
import { holm, pairedSteps, rowsToTell, turned, type PairedTest } from '../../../engine/evaluation/paired.ts';
import { comparedRows } from '../../../engine/learners/declared/compared-rows.ts';
import type { AppService } from '../../../engine/protocol/app.ts';
import type { EvaluatedRows } from '../../../engine/protocol/evaluated-rows.ts';
import { isCrossValidation } from '../../../engine/protocol/folds.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { failureOf, type Failure } from '../../app/failure.ts';
import { fixed, short } from '../../lib/format.ts';
import { hasModel, isLive, weightsKey } from '../../lib/run-words.ts';
import { inSlices } from '../../lib/steps.ts';

/** A run as the pair knows it: with its letter. */
export interface Lettered {
  readonly run: RunRecord;
  readonly letter: string;
}

export interface TestedPair {
  /** The better one first, where there is one. */
  readonly first: Lettered;
  readonly second: Lettered;
  /** How much better the first is than the second; null, with the reason: they were not tested. */
  readonly test: PairedTest | null;
  readonly corrected: number;
  readonly reason: string;
}

/** Below this a difference is called one. */
const called = 0.05;

export class PairedRows {
  /** Runs predicted so far of those that were asked for: of all, their pairs are tested; null: nothing is going on. */
  progress: { readonly done: number; readonly of: number } | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  readonly #service: Pick<AppService, 'evaluate' | 'cancel'>;
  readonly #rows = new SvelteMap<string, EvaluatedRows>();
  /** By the weights of both; null: these rows cannot be tested. */
  readonly #tests = new SvelteMap<string, PairedTest | null>();
  #job: string | null = null;
  #wanted = false;

  constructor(service: Pick<AppService, 'evaluate' | 'cancel'>) {
    this.#service = service;
  }

  rowsOf(run: RunRecord): EvaluatedRows | undefined {
    return this.#rows.get(weightsKey(run));
  }

  /** Of the second against the first; undefined: not tested yet. */
  testOf(first: RunRecord, second: RunRecord): PairedTest | null | undefined {
    const known = this.#tests.get(keyOf(first, second));
    if (known !== undefined) return known;
    const other = this.#tests.get(keyOf(second, first));
    return other ? turned(other) : other;
  }

  /** Predicts the rows of those that were not yet, and tests their pairs. */
  async ask(runs: readonly RunRecord[]): Promise<void> {
    if (this.progress !== null) return;
    const missing = runs.filter((run) => whyNot(run) === null && !this.#rows.has(weightsKey(run)));
    this.failure = null;
    this.#wanted = true;
    try {
      for (const [done, run] of missing.entries()) {
        this.progress = { done, of: missing.length };
        this.#job = `same-rows-${run.id}-${Date.now()}`;
        const { rows } = await this.#service.evaluate({ job: this.#job, run: run.id, split: comparedRows(run) });
        this.#rows.set(weightsKey(run), rows);
        if (!this.#wanted) break;
      }
      this.progress = { done: missing.length, of: missing.length };
      await this.#test(runs);
    } catch (error) {
      if (this.#wanted) this.failure = failureOf(error);
    }
    this.#job = null;
    this.progress = null;
  }

  cancel(): void {
    this.#wanted = false;
    if (this.#job === null) return;
    void this.#service.cancel({ job: this.#job }).catch(() => undefined);
    this.#job = null;
  }

  async #test(runs: readonly RunRecord[]): Promise<void> {
    for (const [first, second] of pairsOf(runs)) {
      const [a, b] = [this.rowsOf(first), this.rowsOf(second)];
      if (!a || !b || first.dataset !== second.dataset || this.testOf(first, second) !== undefined) continue;
      const test = await inSlices(pairedSteps(a, b), () => this.#wanted);
      if (!this.#wanted) return;
      this.#tests.set(keyOf(first, second), test);
    }
  }
}

const keyOf = (first: RunRecord, second: RunRecord): string => `${weightsKey(first)} ${weightsKey(second)}`;

const pairsOf = <T>(all: readonly T[]): (readonly [T, T])[] =>
  all.flatMap((first, index) => all.slice(index + 1).map((second) => [first, second] as const));

/** Why a run cannot be asked; null: it can. */
function whyNot(run: RunRecord): string | null {
  if (isLive(run)) return 'still training';
  if (isCrossValidation(run.config)) return hasModel(run) ? null : 'has no folds that stand';
  if (!hasModel(run)) return 'has no weights';
  return comparedRows(run) === 'validation' && run.data?.counts.validation === 0 ? 'has no validation rows' : null;
}

/** All pairs of these runs, corrected for how many there are; null until all that can be tested are. */
export function testedPairs(
  runs: readonly Lettered[],
  rows: Pick<PairedRows, 'rowsOf' | 'testOf'>,
): readonly TestedPair[] | null {
  const pairs: TestedPair[] = [];
  for (const [first, second] of pairsOf(runs)) {
    const pair = pairOf(first, second, rows);
    if (pair === null) return null;
    pairs.push(pair);
  }
  const tested = pairs.filter(({ test }) => test !== null);
  const corrected = holm(tested.map(({ test }) => test!.p));
  return [
    ...tested.map((pair, index) => ({ ...pair, corrected: corrected[index] })),
    ...pairs.filter(({ test }) => test === null),
  ];
}

/** Null: not tested yet. */
function pairOf(first: Lettered, second: Lettered, rows: Pick<PairedRows, 'rowsOf' | 'testOf'>): TestedPair | null {
  const none = (reason: string): TestedPair => ({ first, second, test: null, corrected: 1, reason });
  for (const { run, letter } of [first, second]) {
    const why = whyNot(run);
    if (why !== null) return none(`${letter} ${why}`);
  }
  if (first.run.dataset !== second.run.dataset) return none('other dataset');
  const test = rows.testOf(first.run, second.run);
  if (test === undefined) return null;
  const kind = rows.rowsOf(first.run)?.kind;
  if (test === null) return none(kind === rows.rowsOf(second.run)?.kind ? 'no common rows' : 'learn different things');
  // The difference is the second's less the first's. Of classes more is better, of errors less.
  const better = test.difference.value * (kind === 'classes' ? 1 : -1) > 0;
  return better
    ? { first: second, second: first, test, corrected: 1, reason: '' }
    : { first, second, test: turned(test), corrected: 1, reason: '' };
}

/** The rows that these runs are tested on: `validation rows`. */
export const testedRows = (runs: readonly RunRecord[]): string =>
  runs.some((run) => comparedRows(run) === 'out of fold') ? 'rows that neither learned from' : 'validation rows';

export const isCalled = ({ test, corrected }: Pick<TestedPair, 'test' | 'corrected'>): boolean =>
  test !== null && corrected < called;

/** `p = 0.11`, `p < 0.001` */
export function chance(p: number): string {
  return `p ${p < 0.0005 ? `< ${fixed(0.001, 3)}` : `= ${short(p, 2)}`}`;
}

/** `A is better on 158 of 5,000 rows, worse on 130: p = 0.11.` */
export function pairSentence({ first, second, test }: TestedPair): string {
  if (test === null) return '';
  const on = `${fixed(test.better)} of ${fixed(test.rows)} rows, worse on ${fixed(test.worse)}`;
  return `${first.letter} is better than ${second.letter} on ${on}: ${chance(test.p)}.`;
}

/** What follows from it, and what would settle it where nothing does. */
export function readingOf(pair: TestedPair, pairs: number): string {
  const { first, second, test, corrected } = pair;
  if (test === null) return '';
  if (isCalled(pair)) return `${first.letter} is better${pairs > 1 ? `, also among ${pairs} pairs` : ''}.`;
  const among = test.p < called ? ` Among ${pairs} pairs that counts as ${chance(corrected)}.` : '';
  const needed = rowsToTell(test);
  const settled =
    needed === null || needed <= test.rows
      ? ''
      : ` A difference of this size takes about ${short(needed, 2)} rows to be told from chance.`;
  return `Not enough to say ${first.letter} beats ${second.letter}.${among}${settled}`;
}

/** `By Holm's rule A over D and B over D hold, A over C does not.` */
export function holmSentence(pairs: readonly TestedPair[]): string {
  const tested = pairs.filter(({ test }) => test !== null);
  if (tested.length < 2) return '';
  const name = ({ first, second }: TestedPair): string => `${first.letter} over ${second.letter}`;
  const hold = tested.filter(isCalled).map(name);
  const fall = tested.filter((pair) => !isCalled(pair) && pair.test!.p < called).map(name);
  const list = (names: readonly string[]): string =>
    names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  const verb = (names: readonly string[], one: string, many: string): string => (names.length === 1 ? one : many);
  const said =
    hold.length === 0
      ? `none of them holds${fall.length > 0 ? `, though ${list(fall)} would alone` : ''}`
      : `${list(hold)} ${verb(hold, 'holds', 'hold')}${fall.length > 0 ? `, ${list(fall)} ${verb(fall, 'does', 'do')} not` : ''}`;
  return `${tested.length} pairs tested: by Holm’s rule ${said}.`;
}
