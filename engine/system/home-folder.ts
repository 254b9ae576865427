// Where the state lies: TRAINYARD_HOME, or the app's own data folder, so that the window and the command line see the same runs.

import os from 'node:os';
import path from 'node:path';
import process from 'node:process';

/** The home folder, absolute. The same as Electron's `app.getPath('userData')` for this app. */
export function homeFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const set = environment.TRAINYARD_HOME;
  if (set) return path.resolve(set);
  switch (process.platform) {
    case 'win32':
      return path.join(environment.APPDATA ?? path.join(os.homedir(), 'AppData', 'Roaming'), 'Trainyard');
    case 'darwin':
      return path.join(os.homedir(), 'Library', 'Application Support', 'Trainyard');
    default:
      return path.join(configFolder(environment), 'Trainyard');
  }
}

/** An empty or relative one does not count (freedesktop Base Directory 0.8): it would be another folder wherever a command is called. */
function configFolder({ XDG_CONFIG_HOME: set }: NodeJS.ProcessEnv): string {
  return set && path.isAbsolute(set) ? set : path.join(os.homedir(), '.config');
}
