// Entry of the store's own process: an Electron utility process, or a plain Node process started by `openStore`
// (engine/history/client.node.ts). `--home=FOLDER` says which history it serves; with `--repair` or `--restore` it
// offers to repair that history, or to restore a backup, instead; with `--history=…` it serves no other history than the one
// its parent began with. It lives as long as its parent listens.

import { restoreHome } from '../../engine/history/archive/restore.ts';
import { paced } from '../../engine/history/keeping.ts';
import { repairHome } from '../../engine/history/repair.ts';
import { createStore } from '../../engine/history/store.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { announceFailure, announceReady } from '../../engine/protocol/port.ready.ts';
import { serve } from '../../engine/protocol/rpc.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import type { JobProgress, RestoreService } from '../../engine/protocol/keeping.ts';
import type { RepairService, StoreService } from '../../engine/protocol/store.ts';
import { leaveSignals, portOfParent } from './parent.ts';
import { reportOwnFailures } from './uncaught.ts';

reportOwnFailures('store');
const port = portOfParent();
// The parent needs the store to keep the last checkpoint; when it has gone, so does this process.
leaveSignals();

const begunWithOption = '--history=';

try {
  const home = process.argv.find((argument) => argument.startsWith('--home='))?.slice('--home='.length);
  if (!home) throw new InputError('usage.home', 'The store needs --home=FOLDER.', 'Start Trainyard itself instead.');
  if (process.argv.includes('--repair')) serveRepair(home);
  else if (process.argv.includes('--restore')) serveRestore(home);
  else serveHistory(home);
  announceReady(port);
} catch (error) {
  announceFailure(port, error);
}

function serveHistory(home: string): void {
  const begunWith = process.argv.find((argument) => argument.startsWith(begunWithOption));
  const store = createStore(home, begunWith?.slice(begunWithOption.length));
  serve<StoreService>(port, store);
  // Transactions are never interrupted: they run to their end without returning to the event loop. A file that is being
  // written is finished, since the process ends by itself only once nothing is left to do.
  port.onClose(() => void store.close().catch(() => undefined));
}

function serveRepair(home: string): void {
  serve<RepairService>(port, { repair: () => repairHome(home) });
}

function serveRestore(home: string): void {
  const listeners = new Listeners<JobProgress>();
  let cancelled = false;
  serve<RestoreService>(port, {
    restore: ({ file }) =>
      restoreHome(home, file, { goOn: () => !cancelled, onProgress: paced((progress) => listeners.emit(progress)) }),
    async cancelRestore() {
      cancelled = true;
    },
    onRestoreProgress: (listener) => listeners.add(listener),
  });
}
