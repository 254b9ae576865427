// `npm run dist [-- ELECTRON-BUILDER OPTIONS]`: the packaged app, into dist/. With `--for-tests` the Linux folder alone, and beside
// it, in dist/test, a second one for Playwright: the same files but for one fuse of the program, which lets it be debugged.

import * as fs from 'node:fs';
import path from 'node:path';
import { flipFuses, FuseV1Options, FuseVersion } from '@electron/fuses';
import { ensureElectron, linkTree } from './electron.mjs';
import { bundledNode, everything, handOver, root, runCommand, say, script, setup } from './setup.mjs';

await script(async () => {
  const forTests = process.argv.includes('--for-tests');
  const options = process.argv.slice(2).filter((option) => option !== '--for-tests');
  // For the tests scripts/setup.mjs calls this as its last step: everything is built.
  const node = forTests ? process.execPath : (await setup({ targets: everything })).node;
  const electron = await ensureElectron({ node });
  if (electron.source === 'registry') {
    say(`packing Electron ${electron.version}: for development and tests, not for a release`);
    options.push(`-c.electronDist=${electron.folder}`, `-c.electronVersion=${electron.version}`);
    // Its Node-API is too old for the store, which runs under plain Node then: electron/main/plain-node.ts. Linux x64, as it is itself.
    options.push(`-c.extraResources.from=${bundledNode() ?? node}`, '-c.extraResources.to=node');
  }
  const builder = path.join(root, 'node_modules/electron-builder/cli.js');
  if (!forTests) return handOver(node, [builder, ...options], { cwd: root });
  const failure = 'The app could not be packaged; the messages above say why.';
  await runCommand(node, [builder, '--linux', 'dir', ...options], { failure });
  await makeTestPackage(path.join(root, 'dist', 'linux-unpacked'), path.join(root, 'dist', 'test'));
});

async function makeTestPackage(release, copy) {
  linkTree(release, copy);
  const program = path.join(copy, 'trainyard');
  fs.rmSync(program);
  fs.copyFileSync(path.join(release, 'trainyard'), program);
  await flipFuses(program, { version: FuseVersion.V1, [FuseV1Options.EnableNodeCliInspectArguments]: true });
}
