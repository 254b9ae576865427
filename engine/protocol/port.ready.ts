// The first message of a process that serves something: it is ready, or why it cannot be. Whoever started it waits for
// this before the first call, so that a process that fails to start says so once, with its own error.

import { fromWire, toWire, TrainyardError } from './errors.ts';
import type { WireError } from './errors.ts';
import type { Port } from './port.ts';

type ReadyMessage = { readonly ready: true } | { readonly ready: false; readonly error: WireError };

export function announceReady(port: Port): void {
  port.postMessage({ ready: true } satisfies ReadyMessage);
}

export function announceFailure(port: Port, error: unknown): void {
  port.postMessage({ ready: false, error: toWire(error) } satisfies ReadyMessage);
}

/** Resolves when the other side is ready; rejects with its error, or when the port closes before. */
export function whenReady(port: Port, peer: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = port.onMessage((message) => {
      if (!isReadyMessage(message)) return;
      stop();
      if (message.ready) resolve();
      else reject(fromWire(message.error));
    });
    port.onClose(() => reject(new TrainyardError('internal.disconnected', `${peer} ended before it was ready.`)));
  });
}

function isReadyMessage(message: unknown): message is ReadyMessage {
  return typeof message === 'object' && message !== null && 'ready' in message;
}
