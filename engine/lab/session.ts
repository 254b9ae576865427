// One measurement of a device: its budget of time, divided over parts and their figures; noise, measured again and said; what
// was left out. The parts themselves stand in parts.ts.

import { longUnit, measure, type Timing } from '../bench/measure.ts';
import type { OpenWorkload } from '../bench/workload.ts';
import type { LabPart, LabReport, Spread } from '../protocol/lab.ts';
import type { LabControl, LabSurroundings } from './control.ts';
import { isNoisy, leastCalls, mostTries, spreadShare, timeSpread } from './spread.ts';

/** What the first try of a figure takes of its share; the rest is for trying again. */
const firstShare = 0.3;
/** Calls of warming up: short ones, and such as last some rounds. */
const warmUps = { short: 3, long: 1 } as const;
/** A first try ends when it has taken so many times its share, and so many milliseconds: then the figure is left out. */
const overrun = 3;
const leastOverrun = 500;
/** Milliseconds of a round of calls at least: what a coarse clock can see. */
const leastRound = 0.05;
/** Messages are let in this often, in milliseconds. */
const breathing = 20;

/** A figure of a part: what it is called in notes, and the kind of device's least length of a round in milliseconds. */
export interface Timed {
  /** "the product of N = 256" */
  readonly what: string;
  /** Milliseconds it may take. */
  readonly share: number;
  readonly workload: Pick<OpenWorkload, 'run'>;
}

export interface SessionOptions {
  /** Milliseconds a round of calls lasts at most: waiting for a GPU costs time of its own. */
  readonly round: number;
  /** Calls that a figure needs at least; enough for a median by default. */
  readonly calls?: number;
  readonly surroundings: LabSurroundings;
  readonly control: LabControl;
  /** Called now and then while measuring. */
  readonly onTick: () => void;
}

export class LabSession {
  readonly notes: string[] = [];
  readonly reports: LabReport[] = [];
  readonly #options: SessionOptions;
  #noise: LabReport['noise'][number][] = [];
  #leftOut: LabReport['leftOut'][number][] = [];
  #givenUp: LabReport['givenUp'][number][] = [];
  #measured: string[] = [];
  #breathed = 0;
  /** Looks at the others since the part began: those at single figures are mostly too short to tell. */
  #others: (() => number | null) | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#others = options.surroundings.watchOthers?.();
  }

  get #calls(): number {
    return this.#options.calls ?? leastCalls;
  }

  /** Of so many milliseconds each, those of warming up included. */
  #neededCalls(millisecondsEach: number): number {
    return this.#calls + (millisecondsEach >= longUnit * this.#options.round ? warmUps.long : warmUps.short);
  }

  get clock(): () => number {
    return this.#options.surroundings.clock;
  }

  /** Lets messages in, if it is time for that; throws CancelledError. */
  readonly between = async (): Promise<void> => {
    const now = this.clock();
    if (now - this.#breathed < breathing) return this.#options.control.check();
    this.#options.onTick();
    await this.#options.surroundings.breathe();
    this.#breathed = this.clock();
    this.#options.control.check();
  };

  /** Whether the least number of calls of so many milliseconds fit a share; remembers what is left out if they do not. */
  fits(what: string, millisecondsEach: number, share: number): boolean {
    const needed = this.#neededCalls(millisecondsEach) * millisecondsEach;
    if (needed <= share) return true;
    this.#leftOut.push({ what, needed, share });
    return false;
  }

  /** Runs a unit that no figure is of, as threads start with the first. Returns the milliseconds it took. */
  async prepare(workload: Timed['workload']): Promise<number> {
    const start = this.clock();
    await workload.run(1);
    await this.between();
    return this.clock() - start;
  }

  /**
   * Milliseconds of a unit: measured again while it is noisy and its share lasts. Keeps the try that was disturbed least; null where
   * the least number of calls takes far longer than their share.
   */
  async time({ what, share, workload }: Timed): Promise<Spread | null> {
    const { surroundings, round } = this.#options;
    const { clock } = surroundings;
    const start = clock();
    const end = start + share;
    const length = Math.max(leastRound, Math.min(round, (firstShare * share) / (2 * this.#neededCalls(0))));
    let kept: Spread | null = null;
    let others: number | null = null;
    for (let tries = 1; ; tries++) {
      const seen = surroundings.watchOthers?.();
      const timing = await this.#try(workload, {
        milliseconds: Math.min(firstShare * share, end - clock()),
        round: length,
        until: tries === 1 ? start + overrun * share + leastOverrun : end,
      });
      others = seen?.() ?? others;
      if (timing === null && kept === null) {
        this.#givenUp.push({ what, others });
        return null;
      }
      if (timing !== null) kept = lessDisturbed(kept, timeSpread(timing, tries));
      const spread = kept as Spread;
      const isLast =
        timing === null || tries === mostTries || clock() + this.#neededCalls(spread.median) * spread.median > end;
      if (isNoisy(spread) && !isLast) continue;
      this.#measured.push(what);
      if (isNoisy(spread)) this.#noise.push({ what, share: spreadShare(spread), others });
      return spread;
    }
  }

  /** null: it had not come to its end at `until`. */
  async #try(
    workload: Timed['workload'],
    { milliseconds, round, until }: { readonly milliseconds: number; readonly round: number; readonly until: number },
  ): Promise<Timing | null> {
    const { clock } = this;
    const tooLong = new Error('too long');
    const between = async (): Promise<void> => {
      await this.between();
      if (clock() > until) throw tooLong;
    };
    try {
      return await measure(workload, clock, { milliseconds, least: this.#calls, round, between });
    } catch (error) {
      if (error === tooLong) return null;
      throw error;
    }
  }

  /** Keeps what a part has to say. */
  closePart(part: LabPart): void {
    const [measured, noise, leftOut, givenUp] = [this.#measured, this.#noise, this.#leftOut, this.#givenUp];
    [this.#measured, this.#noise, this.#leftOut, this.#givenUp] = [[], [], [], []];
    const others = this.#others?.() ?? null;
    this.#others = this.#options.surroundings.watchOthers?.();
    this.reports.push({ part, measured, noise, leftOut, givenUp, others });
  }
}

/** Medians this near to each other are the same. */
const sameMedian = 1.05;

/** The faster of two tries, since whatever disturbs makes it slower; of two that are as fast the narrower. With the number of both. */
function lessDisturbed(before: Spread | null, found: Spread): Spread {
  if (before === null) return found;
  const [less, more] = [found.median, before.median].sort((a, b) => a - b);
  const isBetter = more <= sameMedian * less ? spreadShare(found) < spreadShare(before) : found.median < before.median;
  return isBetter ? found : { ...before, tries: found.tries };
}
