// What a run takes of the machine before it has said what it uses: for who works the queue off, and for who says when it will be worked off.

import { declarationOf } from '../learners/declared/registry.ts';
import type { RunConfig } from '../protocol/runs.ts';
import type { Claim } from './schedule.ts';

/**
 * `cores`: of the machine, which runs may share; null: one run at a time on each device. Several devices that share a run's batches are its
 * own until its end, each of them.
 */
export function claimOf(run: number, config: RunConfig, bytes: number | null, cores: number | null): Claim {
  const { devices: several } = config;
  if (several !== undefined) {
    const device = several.includes('gpu') ? 'any' : 'cpu';
    return cores === null ? { run, device, threads: 0, bytes: 0 } : { run, device, threads: cores, bytes };
  }
  if (cores === null) return { run, device: config.device === 'gpu' ? 'gpu' : 'cpu', threads: 0, bytes: 0 };
  const { devices } = declarationOf(config);
  const device = config.device === 'auto' && devices.includes('gpu') ? 'any' : config.device;
  return { run, device: device === 'any' || device === 'gpu' ? device : 'cpu', threads: config.threads, bytes };
}
