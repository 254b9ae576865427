// Steps on their way: submits them, and takes in their losses one submit behind. A GPU so has the next submit in its queue when
// it is done with one; a CPU works while it is being asked, and loses nothing.

import type { Session } from './session.ts';

/** Steps of one submit: `steps` of `rows` rows each, from row `from` of the entered ones on; `step` is the first's number. */
export interface StepBlock {
  readonly step: number;
  readonly from: number;
  readonly steps: number;
  readonly rows: number;
}

/** Takes in what a submit came to. `milliseconds`: the time of these steps alone. */
export type TakeLosses = (losses: Float32Array, rows: number, milliseconds: number) => void;

interface Submitted {
  readonly rows: number;
  readonly start: number;
  readonly losses: Promise<Float32Array>;
  readonly done: Promise<number>;
}

export class StepStream {
  readonly #session: Pick<Session, 'submit'>;
  readonly #clock: () => number;
  readonly #take: TakeLosses;
  #ahead: Submitted | null = null;
  /** When the steps before those on their way were done. */
  #before = -Infinity;

  constructor(session: Pick<Session, 'submit'>, clock: () => number, take: TakeLosses) {
    this.#session = session;
    this.#clock = clock;
    this.#take = take;
  }

  /** Submits steps and takes in the losses of those before them. */
  async submit({ step, from, steps, rows }: StepBlock): Promise<void> {
    const start = this.#clock();
    const { losses } = await this.#session.submit(step, from, steps, rows);
    const done = losses.then(this.#clock);
    // Whoever settles hears of a failure.
    done.catch(() => undefined);
    const earlier = this.#ahead;
    this.#ahead = { rows, start, losses, done };
    if (earlier) await this.#settle(earlier);
  }

  /** Waits until nothing is on its way, all losses taken in. */
  async settle(): Promise<void> {
    const last = this.#ahead;
    this.#ahead = null;
    if (last) await this.#settle(last);
  }

  async #settle({ rows, start, losses, done }: Submitted): Promise<void> {
    const end = await done;
    const milliseconds = end - Math.max(start, this.#before);
    this.#before = end;
    this.#take(await losses, rows, milliseconds);
  }
}
