// What other programs do on this machine: the system's own count of idle time, less this process's of its own.

import os from 'node:os';
import { setTimeout } from 'node:timers/promises';

/** Milliseconds of a look. */
const glance = 400;

/** The system counts in ticks of 10 ms: a shorter look would find others quiet that are not. */
const leastLook = 100;

/** Begins to watch; the function that is returned says how many processors other programs used since then, null where that was too short. */
export function watchOthers(): () => number | null {
  const [busyBefore, ownBefore, start] = [busyMilliseconds(), ownMilliseconds(), performance.now()];
  return () => {
    const elapsed = performance.now() - start;
    if (elapsed < leastLook) return null;
    const others = busyMilliseconds() - busyBefore - (ownMilliseconds() - ownBefore);
    return Math.max(0, others / elapsed);
  };
}

/** Processors that other programs use now. A load average would still tell of what was over a minute ago. */
export async function othersNow(): Promise<number | null> {
  const others = watchOthers();
  await setTimeout(glance);
  return others();
}

function busyMilliseconds(): number {
  return os.cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}

function ownMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
