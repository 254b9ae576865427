// How many threads pay. After every call all threads wait for each other: cheap on idle cores (under a microsecond), ruinous
// where another program holds one. So the plan's size only decides how many threads could pay; whether they do is measured
// while training, one against all. Results do not depend on it: every kernel gives the same bits on any number of threads.

import type { Plan } from '../../plan/plan.ts';

/** Floating-point operations of an average call below which a thread of its own cannot pay (docs/cpu-backend.md). */
const flopsPerThread = 100_000;

/** Threads that could pay for a plan, 1 to `most`, by the average call of its largest training program (or of any). */
export function mostThreads(plan: Plan, most: number): number {
  const all = Object.values(plan.programs);
  const training = all.filter(({ name }) => /^(train|gradients)@/.test(name));
  const work = (training.length > 0 ? training : all).map(({ flops, calls }) => flops / Math.max(1, calls.length));
  return Math.max(1, Math.min(most, Math.floor(Math.max(0, ...work) / flopsPerThread)));
}

/** Most steps of a first measurement, and how many are taken of each kind before the first choice: one where a step takes long. */
const sampleSteps = 8;
const samples = 3;
const longMilliseconds = 100;
/** Weight of the newest time a step in the running mean. */
const newest = 0.3;
/**
 * Milliseconds until the other kind is tried again: doubled whenever that changed nothing. At most a second: cores may be far from each other,
 * or taken, for a part of that.
 */
const shortestInterval = 50;
const longestInterval = 1_000;
/** Milliseconds a stretch of such a trial should take, by the last measurement, and one of the kind chosen. */
const trialMilliseconds = 2;
const stretchMilliseconds = 10;
/**
 * Milliseconds a trial of all threads may take until it shows them faster: they have slept, and their first steps are slow (0.7 to 1.2 ms of
 * an MLP that takes 0.27 from then on).
 */
const wakingMilliseconds = 10;
/**
 * Times of a trial before the next one, at least and, however often nothing changed, at most where that is longer: trials of long steps
 * would take half of the time where many threads help each other.
 */
const shortestRest = 3;
const longestRest = 50;

/** Decides for one program, stretch by stretch, between one thread and all. Times are milliseconds. */
export class ThreadChooser {
  /** Mean time of a step on one thread and on all; and measurements so far. */
  readonly #times = [0, 0];
  readonly #counts = [0, 0];
  #interval = shortestInterval;
  /** 0 until both are measured. */
  #nextTrial = 0;
  /** Of the trial under way: milliseconds taken and the shortest time of a step. */
  #trial = { spent: 0, time: Infinity };
  /** Time of a step in the last stretch of the kind chosen. */
  #last = 0;

  get #best(): 0 | 1 {
    return this.#times[1] < this.#times[0] ? 1 : 0;
  }

  /** Whether a kind is to be measured before the first choice. */
  #unknown(kind: number): boolean {
    const count = this.#counts[kind];
    return count === 0 || (count < samples && this.#times[kind] < longMilliseconds);
  }

  /** Whether the next stretch should run on all threads, and how many of the `left` steps it should take. */
  next(left: number, now: number): { readonly all: boolean; readonly steps: number } {
    for (const kind of [0, 1]) {
      if (!this.#unknown(kind)) continue;
      const fitting = this.#counts[kind] === 0 ? 1 : Math.floor(stretchMilliseconds / this.#times[kind]);
      return { all: kind === 1, steps: Math.max(1, Math.min(left, sampleSteps, fitting)) };
    }
    const best = this.#best;
    const kind = now < this.#nextTrial ? best : 1 - best;
    const wanted = (kind === best ? stretchMilliseconds : trialMilliseconds) / this.#times[kind];
    return { all: kind === 1, steps: Math.min(left, Math.max(1, Math.floor(wanted))) };
  }

  /** Takes note of how long a stretch took. `now` is the time at its end. */
  record(all: boolean, steps: number, elapsed: number, now: number): void {
    const kind = all ? 1 : 0;
    const time = elapsed / steps;
    const best = this.#best;
    this.#counts[kind]++;
    if (this.#unknown(0) || this.#unknown(1) || this.#nextTrial === 0) return this.#measure(kind, time, now);
    if (kind === best) {
      // One stretch alone says little: a core may have been gone for a moment.
      this.#times[kind] += newest * (Math.min(time, this.#last) - this.#times[kind]);
      this.#last = time;
      if (this.#best !== best) this.#plan(shortestInterval, now);
      return;
    }
    const trial = this.#trial;
    trial.spent += elapsed;
    trial.time = Math.min(trial.time, time);
    const waking = all && trial.spent < wakingMilliseconds;
    if (waking && trial.time >= this.#times[best]) return;
    this.#times[kind] = trial.time;
    const rest = Math.max(2 * this.#interval, shortestRest * trial.spent);
    const longest = Math.max(longestInterval, longestRest * trial.spent);
    this.#plan(this.#best === best ? Math.min(longest, rest) : shortestInterval, now);
  }

  /** Takes note of one of the first measurements, which count by the best of them: they contain compiling and cold caches. */
  #measure(kind: number, time: number, now: number): void {
    this.#times[kind] = this.#counts[kind] === 1 ? time : Math.min(this.#times[kind], time);
    if (!this.#unknown(0) && !this.#unknown(1)) this.#plan(shortestInterval, now);
  }

  /** Sets when the other kind is tried again. */
  #plan(interval: number, now: number): void {
    this.#interval = interval;
    this.#nextTrial = now + interval;
    this.#trial = { spent: 0, time: Infinity };
    this.#last = this.#times[this.#best];
  }
}
