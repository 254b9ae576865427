// The devices a run can be trained on, described by the processes that would use them.

import type { DeviceInfo } from '../../engine/protocol/app.ts';
import os from 'node:os';

export interface Devices {
  list(): Promise<readonly DeviceInfo[]>;
}

export function createDevices(): Devices {
  return {
    list: async () => [describeProcessor()],
  };
}

function describeProcessor(): DeviceInfo {
  const cores = os.cpus();
  const gigabytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GB`;
  return {
    id: 'cpu',
    kind: 'cpu',
    name: cores[0]?.model.trim() || `${os.arch()} processor`,
    facts: {
      Cores: String(os.availableParallelism()),
      Instructions: 'WebAssembly SIMD, 128 bits',
      Memory: `${gigabytes(os.totalmem())}, ${gigabytes(os.freemem())} free`,
    },
    software: false,
    available: true,
  };
}
