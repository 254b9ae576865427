// How fast a device runs a job: a few real training steps on its real rows, thrown away afterwards.

import { initializeWeights } from './weights.ts';
import { Session, type SessionOptions } from './session.ts';
import type { Surroundings } from './control.ts';

/** Milliseconds a full step takes, compiling and the first, slower submit left out. */
export interface StepSpeed {
  readonly stepMilliseconds: number;
}

const enoughMilliseconds = 300;
const mostSteps = 2_000;

/** Measures for about a third of a second, at least two submits; the executable says how many steps each holds. */
export async function measureSpeed(options: SessionOptions, { clock, breathe }: Surroundings): Promise<StepSpeed> {
  const session = await Session.open(options);
  try {
    initializeWeights(session.executable, session.whole, session.training.seed);
    const entered = await session.enter(0, 0);
    const most = Math.max(1, Math.floor(entered / session.batch));
    const submit = async (): Promise<number> => {
      const steps = session.stepsFrom(0, most);
      await session.train(0, 0, steps, session.batch);
      return steps;
    };
    await submit();
    let best = Infinity;
    let done = 0;
    const start = clock();
    for (let submits = 0; submits < 2 || (clock() - start < enoughMilliseconds && done < mostSteps); submits++) {
      const before = clock();
      const steps = await submit();
      const milliseconds = clock() - before;
      done += steps;
      best = Math.min(best, milliseconds / steps);
      await breathe();
    }
    return { stepMilliseconds: best };
  } finally {
    session.close();
  }
}
