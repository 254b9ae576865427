// `npm start`: sets everything up and opens the window; without a screen it runs the command line's demo instead.
// Options after `--` go to the app.

import path from 'node:path';
import { ensureElectron } from './electron.mjs';
import { handOver, root, say, script, setup } from './setup.mjs';

await script(async () => {
  const args = process.argv.slice(2);
  if (!hasScreen()) {
    say('there is no screen here (neither DISPLAY nor WAYLAND_DISPLAY is set), so this runs the command line’s demo');
    const { node } = await setup({ targets: ['node'] });
    await handOver(node, [path.join(root, 'build/node/trainyard.js'), 'demo', ...args]);
    return;
  }
  const { node } = await setup({ targets: ['main', 'hosts', 'preload', 'renderer'] });
  const electron = await ensureElectron({ node });
  await handOver(electron.executable, [...electron.args, ...rootFlags(), ...args], {
    env: { ...process.env, TRAINYARD_NODE: node },
  });
});

function hasScreen() {
  if (process.platform !== 'linux') return true;
  return Boolean(process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']);
}

/** Chromium refuses to start its sandbox as root. */
function rootFlags() {
  if (process.platform !== 'linux' || process.getuid() !== 0) return [];
  say('running as root, where Chromium’s sandbox cannot work: it is off. Use a normal account for real work.');
  return ['--no-sandbox'];
}
