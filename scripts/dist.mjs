// `npm run dist [-- ELECTRON-BUILDER OPTIONS]`: the packaged app, into dist/. With `--for-tests` the Linux folder alone, into
// dist/test, with debugging left on: that is what Playwright needs and the only difference from the release.

import path from 'node:path';
import { ensureElectron } from './electron.mjs';
import { everything, handOver, root, runCommand, say, script, setup } from './setup.mjs';

await script(async () => {
  const options = process.argv.slice(2).filter((option) => option !== '--for-tests');
  const { node } = await setup({ targets: everything });
  await packageApp({ node, options, forTests: process.argv.includes('--for-tests') });
});

async function packageApp({ node, options, forTests }) {
  const electron = await ensureElectron({ node });
  const args = [...options];
  if (electron.source === 'registry') {
    say(`packing Electron ${electron.version}: for development and tests, not for a release`);
    args.push(`-c.electronDist=${electron.folder}`, `-c.electronVersion=${electron.version}`);
  }
  if (forTests) {
    args.push('--linux', 'dir', '-c.electronFuses.enableNodeCliInspectArguments=true');
    args.push(`-c.directories.output=${path.join('dist', 'test')}`);
  }
  const builder = path.join(root, 'node_modules/electron-builder/cli.js');
  if (!forTests) return handOver(node, [builder, ...args], { cwd: root });
  return runCommand(node, [builder, ...args], {
    failure: 'The app could not be packaged; the messages above say why.',
  });
}
