// Where everything is kept: TRAINYARD_HOME, or the app's folder among the system's application data. The command line uses
// the same one, so that both see the same runs.

import os from 'node:os';
import path from 'node:path';
import { app } from 'electron';

export function homeFolder(): string {
  const set = process.env['TRAINYARD_HOME'];
  if (set) return path.resolve(set);
  // Electron takes a relative XDG_CONFIG_HOME as it is; it does not count (freedesktop Base Directory 0.8).
  const data = app.getPath('appData');
  return path.join(path.isAbsolute(data) ? data : path.join(os.homedir(), '.config'), 'Trainyard');
}
