// What the page and the main process say to each other: the page asks once for its port, over which everything else goes,
// and has dropped files turned into tokens. Messages from anywhere but the app's own page are ignored.

import { ipcMain, MessageChannelMain, type IpcMainEvent, type WebContents } from 'electron';
import type { AppService } from '../../engine/protocol/app.ts';
import { InputError, toWire, type WireError } from '../../engine/protocol/errors.ts';
import { electronPort } from '../../engine/protocol/port.electron.ts';
import { forPage } from '../../engine/protocol/shown-errors.ts';
import { serve } from '../../engine/protocol/rpc.ts';
import { isOwnPage } from './lockdown.ts';
import type { ChosenPaths } from './paths.ts';
import { requests } from './requests.ts';

/** A token for what was dropped, or why there is none. */
type DropAnswer = { readonly token: string; readonly name: string } | { readonly error: WireError };

/** Calls back each time the page of these contents sends a message of this name. */
export function onPageMessage(contents: WebContents, name: `trainyard:${string}`, listener: () => void): void {
  const listen = (event: IpcMainEvent): void => {
    if (isOwnPage(event, contents)) listener();
  };
  ipcMain.on(name, listen);
  contents.once('destroyed', () => ipcMain.off(name, listen));
}

/** Calls back each time the page of these contents asks for its ports: when it has loaded, and when it has loaded again. */
export function onConnect(contents: WebContents, listener: () => void): void {
  onPageMessage(contents, 'trainyard:connect', listener);
}

export function setupLinks(contents: WebContents, service: AppService, paths: ChosenPaths): void {
  let stop: (() => void) | null = null;
  onConnect(contents, () => {
    // A page that was loaded again has a new port; the old one is of no use to anybody.
    stop?.();
    const { port1, port2 } = new MessageChannelMain();
    stop = serve(electronPort(port1), service, { validate: requests, errors: forPage });
    contents.postMessage('trainyard:port', null, [port2]);
  });
  // An error goes as an answer: Electron would put words of its own around one that is thrown, and lose its hint.
  ipcMain.handle('trainyard:dropped', (event, path: unknown): DropAnswer => {
    try {
      if (!isOwnPage(event, contents) || typeof path !== 'string') {
        throw new InputError('input.no_file', 'This drop was refused.', 'Drop a file or a folder on the window.');
      }
      return paths.add(path);
    } catch (error) {
      return { error: forPage(toWire(error)) };
    }
  });
}
