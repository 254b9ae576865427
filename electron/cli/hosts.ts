// What trains on the command line, in its own process or in one for each run: the same TrainerHost that the window's processes serve.

import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import type { Backend } from '../../engine/backends/backend.ts';
import { partnerHere, type Partner } from '../../engine/backends/together/partner.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { TrainerHost } from '../../engine/protocol/hosts.ts';
import type { RunConfig } from '../../engine/protocol/runs.ts';
import type { RunHosts } from '../../engine/runs/hosts.ts';
import { createTrainerHost } from '../../engine/learners/host.ts';
import { nodeSurroundings, residentBudget } from '../hosts/surroundings.ts';
import { openTogether } from '../hosts/together.ts';
import { startTrialThread } from '../hosts/trials.ts';
import { openCpu } from '../hosts/trusted-cpu.ts';
import { homeFolder } from '../../engine/system/home-folder.ts';
import { startTrainer, type TrainerOptions } from './training-process.ts';

type Rows = Pick<DataService, 'readShard'>;

export function trainerOn(rows: Rows): TrainerHost {
  return createTrainerHost({
    createBackend: ({ config }) => openDevice(config),
    readShard: (handle, shard) => rows.readShard({ handle, shard }),
    surroundings: nodeSurroundings,
    dataBudget: residentBudget(),
    trialThread: (threads) => startTrialThread({ home: homeFolder(), threads }),
  });
}

/** All in this process. */
export function inProcessHosts(rows: Rows): RunHosts {
  return {
    create: async () => {
      const host = trainerOn(rows);
      // There is no process to end: a run that is given up stops after its current submit.
      return { host, exited: new Promise<string>(() => {}), kill: () => void host.stop() };
    },
    gpu,
  };
}

/** Each in a process of its own, so that several may train, and what happens to one of them happens to its run alone. */
export function processHosts(options: TrainerOptions): RunHosts {
  return { create: () => startTrainer(options), gpu };
}

const gpu = async (): Promise<string | null> => (await import('./gpu.ts')).hardwareGpu();

/** The device that the settings of a run name, or the several; `auto` is the CPU here. */
export async function openDevice(config: RunConfig): Promise<Backend> {
  const { device, devices, threads } = config;
  if (devices !== undefined) {
    const gpu = async (): Promise<Partner> => partnerHere(await (await import('./gpu.ts')).openGpuBackend());
    return openTogether(devices, { home: homeFolder(), threads, gpu });
  }
  switch (device) {
    case 'reference':
      return createReferenceBackend();
    case 'gpu':
      return (await import('./gpu.ts')).openGpuBackend();
    case 'auto':
    case 'cpu':
      return openCpu({ home: homeFolder(), threads });
  }
}
