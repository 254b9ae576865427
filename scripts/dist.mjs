// `npm run dist [-- ELECTRON-BUILDER OPTIONS]`: the packaged app, into dist/; without options on Linux the tar.xz and the deb, which
// need nothing that has to be fetched. With `--for-tests` the Linux folder alone, and beside it, in dist/test, a second one for
// Playwright: the same files but for one fuse of the program, which lets it be debugged.

import * as fs from 'node:fs';
import path from 'node:path';
import { ensureElectron, linkTree } from './electron.mjs';
import { bundledNode, everything, handOver, root, runCommand, say, script, setup } from './setup.mjs';

await script(async () => {
  const forTests = process.argv.includes('--for-tests');
  const options = process.argv.slice(2).filter((option) => option !== '--for-tests');
  const asked = options.length > 0;
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
  if (!forTests && (asked || process.platform !== 'linux')) return handOver(node, [builder, ...options], { cwd: root });
  const failure = 'The app could not be packaged; the messages above say why.';
  await runCommand(node, [builder, '--linux', 'dir', ...options], { failure });
  if (!forTests) {
    // Only now: in a new clone there were no dependencies when this began.
    const { packLinux, writeChecksums } = await import('./packages/linux.mjs');
    return writeChecksums(await packLinux());
  }
  await makeTestPackage(path.join(root, 'dist', 'linux-unpacked'), path.join(root, 'dist', 'test'));
});

async function makeTestPackage(release, copy) {
  const { flipFuses, FuseV1Options, FuseVersion } = await import('@electron/fuses');
  linkTree(release, copy);
  const program = path.join(copy, 'trainyard');
  fs.rmSync(program);
  fs.copyFileSync(path.join(release, 'trainyard'), program);
  await flipFuses(program, { version: FuseVersion.V1, [FuseV1Options.EnableNodeCliInspectArguments]: true });
}
