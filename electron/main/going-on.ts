// The app works the queue off: it takes over what waits and nobody answers for, and goes on with what was cut short with the process that
// trained it, be it an app that crashed or a command that was killed. Runs that it goes on with so wait here until the window asks for them,
// since those of the start are there before any page is.

import { Listeners } from '../../engine/protocol/listeners.ts';
import { cutNoteLife, type CutRuns } from '../../engine/protocol/queue.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { coalesced } from '../../engine/runs/coalesced.ts';
import { queueCut } from '../../engine/runs/queue.ts';
import type { RunManager } from '../../engine/runs/run-manager.ts';

export class GoingOn {
  readonly #store: StoreService;
  readonly #runs: Pick<RunManager, 'adopt'>;
  readonly #listeners = new Listeners<Record<string, never>>();
  #untold: CutRuns = { goOn: [], left: [] };
  /** Told a moment ago, and when: a page that is loaded again takes its notes along. */
  #told: readonly { readonly runs: CutRuns; readonly at: number }[] = [];

  constructor(parts: { readonly store: StoreService; readonly runs: Pick<RunManager, 'adopt'> }) {
    this.#store = parts.store;
    this.#runs = parts.runs;
  }

  /** Takes them over now, and from now on whenever there are some. */
  async start(): Promise<void> {
    await this.#look();
    const soon = coalesced(() => this.#look().catch(() => undefined));
    // How far runs have come, of which most changes tell, leads to none.
    this.#store.onChanged(({ runs, trained }) => {
      if (runs.length > trained.length) soon();
    });
  }

  async #look(): Promise<void> {
    const { goOn, left } = await queueCut(this.#store);
    await this.#runs.adopt();
    if (goOn.length + left.length === 0) return;
    this.#untold = together([this.#untold, { goOn, left }]);
    this.#listeners.emit({});
  }

  /** Hands out those that nobody has been told of; `anew`: also those whose note has not stayed its time. */
  take(anew = false, now = Date.now()): CutRuns {
    const untold = this.#untold;
    this.#untold = { goOn: [], left: [] };
    this.#told = [...this.#told.filter(({ at }) => now - at < cutNoteLife), { runs: untold, at: now }];
    return anew ? together(this.#told.map(({ runs }) => runs)) : untold;
  }

  onCut(listener: (event: Record<string, never>) => void): () => void {
    return this.#listeners.add(listener);
  }
}

const together = (all: readonly CutRuns[]): CutRuns => ({
  goOn: [...new Set(all.flatMap(({ goOn }) => goOn))],
  left: [...new Set(all.flatMap(({ left }) => left))],
});
