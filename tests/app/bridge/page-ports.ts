// What the preload script and the main process do for a page, over Playwright instead of Electron: the page gets its
// `trainyard:port` message, and what it posts there comes out of ports on this side. No server, nothing that the page's
// content-security policy has to allow.

import type { Page } from '@playwright/test';
import { createPort, type Port } from '../../../engine/protocol/port.ts';

interface Letter {
  /** Which of the page's ports. */
  readonly port: number;
  readonly message: unknown;
}

/** Calls back with `count` ports each time the page has loaded. */
export async function connectPage(
  page: Page,
  count: number,
  connected: (ports: readonly Port[]) => void,
): Promise<void> {
  let ends: readonly PageEnd[] = [];
  const closeAll = (): void => {
    for (const end of ends) end.closed();
  };
  page.once('close', closeAll);
  page.once('crash', closeAll);
  await page.exposeBinding('bridgeConnect', () => {
    closeAll();
    const post = mailbox(page);
    ends = Array.from({ length: count }, (_, port) => createEnd((message) => post({ port, message })));
    connected(ends.map(({ port }) => port));
  });
  await page.exposeBinding('bridgeSend', (_source, { port, message }: Letter) => ends[port]?.receive(message));
  await page.addInitScript(preload, count);
}

interface PageEnd {
  readonly port: Port;
  receive(message: unknown): void;
  closed(): void;
}

function createEnd(post: (message: unknown) => void): PageEnd {
  const waiting: unknown[] = [];
  let receive = (message: unknown): void => void waiting.push(message);
  let closed = (): void => undefined;
  const port = createPort({
    postMessage: post,
    start(listener) {
      receive = listener;
      for (const message of waiting.splice(0)) listener(message);
    },
    watch: (listener) => (closed = listener),
    close: () => undefined,
  });
  return { port, receive: (message) => receive(message), closed: () => closed() };
}

/** Delivers letters to the page in order, all that have gathered at once. */
function mailbox(page: Page): (letter: Letter) => void {
  let letters: Letter[] = [];
  let delivering = false;
  const deliver = async (): Promise<void> => {
    delivering = true;
    while (letters.length > 0 && !page.isClosed()) {
      const batch = letters;
      letters = [];
      await page.evaluate((each) => (globalThis as unknown as BridgedPage).bridgeReceive(each), batch);
    }
    delivering = false;
  };
  return (letter) => {
    letters.push(letter);
    // A page that goes away takes its letters with it.
    if (!delivering) deliver().catch(() => undefined);
  };
}

interface BridgedPage {
  bridgeConnect(): Promise<void>;
  bridgeSend(letter: Letter): Promise<void>;
  bridgeReceive(letters: readonly Letter[]): void;
}

/** Runs in the page, before its own scripts. */
function preload(count: number): void {
  const page = globalThis as unknown as BridgedPage;
  const channels = Array.from({ length: count }, () => new MessageChannel());
  channels.forEach(({ port1 }, port) => {
    port1.onmessage = ({ data }) => void page.bridgeSend({ port, message: data });
  });
  page.bridgeReceive = (letters) => {
    for (const { port, message } of letters) channels[port].port1.postMessage(message);
  };
  const dropped = (): Promise<never> => Promise.reject(new Error('Nothing can be dropped over the bridge.'));
  Object.assign(globalThis, { trainyard: { dropped } });
  const connect = async (): Promise<void> => {
    await page.bridgeConnect();
    const ends = channels.map(({ port2 }) => port2);
    window.postMessage('trainyard:port', window.origin, ends);
  };
  window.addEventListener('DOMContentLoaded', () => void connect(), { once: true });
}
