// Finds a Chromium much newer than the Electron that development may have to do with: the app tests drive the pages in it, too.
// Where there is none, Debian's is installed; where it cannot be had, those tests are skipped.

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { installPackages } from './electron.mjs';
import { say, SetupError } from './setup.mjs';

const oldestVersion = 120;
const programs = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** @returns {Promise<string | null>} its program */
export async function ensureChromium() {
  const found = findChromium();
  if (found !== null) return found;
  try {
    const why = `The pages are also tested in a Chromium of version ${oldestVersion} or newer.`;
    await installPackages(['chromium'], why);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(`SKIPPED: tests/app/chromium.spec.ts. ${error.message}`);
  }
  return findChromium();
}

/** @returns {string | null} */
export function findChromium() {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const files = programs.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return files.find((file) => fs.existsSync(file) && versionOf(file) >= oldestVersion) ?? null;
}

function versionOf(file) {
  const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' });
  return Number(/(\d+)\.\d/.exec(stdout ?? '')?.[1] ?? 0);
}
