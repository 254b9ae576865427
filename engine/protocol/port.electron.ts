// Ports over what Electron offers: MessagePortMain, a utility process seen from the main process, and the main process
// seen from a utility process. Structural types only; Electron itself is not imported. None of them can transfer
// ArrayBuffers: everything but ports is copied.

import { createPort } from './port.ts';
import type { Port } from './port.ts';

/** The part of Electron's MessagePortMain that is used here. */
export interface ElectronMessagePort {
  postMessage(message: unknown, transfer?: never[]): void;
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  start(): void;
  close(): void;
}

/** The part of Electron's UtilityProcess that is used here. */
export interface ElectronUtilityProcess {
  postMessage(message: unknown, transfer?: never[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
  kill(): boolean;
}

/** The part of `process.parentPort` that is used here. */
export interface ElectronParentPort {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): unknown;
}

export function electronPort(port: ElectronMessagePort): Port {
  return createPort({
    postMessage: (message) => port.postMessage(message),
    start(receive) {
      port.on('message', (event) => receive(event.data));
      port.start();
    },
    watch: (closed) => port.on('close', closed),
    close: () => port.close(),
  });
}

/** Closing it ends the process. */
export function utilityProcessPort(child: ElectronUtilityProcess): Port {
  return createPort({
    postMessage: (message) => child.postMessage(message),
    start: (receive) => child.on('message', receive),
    watch: (closed) => child.on('exit', closed),
    close: () => child.kill(),
  });
}

/** Inside a utility process: the main process. It never closes: Electron ends its utility processes with itself. */
export function parentPort(port: ElectronParentPort): Port {
  return createPort({
    postMessage: (message) => port.postMessage(message),
    start: (receive) => port.on('message', (event) => receive(event.data)),
    watch: () => undefined,
    close: () => undefined,
  });
}
