// The devices a run can be trained on, described by the processes that would use them, once a session.

import type { DeviceInfo } from '../../engine/protocol/app.ts';
import { toWire } from '../../engine/protocol/errors.ts';
import { forPage } from '../../engine/protocol/shown-errors.ts';
import type { DeviceService } from '../../engine/protocol/hosts.ts';
import type { RunHost } from '../../engine/runs/hosts.ts';
import type { Processes } from './processes.ts';

export interface Devices {
  list(): Promise<readonly DeviceInfo[]>;
  /** Name of the GPU that may be chosen without being asked for; null = none, or only a software adapter. */
  gpu(): Promise<string | null>;
}

export function createDevices(processes: Pick<Processes, 'startCpuHost' | 'startGpuHost'>): Devices {
  let known: Promise<readonly DeviceInfo[]> | null = null;
  const list = (): Promise<readonly DeviceInfo[]> => {
    if (known === null) {
      const gpu = describe(() => processes.startGpuHost()).catch((error: unknown) => [unavailableGpu(error)]);
      known = Promise.all([describe(() => processes.startCpuHost()), gpu]).then((lists) => lists.flat());
      known.catch(() => (known = null));
    }
    return known;
  };
  return {
    list,
    async gpu() {
      const usable = (await list()).find(({ kind, software, available }) => kind === 'gpu' && available && !software);
      return usable?.name ?? null;
    },
  };
}

/** Asks a host for its devices and ends it. */
async function describe(
  start: () => Promise<RunHost & { readonly devices: DeviceService }>,
): Promise<readonly DeviceInfo[]> {
  const host = await start();
  try {
    return await host.devices.devices();
  } finally {
    host.kill();
  }
}

function unavailableGpu(error: unknown): DeviceInfo {
  const { message, hint } = forPage(toWire(error));
  const reason = [message, hint].filter(Boolean).join(' ');
  return { id: 'gpu', kind: 'gpu', name: 'GPU', facts: {}, software: false, available: false, reason };
}
