// Entry of a thread that stands in for one of Electron's utility processes: it gives the built host it runs the
// `process.parentPort` that Electron would. What comes from the parent is `{ data, ports }`, as there.

import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';
import type { ElectronMessagePort } from '../../../engine/protocol/port.electron.ts';

/** What the parent sends. */
export interface Envelope {
  readonly data: unknown;
  readonly ports: readonly MessagePort[];
}

if (parentPort !== null) {
  const parent = parentPort;
  Object.assign(process, {
    parentPort: {
      postMessage: (message: unknown) => parent.postMessage(message),
      on: (event: 'message', listener: (event: { data: unknown; ports: readonly ElectronMessagePort[] }) => void) =>
        parent.on(event, ({ data, ports }: Envelope) => listener({ data, ports: ports.map(electronLike) })),
    },
  });
  await import(pathToFileURL((workerData as { file: string }).file).href);
}

/** Node's port with the events of Electron's. */
function electronLike(port: MessagePort): ElectronMessagePort {
  return {
    postMessage: (message) => port.postMessage(message),
    on: (event: 'message' | 'close', listener: (event: { readonly data: unknown }) => void) =>
      port.on(event, (data: unknown) => listener({ data })),
    start: () => port.start(),
    close: () => port.close(),
  };
}
