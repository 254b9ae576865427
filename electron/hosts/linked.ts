// Links between utility processes: the main process sends each side one end of a channel, and the two talk directly.

import type { MessagePortMain, ParentPort } from 'electron';
import type { LinkKind } from '../../engine/protocol/hosts.ts';
import { electronPort } from '../../engine/protocol/port.electron.ts';
import type { Port } from '../../engine/protocol/port.ts';

/** Calls back with each link of a kind the main process makes. */
export function onLink(parent: ParentPort, listener: (port: Port) => void, what: LinkKind = 'link'): void {
  parent.on('message', (event: { readonly data: unknown; readonly ports: MessagePortMain[] }) => {
    if (event.data === what && event.ports.length === 1) listener(electronPort(event.ports[0]));
  });
}
