// Where the app's own files lie. In a packaged app the archive holds what Electron itself reads; what other programs read (the
// utility processes' code, worker threads, sample files) lies beside it.

import path from 'node:path';
import { app } from 'electron';
import type { Licences } from '../../engine/protocol/app.ts';

/** Built files of the main process and the windows. */
export function builtFile(...parts: readonly string[]): string {
  return path.join(app.getAppPath(), 'build', ...parts);
}

/** A file outside the archive. */
export function plainFile(...parts: readonly string[]): string {
  return path.join(app.getAppPath().replace(/app\.asar$/, 'app.asar.unpacked'), ...parts);
}

/** LICENSE and NOTICES: beside the program, on macOS among its resources; in a checkout NOTICES is among what is built. */
export function licenceFiles(): Licences {
  const root = app.getAppPath();
  if (!app.isPackaged) return { own: path.join(root, 'LICENSE'), notices: path.join(root, 'build', 'NOTICES') };
  const folder = process.platform === 'darwin' ? process.resourcesPath : path.dirname(process.execPath);
  return { own: path.join(folder, 'LICENSE'), notices: path.join(folder, 'NOTICES') };
}
