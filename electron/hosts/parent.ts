// Whoever started this process: the app, of which it is a utility process, or a plain Node process.

import { parentPort, type ElectronParentPort } from '../../engine/protocol/port.electron.ts';
import { processPort } from '../../engine/protocol/port.node.ts';
import type { Port } from '../../engine/protocol/port.ts';

const electron = (process as { readonly parentPort?: ElectronParentPort }).parentPort;

export function portOfParent(): Port {
  return electron ? parentPort(electron) : processPort(process);
}

/** Ctrl-C and a system that shuts down signal every process of the group: the parent decides what happens then. Electron ends its own with SIGTERM. */
export function leaveSignals(): void {
  const parentsBusiness = electron ? (['SIGINT', 'SIGHUP'] as const) : (['SIGINT', 'SIGHUP', 'SIGTERM'] as const);
  for (const signal of parentsBusiness) process.on(signal, () => undefined);
}
