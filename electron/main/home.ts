// Where everything is kept: TRAINYARD_HOME, or the app's folder among the system's application data. The command line uses
// the same one, so that both see the same runs.

import path from 'node:path';
import { app } from 'electron';

export function homeFolder(): string {
  const set = process.env['TRAINYARD_HOME'];
  return set ? path.resolve(set) : path.join(app.getPath('appData'), 'Trainyard');
}
