// Starts the built hosts (build/hosts) in threads of this process, where the app starts Electron's utility processes.

import path from 'node:path';
import { Worker, type MessagePort } from 'node:worker_threads';
import type { Port } from '../../../engine/protocol/port.ts';
import { createPort } from '../../../engine/protocol/port.ts';
import { whenReady } from '../../../engine/protocol/port.ready.ts';
import type { Envelope } from './host-thread.ts';

export interface HostThread {
  readonly port: Port;
  /** Resolves when the thread has ended. */
  readonly exited: Promise<string>;
  /** Hands it one end of a channel to another host. */
  link(end: MessagePort): void;
  end(): Promise<void>;
}

/** @param name  of the built host: `store`, `data`, `cpu` */
export async function startHost(name: string, home: string): Promise<HostThread> {
  const file = path.resolve(import.meta.dirname, '../../../build/hosts', `${name}.cjs`);
  const thread = new Worker(new URL('./host-thread.ts', import.meta.url), {
    workerData: { file },
    argv: [`--home=${home}`],
    execArgv: [],
  });
  const send = (data: unknown, ports: readonly MessagePort[] = []): void =>
    thread.postMessage({ data, ports } satisfies Envelope, ports);
  const exited = new Promise<string>((resolve) => {
    thread.once('error', (error) => resolve(`it failed: ${String(error)}`));
    thread.once('exit', () => resolve('it ended by itself'));
  });
  const port = createPort({
    postMessage: (message) => send(message),
    start: (receive) => thread.on('message', receive),
    watch: (closed) => thread.on('exit', closed),
    close: () => void thread.terminate(),
  });
  await whenReady(port, `The ${name} host`);
  return {
    port,
    exited,
    link: (end) => send('link', [end]),
    async end() {
      await thread.terminate();
    },
  };
}
