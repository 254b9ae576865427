// The trials that several threads are at work on. They end in any order and are handed on in that of their numbers.

import type { TrialDone, TrialPartner } from './trial-partner.ts';
import type { TrialTask } from './trial-work.ts';

/**
 * How many trials back of a trial those are that decide it, of so many at a time: all are given out that far ahead, so that a thread which is
 * done early has something to do. It follows from the number alone, so that the search does not hang on which thread was the faster.
 */
export const lookBack = (atATime: number): number => (atATime > 1 ? 2 * atATime : 1);

/** Threads of each of so many at a time: those that were asked for are those of all. */
export const threadsOfEach = (threads: number, atATime: number): number => Math.max(1, Math.floor(threads / atATime));

export class Crew {
  readonly #partners: readonly { readonly partner: TrialPartner; waiting: number }[];
  readonly #atWork: Promise<TrialDone>[] = [];

  constructor(partners: readonly TrialPartner[]) {
    this.#partners = partners.map((partner) => ({ partner, waiting: 0 }));
  }

  /** Trials that were given and have not been handed on. */
  get size(): number {
    return this.#atWork.length;
  }

  /** To the thread that has least to do. */
  train(task: TrialTask): void {
    const least = this.#partners.reduce((one, other) => (other.waiting < one.waiting ? other : one));
    least.waiting++;
    const done = least.partner.train(task).finally(() => least.waiting--);
    // Whoever waits for it hears of it.
    done.catch(() => undefined);
    this.#atWork.push(done);
  }

  /** One whose end is known already. */
  know(done: TrialDone): void {
    this.#atWork.push(Promise.resolve(done));
  }

  /** The first of those at work, once it has ended. */
  async first(): Promise<TrialDone> {
    const done = await this.#atWork[0];
    void this.#atWork.shift();
    return done;
  }

  close(): void {
    for (const { partner } of this.#partners) partner.close();
  }
}
