// How fast a device runs a job: a few real training steps on its real rows, thrown away afterwards.

import { initializeWeights } from './weights.ts';
import { Session, type SessionOptions } from './session.ts';
import type { Surroundings } from './control.ts';

/** Milliseconds a full step takes, compiling and the first, slower steps left out. */
export interface StepSpeed {
  readonly stepMilliseconds: number;
}

const warmSteps = 3;
const enoughMilliseconds = 300;
const mostSteps = 2_000;

/** Measures for about a third of a second, at least two submits. */
export async function measureSpeed(options: SessionOptions, { clock, breathe }: Surroundings): Promise<StepSpeed> {
  const session = await Session.open(options);
  try {
    initializeWeights(session.executable, session.model, session.training.seed);
    const entered = await session.enter(0, 0);
    const most = Math.max(1, Math.min(Math.floor(entered / session.batch), session.plan.stepCapacity));
    await session.train(0, 0, Math.min(warmSteps, most), session.batch);
    let steps = 1;
    let best = Infinity;
    let done = 0;
    const start = clock();
    for (let submits = 0; submits < 2 || (clock() - start < enoughMilliseconds && done < mostSteps); submits++) {
      const before = clock();
      await session.train(0, 0, steps, session.batch);
      const milliseconds = clock() - before;
      done += steps;
      best = Math.min(best, milliseconds / steps);
      // Grow to submits of about 40 ms, where the cost of a submit itself no longer shows.
      if (milliseconds < 20) steps = Math.min(most, steps * 2);
      await breathe();
    }
    return { stepMilliseconds: best };
  } finally {
    session.close();
  }
}
