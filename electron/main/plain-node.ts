// A plain Node beside Electron, for a native module that needs a newer Node-API than an old Electron has. A package made with
// such an Electron carries the program among its resources (scripts/dist.mjs), outside the archive, from which nothing can be started.

import path from 'node:path';
import { app } from 'electron';

/** better-sqlite3's. */
const neededNodeApi = 10;

/** Whether utility processes can load better-sqlite3: in every Electron that is released. */
export function hasNodeApi(version: string | undefined = process.versions['napi']): boolean {
  return Number(version) >= neededNodeApi;
}

/**
 * The program. The environment decides in a checkout alone (`npm start` names the Node it found): whoever can set a packaged app's
 * environment is not to choose what it runs.
 */
export function plainNode(): string {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  if (app.isPackaged) return path.join(process.resourcesPath, name);
  return process.env['TRAINYARD_NODE'] ?? path.join(app.getAppPath(), 'node_modules', '.bin', name);
}
