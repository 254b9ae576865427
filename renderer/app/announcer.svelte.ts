// What screen readers are told without a move of the focus. State changes are said at once, progress at most every 10 s.

import { visible } from '../../engine/protocol/visible.ts';

const quietFor = 10_000;

export class Announcer {
  polite: string = $state('');
  urgent: string = $state('');
  #lastProgress = 0;

  say(said: string): void {
    const text = visible(said);
    // A repeated text has to differ to be read again.
    this.polite = this.polite === text ? `${text}\u00a0` : text;
  }

  alert(said: string): void {
    const text = visible(said);
    this.urgent = this.urgent === text ? `${text}\u00a0` : text;
  }

  /** `words` are asked for only where they are said. */
  async progress(words: () => Promise<string>): Promise<void> {
    const now = Date.now();
    if (now - this.#lastProgress < quietFor) return;
    this.#lastProgress = now;
    this.say(await words());
  }
}
