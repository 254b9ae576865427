// The CPU as a device for people: the same lines for `devices` and for the window.

import { describeCpu } from '../../engine/backends/cpu/describe.ts';
import type { DeviceInfo } from '../../engine/protocol/app.ts';

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

export function cpuDevice(): DeviceInfo {
  const cpu = describeCpu();
  return {
    id: 'cpu',
    kind: 'cpu',
    name: cpu.name,
    facts: {
      cores: String(cpu.cores),
      instructions: cpu.instructions,
      kernels: cpu.native ? 'WebAssembly and the native addon' : 'WebAssembly',
      memory: `${gigabytes(cpu.memory)}, ${gigabytes(cpu.availableMemory)} available`,
    },
    software: false,
    available: true,
  };
}
