// The only script between a page and the main process. It hands the page a port for the AppService, and turns a dropped
// file into a token: the path goes to the main process and never enters the page.

import { contextBridge, ipcRenderer, webUtils } from 'electron';

contextBridge.exposeInMainWorld('trainyard', {
  dropped: (file: unknown): Promise<unknown> =>
    ipcRenderer.invoke('trainyard:dropped', file instanceof File ? pathOf(file) : ''),
});

ipcRenderer.on('trainyard:port', (event) => window.postMessage('trainyard:port', window.origin, [...event.ports]));

// A page stays where it is. This listener comes before any of the page's own, in a world the page cannot reach; what gets past
// it is brought back by the main process.
navigation.addEventListener('navigate', (event) => {
  const { sameDocument, url } = event.destination;
  if (!sameDocument || url.split('#')[0] !== location.href.split('#')[0]) event.preventDefault();
});

// A page that was written over has no way to say so itself.
window.addEventListener('DOMContentLoaded', watchDocument, { once: true });

// The page's scripts have run by then, so that somebody listens for the port.
window.addEventListener('DOMContentLoaded', () => ipcRenderer.send('trainyard:connect'), { once: true });

function watchDocument(): void {
  const root = document.documentElement;
  const watch = new MutationObserver(() => {
    if (document.documentElement !== root) ipcRenderer.send('trainyard:wiped');
  });
  watch.observe(document, { childList: true });
}

/** Older Electrons put the path on the file itself. Empty for a file that did not come from outside the page. */
function pathOf(file: File & { readonly path?: string }): string {
  const utilities = webUtils as typeof webUtils | undefined;
  return utilities ? utilities.getPathForFile(file) : (file.path ?? '');
}
