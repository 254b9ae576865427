// Failures of the main process, of pages and of Chromium's own processes become files in the home, and stay there: Chromium's reporter is told
// to upload nothing. Processes of the app's own report themselves (electron/hosts), and their end is told by whoever started them.

import path from 'node:path';
import { app, crashReporter } from 'electron';
import { crashFolder, dumpFolder, failingOf, recordCrash, reportUncaught } from '../../engine/system/crashes.ts';

/** Before the app is ready. */
export function reportCrashes(home: string): void {
  const version = app.getVersion();
  const record = (part: string, what: string): void => void recordCrash(home, { part, what, trace: '' }, version);
  app.setPath('crashDumps', path.join(home, crashFolder, dumpFolder));
  crashReporter.start({ uploadToServer: false, ignoreSystemCrashHandler: false });

  reportUncaught(home, 'main', version);
  process.on('unhandledRejection', (error) => {
    recordCrash(home, failingOf('main', error), version);
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  });
  let quitting = false;
  app.on('will-quit', () => (quitting = true));
  app.on('render-process-gone', (_event, contents, { reason }) => {
    if (quitting || reason === 'clean-exit') return;
    const part = contents.getURL().includes('/gpu/') ? 'GPU window' : 'window';
    record(part, `Its process ended (${reason})`);
  });
  app.on('child-process-gone', (_event, { type, reason }) => {
    // Utility processes are the app's own.
    if (quitting || type === 'Utility' || reason === 'clean-exit' || reason === 'killed') return;
    record(`Chromium's ${type} process`, `Its process ended (${reason})`);
  });
}

/** For whoever starts processes. */
export function failureRecorder(home: string): (part: string, what: string) => void {
  return (part, what) => void recordCrash(home, { part, what, trace: '' }, app.getVersion());
}
