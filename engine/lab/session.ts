// One measurement of a device: its budget of time, divided over parts and their figures; noise, measured again and said; what
// was left out. The parts themselves stand in parts.ts.

import { measure, type Timing } from '../bench/measure.ts';
import type { OpenWorkload } from '../bench/workloads.ts';
import type { LabPart, Spread } from '../protocol/lab.ts';
import type { LabControl, LabSurroundings } from './control.ts';
import { isNoisy, leastCalls, mostTries, spreadShare, timeSpread } from './spread.ts';

/** What the first try of a figure takes of its share; the rest is for trying again. */
const firstShare = 0.3;
/** Calls that a figure needs at least, those of warming up included. */
const neededCalls = leastCalls + 3;
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

interface LeftOut {
  readonly what: string;
  readonly needed: number;
  readonly share: number;
}

interface Noise {
  readonly what: string;
  readonly share: number;
  readonly others: number | null;
}

export interface SessionOptions {
  /** Milliseconds a round of calls lasts at most: waiting for a GPU costs time of its own. */
  readonly round: number;
  readonly surroundings: LabSurroundings;
  readonly control: LabControl;
  /** Called now and then while measuring. */
  readonly onTick: () => void;
}

export class LabSession {
  readonly notes: string[] = [];
  readonly #options: SessionOptions;
  #noise: Noise[] = [];
  #leftOut: LeftOut[] = [];
  #figures = 0;
  #breathed = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
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

  /** Whether `leastCalls` calls of so many milliseconds fit a share; remembers what is left out if they do not. */
  fits(what: string, millisecondsEach: number, share: number): boolean {
    const needed = neededCalls * millisecondsEach;
    if (needed <= share) return true;
    this.#leftOut.push({ what, needed, share });
    return false;
  }

  /**
   * Milliseconds of a unit: measured again while it is noisy and its share lasts. Keeps the try that was disturbed least; null where
   * `leastCalls` calls take far longer than their share.
   */
  async time({ what, share, workload }: Timed): Promise<Spread | null> {
    const { surroundings, round } = this.#options;
    const { clock } = surroundings;
    const start = clock();
    const end = start + share;
    const length = Math.max(leastRound, Math.min(round, (firstShare * share) / (2 * neededCalls)));
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
        this.notes.push(
          `${sentence(what)} was left out: its calls took far longer than expected. ${reason(others ?? undefined)}`,
        );
        return null;
      }
      if (timing !== null) kept = lessDisturbed(kept, timeSpread(timing, tries));
      const spread = kept as Spread;
      const isLast = timing === null || tries === mostTries || clock() + neededCalls * spread.median > end;
      if (isNoisy(spread) && !isLast) continue;
      this.#figures++;
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
      return await measure(workload, clock, { milliseconds, least: leastCalls, round, between });
    } catch (error) {
      if (error === tooLong) return null;
      throw error;
    }
  }

  /** Says in a sentence each what was left out of a part, and how noisy it was. */
  closePart(part: LabPart): void {
    const [figures, noise, leftOut] = [this.#figures, this.#noise, this.#leftOut];
    [this.#figures, this.#noise, this.#leftOut] = [0, [], []];
    if (leftOut.length > 0) {
      const [{ needed, share }] = leftOut;
      const names = leftOut.map(({ what }) => what).join(', ');
      const one = leftOut.length === 1;
      this.notes.push(
        `${sentence(names)} ${one ? 'was' : 'were'} left out: ${leastCalls} calls of ${one ? 'it' : 'the first'} would take ` +
          `${secondsText(needed)}, ${one ? 'its' : 'their'} share is ${secondsText(share)}.`,
      );
    }
    if (noise.length === 0) return;
    const worst = noise.reduce((a, b) => (b.share > a.share ? b : a));
    const most = `${worst.what} by ${Math.round(100 * worst.share)} %`;
    const busy = noise.flatMap(({ others }) => others ?? []).sort((a, b) => a - b);
    this.notes.push(
      `${partWords[part]}: ${noise.length} of ${figures} figures spread by more than 10 % after up to ${mostTries} tries ` +
        `(${most}). ${reason(busy[busy.length >> 1])}`,
    );
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

/** How parts are called in notes and in progress. */
export const partWords: Readonly<Record<LabPart, string>> = {
  latency: 'Latencies',
  product: 'Products',
  copy: 'Copying',
  triad: 'Adding',
  transfer: 'Transfers',
  scaling: 'Threads',
  workloads: 'Training steps',
};

/** Processors in use by others that are worth a word. */
const fewProcessors = 0.3;

const sentence = (words: string): string => words[0].toUpperCase() + words.slice(1);

function reason(others: number | undefined): string {
  if (others === undefined) return 'Another program or heat is the likely reason.';
  if (others < fewProcessors) return 'Other programs were quiet: heat or a changing clock rate is the likely reason.';
  return `Other programs used ${others.toFixed(1)} processors meanwhile: they are the likely reason.`;
}

/** `0.4 s`, `12 s` */
export function secondsText(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.ceil(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  return `${seconds < 10 ? seconds.toFixed(1) : String(Math.round(seconds))} s`;
}
