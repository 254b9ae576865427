// The only script between a page and the main process. It hands the page a port for the AppService, and turns a dropped
// file into a token: the path goes to the main process and never enters the page.

import { contextBridge, ipcRenderer, webUtils } from 'electron';

contextBridge.exposeInMainWorld('trainyard', {
  dropped: (file: unknown): Promise<unknown> =>
    ipcRenderer.invoke('trainyard:dropped', file instanceof File ? pathOf(file) : ''),
});

ipcRenderer.on('trainyard:port', (event) => window.postMessage('trainyard:port', window.origin, [...event.ports]));

// The page's scripts have run by then, so that somebody listens for the port.
window.addEventListener('DOMContentLoaded', () => ipcRenderer.send('trainyard:connect'), { once: true });

/** Older Electrons put the path on the file itself. Empty for a file that did not come from outside the page. */
function pathOf(file: File & { readonly path?: string }): string {
  const utilities = webUtils as typeof webUtils | undefined;
  return utilities ? utilities.getPathForFile(file) : (file.path ?? '');
}
