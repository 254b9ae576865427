// The devices a run can be trained on, described by the processes that would use them, once a session.

import type { DeviceInfo } from '../../engine/protocol/app.ts';
import type { Processes } from './processes.ts';

export interface Devices {
  list(): Promise<readonly DeviceInfo[]>;
}

export function createDevices(processes: Processes): Devices {
  let known: Promise<readonly DeviceInfo[]> | null = null;
  return {
    list() {
      known ??= describe(processes);
      known.catch(() => (known = null));
      return known;
    },
  };
}

async function describe(processes: Processes): Promise<readonly DeviceInfo[]> {
  const host = await processes.startCpuHost();
  try {
    return await host.devices.devices();
  } finally {
    host.kill();
  }
}
