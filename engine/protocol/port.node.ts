// Ports over what plain Node offers: a child process (start it with `serialization: 'advanced'`, so that typed arrays
// arrive as typed arrays) and its parent, worker threads and their MessagePorts. Structural types only.

import { createPort } from './port.ts';
import type { Port } from './port.ts';

/** What a ChildProcess and, inside one, `process` have in common. */
export interface ProcessChannel {
  send?(message: unknown, callback: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
  readonly connected: boolean;
  disconnect?(): void;
}

/** What a Worker, a worker's `parentPort` and a MessagePort of worker_threads have in common. */
export interface ThreadPort {
  postMessage(message: unknown, transfer?: readonly never[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'close' | 'exit', listener: () => void): unknown;
  close?(): void;
  terminate?(): Promise<number>;
}

export function processPort(channel: ProcessChannel): Port {
  return createPort({
    // A message that cannot be delivered any more is followed by `disconnect`, which ends what waits for an answer.
    postMessage: (message) => channel.send?.(message, () => undefined),
    start: (receive) => channel.on('message', receive),
    watch: (closed) => channel.on('disconnect', closed),
    close() {
      if (channel.connected) channel.disconnect?.();
    },
  });
}

export function threadPort(thread: ThreadPort): Port {
  return createPort({
    postMessage: (message, transfer = []) => thread.postMessage(message, transfer as readonly never[]),
    start: (receive) => thread.on('message', receive),
    watch(closed) {
      thread.on('close', closed);
      thread.on('exit', closed);
    },
    close() {
      if (thread.terminate) void thread.terminate();
      else thread.close?.();
    },
  });
}
