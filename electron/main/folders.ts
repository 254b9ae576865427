// Where the app's own files lie. In a packaged app the archive holds what Electron itself reads; what other programs read (the
// utility processes' code, worker threads, sample files) lies beside it.

import path from 'node:path';
import { app } from 'electron';

/** Built files of the main process and the windows. */
export function builtFile(...parts: readonly string[]): string {
  return path.join(app.getAppPath(), 'build', ...parts);
}

/** A file outside the archive. */
export function plainFile(...parts: readonly string[]): string {
  return path.join(app.getAppPath().replace(/app\.asar$/, 'app.asar.unpacked'), ...parts);
}
