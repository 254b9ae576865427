// The trials of a search as its page shows them: those the history has, and those that come while it goes on.

import type { AppService } from '../../../../engine/protocol/app.ts';
import type { Trial } from '../../../../engine/protocol/search.ts';
import { throttle } from '../../../lib/throttle.ts';

/** Milliseconds between two questions for more: four a second. */
const every = 250;

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
    const read = throttle(() => void attempt(() => this.#read()), every);
    read();
    return this.#service.onRunsChanged(({ runs }) => {
      if (runs.includes(this.#run)) read();
    });
  }

  async #read(): Promise<void> {
    const after = this.all.at(-1)?.trial ?? 0;
    const more = await this.#service.trials({ run: this.#run, after });
    // The answer to a later question may have come first.
    const fresh = more.filter(({ trial }) => trial > (this.all.at(-1)?.trial ?? 0));
    if (fresh.length > 0) this.all = [...this.all, ...fresh];
  }
}
