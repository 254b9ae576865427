// `npm start`: sets everything up and opens the window; without a screen it runs the command line's demo instead.
// Options after `--` go to the app.

import path from 'node:path';
import { ensureElectron } from './electron.mjs';
import { QuietLines } from './quiet.mjs';
import { handOver, root, say, script, setup } from './setup.mjs';

const verbose = process.env['TRAINYARD_VERBOSE'] === '1';

await script(async () => {
  const args = process.argv.slice(2);
  if (!hasScreen()) {
    say('there is no screen here (neither DISPLAY nor WAYLAND_DISPLAY is set), so this runs the command line’s demo');
    const { node } = await setup({ targets: ['node'] });
    await handOver(node, [path.join(root, 'build/node/trainyard.js'), 'demo', ...args]);
    return;
  }
  const { node } = await setup({ targets: ['main', 'hosts', 'preload', 'renderer', 'notices'] });
  const electron = await ensureElectron({ node });
  const quiet = new QuietLines((line) => process.stderr.write(line));
  await handOver(electron.executable, [...electron.args, ...rootFlags(), ...args], {
    env: { ...process.env, TRAINYARD_NODE: node },
    stdio: verbose ? 'inherit' : ['inherit', 'inherit', 'pipe'],
    onStart: (child) => child.stderr?.setEncoding('utf8').on('data', (text) => quiet.add(text)),
  });
  quiet.end();
  if (quiet.left.size > 0) {
    const about = [...quiet.left].map(([name, lines]) => `${name} (${lines})`).join(', ');
    say(`left out harmless messages of Chromium and GTK about ${about}; TRAINYARD_VERBOSE=1 shows them`);
  }
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
