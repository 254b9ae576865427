// A history that is damaged keeps the app from starting: the person is asked whether to repair it. A process of the store's does
// it, as for `trainyard repair`; what was kept and what is lost is told before the app goes on.

import { dialog, type BrowserWindow } from 'electron';
import { toWire } from '../../engine/protocol/errors.ts';
import { repairText } from '../../engine/protocol/repair-text.ts';
import { connect } from '../../engine/protocol/rpc.ts';
import type { RepairReport, RepairService } from '../../engine/protocol/store.ts';
import type { Child } from './child.ts';

/**
 * Asks, repairs and tells what came of it; `start` starts the process that repairs. false: the person wants to quit, and nothing
 * has been changed. Rejects with what keeps the history from being repaired.
 */
export async function offerRepair(window: BrowserWindow, error: unknown, start: () => Child): Promise<boolean> {
  const { message } = toWire(error);
  process.stderr.write(`${message}\n`);
  const { response } = await dialog.showMessageBox(window, {
    type: 'warning',
    title: 'Trainyard',
    message: 'The history is damaged.',
    detail:
      `${message}\n\nRepairing keeps the damaged file under another name and builds a new history from the newest backup, ` +
      'from what can still be read, and from the folders of the runs.',
    buttons: ['Repair', 'Quit'],
    defaultId: 0,
    cancelId: 1,
    noLink: true,
  });
  if (response !== 0) return false;
  const lines = repairText(await repair(start()));
  process.stderr.write(`${lines.join('\n')}\n`);
  await dialog.showMessageBox(window, {
    type: 'info',
    title: 'Trainyard',
    message: 'The history has been repaired.',
    detail: lines.join('\n\n'),
    buttons: ['Continue'],
    noLink: true,
  });
  return true;
}

async function repair(child: Child): Promise<RepairReport> {
  try {
    await child.ready;
    return await connect<RepairService>(child.port, { peer: 'the store process' }).repair();
  } finally {
    child.end();
  }
}
