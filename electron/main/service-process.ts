// A service that lives in a process of its own and outlives that process: when it dies, calls under way fail, and the next
// call starts it again. Listeners are carried over. A process that keeps dying is not started for ever.

import { TrainyardError } from '../../engine/protocol/errors.ts';
import { Reviving, type Living } from '../../engine/protocol/reviving.ts';
import { connect, type Service } from '../../engine/protocol/rpc.ts';
import type { Child } from './child.ts';

/** Starts within the window after which a process is given up. */
const restarts = { most: 3, windowMilliseconds: 60_000 };
/** How long a process may take to end when asked. */
const patienceMs = 3000;

export interface ServiceProcess<T> {
  readonly service: T;
  /** The running process, started if need be. */
  child(): Promise<Child>;
  /** Called with the reason each time the process has died unasked. */
  onDeath(listener: (reason: string) => void): () => void;
  /** Does something while the process is ended and stays so: calls made meanwhile wait. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

interface LivingChild<T> extends Living<T> {
  readonly child: Child;
}

export function createServiceProcess<T extends Service<T>>(name: string, start: () => Child): ServiceProcess<T> {
  /** The last process that was started; it may still be on its way. */
  let newest: Child | null = null;

  const open = async (): Promise<LivingChild<T>> => {
    const child = (newest = start());
    const remote = connect<T>(child.port, { peer: `the ${name} process` });
    try {
      await child.ready;
    } catch (error) {
      child.end();
      throw error;
    }
    return { child, remote, ended: child.ended };
  };
  const reviving = new Reviving<T, LivingChild<T>>({
    open,
    restarts,
    tooMany: (times) =>
      new TrainyardError(
        'internal.process_dies',
        `The ${name} process ended ${times} times within a minute and is not started again for now.`,
        'Wait a minute or restart Trainyard; free memory if the machine is short of it.',
      ),
  });

  return {
    service: reviving.service,
    child: async () => (await reviving.living()).child,
    onDeath: (listener) => reviving.onDeath(listener),
    alone: (work) => reviving.alone(({ child }) => endOf(child), work),
    async close() {
      const started = reviving.isStarted;
      reviving.close(new TrainyardError('internal.disconnected', `The ${name} process has been ended.`));
      if (!started || newest === null) return;
      await endOf(newest);
    },
  };
}

async function endOf(child: Child): Promise<void> {
  child.end();
  const slow = setTimeout(() => child.kill(), patienceMs);
  await child.ended;
  clearTimeout(slow);
}
