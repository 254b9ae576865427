// Ports over the browser's MessagePort (and Worker). Structural types only, so that the window, the hidden GPU window
// and Node's own MessageChannel can all use it.

import { createPort } from './port.ts';
import type { Port } from './port.ts';

/** The part of the DOM's MessagePort that is used here. */
export interface DomMessagePort {
  postMessage(message: unknown, transfer: never[]): void;
  addEventListener(type: string, listener: (event: { readonly type: string; readonly data?: unknown }) => void): void;
  start?(): void;
  close?(): void;
}

/** Older Chromiums send no `close` event: there, only this side's own `close()` is noticed. */
export function domPort(port: DomMessagePort): Port {
  return createPort({
    postMessage: (message, transfer = []) => port.postMessage(message, [...transfer] as never[]),
    start(receive) {
      port.addEventListener('message', (event) => receive(event.data));
      port.start?.();
    },
    watch: (closed) => port.addEventListener('close', closed),
    close: () => port.close?.(),
  });
}
