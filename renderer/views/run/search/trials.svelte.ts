// The trials of a search as its page shows them: those the history has, and those that come while it goes on.

import type { AppService } from '../../../../engine/protocol/app.ts';
import type { Trial } from '../../../../engine/protocol/search.ts';
import { throttle } from '../../../lib/throttle.ts';

/** Trials that are asked for at once: an answer of thousands would hold the window up. */
export const pageOfTrials = 1_000;
/** Milliseconds between two questions for more: four a second; one, where the panes have many to draw. */
const every = 250;
const [many, everyOfMany] = [2_000, 1_000];

export class SearchTrials {
  /** By their numbers. */
  all: readonly Trial[] = $state.raw([]);
  readonly #service: Pick<AppService, 'trials' | 'onRunsChanged'>;
  readonly #run: number;

  constructor(service: Pick<AppService, 'trials' | 'onRunsChanged'>, run: number) {
    this.#service = service;
    this.#run = run;
  }

  /** Returns the function that stops following. `failed` hears what went wrong. */
  follow(attempt: (work: () => Promise<void>) => Promise<void>): () => void {
    const wait = (): number => (this.all.length > many ? everyOfMany : every);
    const read = throttle(() => void attempt(() => this.#read()), wait);
    read();
    return this.#service.onRunsChanged(({ runs }) => {
      if (runs.includes(this.#run)) read();
    });
  }

  async #read(): Promise<void> {
    const fresh: Trial[] = [];
    let page: readonly Trial[];
    do {
      const after = (fresh.at(-1) ?? this.all.at(-1))?.trial ?? 0;
      page = await this.#service.trials({ run: this.#run, after, limit: pageOfTrials });
      fresh.push(...page);
    } while (page.length === pageOfTrials);
    // The answer to a later question may have come first.
    const last = this.all.at(-1)?.trial ?? 0;
    const more = fresh.filter(({ trial }) => trial > last);
    // Drawn once, when all are there.
    if (more.length > 0) this.all = [...this.all, ...more];
  }
}
