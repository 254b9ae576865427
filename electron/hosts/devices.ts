// The CPU as a device for people: the same lines for `devices` and for the window.

import { describeCpu } from '../../engine/backends/cpu/describe.ts';
import { addonRemedy } from '../../engine/hardware/addon.ts';
import type { DeviceInfo } from '../../engine/protocol/app.ts';
import { findTrust, type Trust, type TrustOptions } from '../../engine/train/trust.ts';
import { cpuTrust } from './trusted-cpu.ts';

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

/** With what the self-test says; `anew`: now, instead of what is remembered. */
export async function cpuDevice(home: string, anew = false): Promise<DeviceInfo> {
  const cpu = describeCpu();
  const options = cpuTrust({ home });
  const trust = await findTrust(options, anew);
  return {
    id: 'cpu',
    kind: 'cpu',
    name: cpu.name,
    facts: {
      cores: String(cpu.cores),
      instructions: cpu.instructions,
      kernels: cpu.native ? 'WebAssembly and the native addon' : 'WebAssembly',
      memory: `${gigabytes(cpu.memory)}, ${gigabytes(cpu.availableMemory)} available`,
      'self-test': selfTestFact(options, trust),
    },
    memoryBytes: cpu.memory,
    native: cpu.native,
    ...(!cpu.native && { nativeRemedy: addonRemedy(process.env.TRAINYARD_NATIVE) }),
    software: false,
    available: true,
  };
}

/** What the self-test found, in words. */
export function selfTestFact({ rungs }: TrustOptions, { rung, problems, milliseconds }: Trust): string {
  const used = rungs.at(rung)?.name ?? 'nothing: this device computes wrong results here';
  if (rung === 0) return `passed in ${milliseconds.toFixed(0)} ms: ${used}`;
  return `failed with ${problems.join('; ')}. In use: ${used}`;
}
