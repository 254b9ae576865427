// The processes beside the main one: the store and the data host, restarted when they die, and one CPU host a run. The
// main process starts them, links the ones that talk to each other, and does none of their work.

import path from 'node:path';
import { app, MessageChannelMain } from 'electron';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import { connect } from '../../engine/protocol/rpc.ts';
import type { StoreService, TrainerHost } from '../../engine/protocol/runs.ts';
import { startNodeProcess, startUtilityProcess, type Child } from './child.ts';
import { createServiceProcess, type ServiceProcess } from './service-process.ts';

/** A trainer in a process of its own. */
export interface HostProcess {
  readonly host: TrainerHost;
  close(): void;
}

export interface Processes {
  readonly store: ServiceProcess<StoreService>;
  readonly data: ServiceProcess<DataService>;
  /** Starts the process of one run, linked to the data host. */
  startCpuHost(): Promise<HostProcess>;
  /** Starts the store and the data host before anybody asks for them. */
  warm(): void;
  close(): Promise<void>;
}

export function createProcesses(home: string): Processes {
  const args = [`--home=${home}`];
  const bundle = (name: string): string => path.join(app.getAppPath(), 'build', 'electron', `${name}.cjs`);
  const data = createServiceProcess<DataService>('data', () =>
    startUtilityProcess({ name: 'data', file: bundle('data-host'), args }),
  );
  const store = createServiceProcess<StoreService>('store', () => startStore(bundle('store-host'), args));
  const hosts = new Set<Child>();

  return {
    store,
    data,
    async startCpuHost() {
      const child = startUtilityProcess({ name: 'training', file: bundle('cpu-host'), args });
      hosts.add(child);
      void child.ended.then(() => hosts.delete(child));
      const { port1, port2 } = new MessageChannelMain();
      (await data.child()).link(port1);
      child.link(port2);
      await child.ready;
      return { host: explainDeath(connect<TrainerHost>(child.port), child), close: () => child.end() };
    },
    warm() {
      // What keeps one from starting is told to whoever asks it first.
      for (const process of [store, data]) process.child().catch(() => undefined);
    },
    async close() {
      for (const child of hosts) child.kill();
      await Promise.all([store.close(), data.close()]);
    },
  };
}

/** better-sqlite3 needs Node-API 10: where Electron's is older (development), the store runs under plain Node. */
function startStore(file: string, args: readonly string[]): Child {
  if (Number(process.versions['napi']) >= 10) return startUtilityProcess({ name: 'store', file, args });
  const root = app.getAppPath();
  const node = process.env['TRAINYARD_NODE'] ?? path.join(root, 'node_modules', '.bin', 'node');
  return startNodeProcess({ name: 'store', file, args, node });
}

/** A run whose process died fails with the reason instead of a closed connection. */
function explainDeath(host: TrainerHost, child: Child): TrainerHost {
  const train: TrainerHost['train'] = async (job) => {
    const death = child.ended.then((reason): never => {
      throw new TrainyardError(
        'run.host_died',
        `The process that trained this run is gone: ${reason}.`,
        'Resume the run: it goes on from its last checkpoint. If memory was short, choose a smaller batch or model.',
      );
    });
    death.catch(() => undefined);
    // The connection closes together with the process: the process's own ending says more.
    const result = host.train(job).catch(async (error: unknown) => {
      if (error instanceof TrainyardError && error.code === 'internal.disconnected') await death;
      throw error;
    });
    return Promise.race([result, death]);
  };
  return new Proxy(host, {
    get: (target, member, receiver) => (member === 'train' ? train : Reflect.get(target, member, receiver)),
  });
}
