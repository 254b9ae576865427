// Lets a trainer that knows nothing of budgets work for some time and then waits: it passes here whenever it lets messages in. The
// trainer keeps its own loop because a budget that ended between any two submits would have to be handed through epochs, windows,
// two submits in flight, validation and checkpoints, each of which would become a state to come back to; held here it costs a
// look at the clock a submit, and the order of everything stays that of the code.

import type { Surroundings } from '../../train/control.ts';

export class Gate {
  readonly #surroundings: Surroundings;
  #until = -Infinity;
  #goOn: () => void = () => undefined;
  #arrived: () => void = () => undefined;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** Opens for so many milliseconds; resolves when somebody waits here after them. */
  open(milliseconds: number): Promise<void> {
    this.#until = this.#surroundings.clock() + milliseconds;
    const arrived = new Promise<void>((resolve) => (this.#arrived = resolve));
    this.#goOn();
    return arrived;
  }

  async breathe(): Promise<void> {
    await this.#surroundings.breathe();
    if (this.#surroundings.clock() < this.#until) return;
    const open = new Promise<void>((resolve) => (this.#goOn = resolve));
    this.#arrived();
    await open;
  }
}
