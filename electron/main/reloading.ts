// While the window is worked on (`npm run dev`), its page loads again whenever it has been built.

import fs from 'node:fs';
import { app } from 'electron';
import type { MainWindow } from './main-window.ts';

export function setupReloading(window: Pick<MainWindow, 'reload'>, folder: string): void {
  if (app.isPackaged || process.env['TRAINYARD_DEV'] !== '1') return;
  let timer: NodeJS.Timeout | undefined;
  fs.watch(folder, { recursive: process.platform !== 'linux' }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => window.reload(), 200);
  });
}
