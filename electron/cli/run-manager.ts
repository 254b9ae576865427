// The run manager of the command line: runs train in its own process.

import type { DataService } from '../../engine/protocol/data.ts';
import { refuseTraining } from '../../engine/history/measuring.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { createRunManager, type RunManager } from '../../engine/runs/manager.ts';
import { inProcessHosts } from './hosts.ts';
import type { Services } from './services.ts';

/** `cancelPreparing`: ends what prepares data for a run that is not there yet. */
export async function managerOf(
  services: Services,
  { worksOffQueue = false }: { readonly worksOffQueue?: boolean } = {},
): Promise<{ readonly manager: RunManager; cancelPreparing(): void }> {
  const store = await services.store;
  const data = cancellable(services.data);
  const refuse = (): void => refuseTraining(services.home);
  const hosts = inProcessHosts(data);
  const manager = createRunManager({ store, data, hosts, owner: processOwner(), refuse, worksOffQueue });
  return { manager, cancelPreparing: data.cancelAll };
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
