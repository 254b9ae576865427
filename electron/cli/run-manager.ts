// The run manager of the command line: a run trains in its own process; those of the queue in one each, several at once.

import type { DataService } from '../../engine/protocol/data.ts';
import { refuseTraining } from '../../engine/history/measuring.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { createRunManager, type RunManager, type RunManagerOptions } from '../../engine/runs/manager.ts';
import { machineHere } from '../../engine/system/cores.ts';
import { inProcessHosts, processHosts } from './hosts.ts';
import type { Services } from './services.ts';

/** `cancelPreparing`: ends what prepares data for a run that is not there yet. */
export async function managerOf(
  services: Services,
): Promise<{ readonly manager: RunManager; cancelPreparing(): void }> {
  const data = cancellable(services.data);
  const manager = createRunManager({ ...(await partsOf(services)), data, hosts: inProcessHosts(data) });
  return { manager, cancelPreparing: data.cancelAll };
}

/** One that works the queue off. `atOnce`: so many runs at a time, whatever the history says of it. */
export async function queueManagerOf(services: Services, atOnce?: number): Promise<RunManager> {
  const { data, home, startTrainer: start } = services;
  const hosts = processHosts({ home, rows: data, start });
  const parts = await partsOf(services);
  return createRunManager({ ...parts, data, hosts, worksOffQueue: true, machine: machineHere(), atOnce });
}

async function partsOf(services: Services): Promise<Pick<RunManagerOptions, 'store' | 'owner' | 'refuse'>> {
  const refuse = (): void => refuseTraining(services.home);
  return { store: await services.store, owner: processOwner(), refuse };
}

/** The data service, with a way to cancel what prepares data for a run that is not there yet. */
function cancellable(data: DataService) {
  const jobs = new Set<string>();
  return {
    list: () => data.list(),
    release: (request: { handle: string }) => data.release(request),
    cancel: (request: { job: string }) => data.cancel(request),
    readShard: (request: { handle: string; shard: number }) => data.readShard(request),
    async prepare(request: Parameters<DataService['prepare']>[0]) {
      jobs.add(request.job);
      try {
        return await data.prepare(request);
      } finally {
        jobs.delete(request.job);
      }
    },
    cancelAll: () => jobs.forEach((job) => void data.cancel({ job })),
  };
}
