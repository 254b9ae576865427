// While the window is worked on (`npm run dev`), its page loads again whenever it has been built.

import fs from 'node:fs';
import { app, type BrowserWindow } from 'electron';

export function setupReloading(window: BrowserWindow, folder: string): void {
  if (app.isPackaged || process.env['TRAINYARD_DEV'] !== '1') return;
  let timer: NodeJS.Timeout | undefined;
  fs.watch(folder, { recursive: process.platform !== 'linux' }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => window.webContents.reloadIgnoringCache(), 200);
  });
}
