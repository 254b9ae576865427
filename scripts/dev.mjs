// `npm run dev`: the window with its pages built again, and loaded again, at every change below renderer/. Changes of the main
// process need a restart. Options after `--` go to the app.

import { spawn } from 'node:child_process';
import { ensureElectron } from './electron.mjs';
import { everything, handOver, root, script, setup } from './setup.mjs';

await script(async () => {
  const { node } = await setup({ targets: everything });
  const electron = await ensureElectron({ node });
  const vite = ['node_modules/vite/bin/vite.js', 'build', '--mode', 'renderer', '--watch', '--configLoader', 'native'];
  const watcher = spawn(node, vite, { cwd: root, stdio: ['ignore', 2, 2] });
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  await handOver(electron.executable, [...electron.args, ...asRoot, ...process.argv.slice(2)], {
    env: { ...process.env, TRAINYARD_NODE: node, TRAINYARD_DEV: '1' },
  });
  watcher.kill();
});
