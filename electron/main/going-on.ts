// The app works the queue off: it takes over what waits and nobody answers for, and goes on with what was cut short with the process that
// trained it, be it an app that crashed or a command that was killed. Runs that it goes on with so wait here until the window asks for them,
// since those of the start are there before any page is.

import { Listeners } from '../../engine/protocol/listeners.ts';
import type { CutRuns } from '../../engine/protocol/queue.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { coalesced } from '../../engine/runs/coalesced.ts';
import { queueCut } from '../../engine/runs/queue.ts';
import type { RunManager } from '../../engine/runs/run-manager.ts';

export class GoingOn {
  readonly #store: StoreService;
  readonly #runs: Pick<RunManager, 'adopt'>;
  readonly #listeners = new Listeners<Record<string, never>>();
  #untold: CutRuns = { goOn: [], left: [] };

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
    this.#untold = { goOn: [...this.#untold.goOn, ...goOn], left: [...this.#untold.left, ...left] };
    this.#listeners.emit({});
  }

  /** Hands out those that nobody has been told of. */
  take(): CutRuns {
    const untold = this.#untold;
    this.#untold = { goOn: [], left: [] };
    return untold;
  }

  onCut(listener: (event: Record<string, never>) => void): () => void {
    return this.#listeners.add(listener);
  }
}
