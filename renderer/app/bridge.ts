// The two things a sandboxed page cannot do with web means alone, offered by the preload script: get the port of the
// AppService, and turn a dropped file into a token for its path (the path itself never enters the page).

import { fromWire, type WireError } from '../../engine/protocol/errors.ts';

export interface DroppedItem {
  readonly token: string;
  readonly name: string;
}

export interface Bridge {
  /** Asks the main process to vouch for a dropped file or folder. */
  dropped(file: File): Promise<DroppedItem | { readonly error: WireError }>;
}

declare global {
  interface Window {
    readonly trainyard: Bridge;
  }
}

/** The token of a dropped file or folder. Throws why there is none. */
export async function tokenOf(file: File): Promise<DroppedItem> {
  const answer = await window.trainyard.dropped(file);
  if ('error' in answer) throw fromWire(answer.error);
  return answer;
}

/** Resolves with the port that the preload script posts once the page is there. */
export function receivePort(): Promise<MessagePort> {
  return new Promise((resolve) => {
    const listen = (event: MessageEvent): void => {
      if (event.source !== window || event.data !== 'trainyard:port') return;
      window.removeEventListener('message', listen);
      const [port] = event.ports;
      // Older Chromiums crash when they tell a page that is going away that its port has closed.
      window.addEventListener('pagehide', () => port.close(), { once: true });
      resolve(port);
    };
    window.addEventListener('message', listen);
  });
}
