// The lab of a process that has the processor: a CPU host, or the command line. With the machine it is measured on, and what other
// programs do meanwhile.

import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { cpuName } from '../../engine/backends/cpu/describe.ts';
import { availableMemory } from '../../engine/system/cores.ts';
import { usableCores } from '../../engine/system/cores.ts';
import type { Backend } from '../../engine/backends/backend.ts';
import { createLabHost, type DeviceLab } from '../../engine/lab/host.ts';
import type { LabSurroundings } from '../../engine/lab/control.ts';
import type { LabMachine, LabTarget } from '../../engine/protocol/lab.ts';
import { watchOthers } from '../../engine/system/others.ts';
import { nodeSurroundings } from './surroundings.ts';

/** Arrays take at most this share of the memory that is free. */
const memoryShare = 0.25;

export const nodeLab: LabSurroundings = { ...nodeSurroundings, watchOthers };

/** The lab of this process; `openGpu` where it has GPUs as well. */
export function createNodeLab(openGpu?: (adapter: number) => Promise<Backend>): DeviceLab {
  return createLabHost({
    open: async (target, threads) =>
      target.kind === 'gpu' && openGpu ? openGpu(target.adapter ?? 0) : openProcessor(target, threads),
    threads: usableCores,
    memory: () => memoryShare * availableMemory(),
    machine: describeMachine,
    surroundings: nodeLab,
  });
}

function openProcessor({ native }: LabTarget, threads: number): Backend {
  return createCpuBackend({ threads, native: native === false ? false : undefined });
}

export function describeMachine(): LabMachine {
  const powerSource = findPowerSource();
  return {
    name: os.hostname(),
    cpu: cpuName(),
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    os: `${os.type()} ${os.release()}`,
    ...(powerSource ? { powerSource } : {}),
  };
}

const powerFolder = '/sys/class/power_supply';

/** As Linux tells it; undefined elsewhere, and where there is no battery to speak of. */
function findPowerSource(): LabMachine['powerSource'] {
  try {
    const supplies = readdirSync(powerFolder).map((name) => {
      const read = (file: string): string => readFileSync(path.join(powerFolder, name, file), 'utf8').trim();
      const type = read('type');
      return { type, on: type === 'Mains' && read('online') === '1' };
    });
    if (!supplies.some(({ type }) => type === 'Battery')) return undefined;
    return supplies.some(({ on }) => on) ? 'mains' : 'battery';
  } catch {
    return undefined;
  }
}
