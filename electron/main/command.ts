// The command line inside the installed app: `trainyard --command -- COMMAND …`, as packaging/linux/trainyard calls it. The main
// process runs it, with the app's own processes beside it, and neither a window nor a page: so Chromium's sandbox, the lock of the one
// window and the profile of the pages play no part.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { app } from 'electron';
import type { RunCommandLine } from '../../engine/protocol/command-line.ts';
import { startStore, startUtilityProcess } from './child.ts';
import { plainFile } from './folders.ts';

/** The arguments of the command, or null where the window is asked for. What stands behind `--` is no switch of Chromium's. */
export function commandArguments(argv: readonly string[] = process.argv): readonly string[] | null {
  const end = argv.indexOf('--');
  return end > 0 && argv.slice(1, end).includes('--command') ? argv.slice(end + 1) : null;
}

/** Runs the command and ends the app with its exit code. */
export async function runCommand(args: readonly string[]): Promise<void> {
  // Chromium's own files, should it make some: out of the way of an open window.
  const profile = path.join(os.tmpdir(), `trainyard-command-${process.pid}`);
  app.setPath('userData', profile);
  app.setPath('sessionData', profile);
  app.disableHardwareAcceleration();
  // Electron sets its own handlers of signals while it gets ready; those of the command come after.
  await app.whenReady();
  app.dock?.hide();
  const file = (name: string): string => plainFile('build', 'hosts', `${name}.cjs`);
  const load = createRequire(path.join(app.getAppPath(), 'package.json'));
  const { runCommandLine } = load(file('command')) as { readonly runCommandLine: RunCommandLine };
  const code = await runCommandLine(args, {
    startStore: (all) => startStore({ name: 'store', file: file('store'), args: all, quiet: true }),
    startOnnx: () => startUtilityProcess({ name: 'model check', file: file('onnx'), args: [], quiet: true }),
    startTrainer: (all) => startUtilityProcess({ name: 'training', file: file('trainer'), args: all, quiet: true }),
  });
  fs.rmSync(profile, { recursive: true, force: true });
  app.exit(code);
}
