// `npm test`: sets everything up, then Node's runner over the engine's tests and Playwright over the real app, on a screen
// of its own; both print their own closing lines. `npm test -- unit [FILE …]` and `npm test -- app [FILE …]` run one of the
// two, `npm run parity -- [KERNEL]` the kernels against their references, `npm run bench:window` times the window, `npm run pictures` takes
// the README's pictures of it.

import * as fs from 'node:fs';
import path from 'node:path';
import { ensureChromium, findChromium } from './chromium.mjs';
import { ensureElectron, installPackages } from './electron.mjs';
import { everything, handOver, hasProgram, root, say, script, setup } from './setup.mjs';

const engineTests = 'tests/{tiny,unit,gradient,parity,golden,recipes}/**/*.test.ts';
/** Test files at once: each may use several threads of its own, and two cores are the reference machine. */
const concurrency = 2;
/** Scripts that a person runs over the real window. */
const windowScripts = new Map([
  ['window', 'tests/app/window-bench.ts'],
  ['pictures', 'tests/app/pictures.ts'],
]);
/** The packaged app is tested too, where electron-builder makes it without anything of the system's. */
const packaged = process.platform === 'linux' ? ['package'] : [];

await script(async () => {
  const parts = process.argv.slice(2);
  const wantsEngine = parts.length === 0 || parts[0] === 'unit' || parts[0] === 'parity';
  const wantsApp = parts.length === 0 || parts[0] === 'app';
  const inWindow = windowScripts.get(parts[0] ?? '');
  const forApp = wantsApp ? [...everything, ...packaged] : inWindow ? everything : ['node'];
  const { node } = await setup({ targets: [...forApp, ...(wantsEngine ? ['tests'] : [])] });
  // Tests start the programs of this project by name; they find the right Node first.
  const env = {
    ...process.env,
    PATH: `${path.dirname(node)}${path.delimiter}${process.env['PATH']}`,
    TRAINYARD_NODE: node,
  };
  const electron = process.platform === 'linux' || wantsApp || inWindow ? await ensureElectron({ node }) : null;
  if (electron !== null) {
    env['TRAINYARD_ELECTRON'] = JSON.stringify(electron);
    env['TRAINYARD_SWIFTSHADER'] = electron.folder;
  }

  if (wantsApp) {
    // A few chosen app tests are no reason to install it.
    const chosen = parts.length > 1 && !parts.some((part) => part.includes('chromium'));
    env['TRAINYARD_CHROMIUM'] = (chosen ? findChromium() : await ensureChromium()) ?? '';
  }

  let failed = false;
  const step = async (program, args, more = {}) => {
    failed = (await handOver(program, args, { cwd: root, env: { ...env, ...more } })) !== 0 || failed;
  };
  // Of the kernels the named ones alone are compiled, not only run.
  if (parts[0] === 'parity' && parts.length > 1) env['TRAINYARD_KERNELS'] = parts.slice(1).join(' ');
  if (wantsEngine) {
    // Each file is a process of its own that compiles much the same modules.
    const cache = { NODE_COMPILE_CACHE: path.join(root, 'build', '.cache') };
    const runner = ['--import', './scripts/tests-process.mjs', '--test', `--test-concurrency=${concurrency}`];
    await step(node, [...runner, ...engineSelection(parts)], cache);
  }
  if (wantsApp && fs.existsSync(path.join(root, 'tests/app/playwright.config.ts'))) {
    const playwright = [
      'node_modules/@playwright/test/cli.js',
      'test',
      '-c',
      'tests/app/playwright.config.ts',
      ...parts.slice(1),
    ];
    const [program, ...args] = [...(await virtualScreen()), node, ...playwright];
    await step(program, args);
  }
  if (inWindow) {
    const [program, ...args] = [...(await virtualScreen()), node, inWindow, ...parts.slice(1)];
    await step(program, args);
  }
  process.exitCode = failed ? 1 : 0;
});

function engineSelection([part, ...names]) {
  if (part === 'parity')
    return [...names.flatMap((name) => ['--test-name-pattern', `^${name}\\b`]), 'tests/parity/**/*.test.ts'];
  return names.length > 0 ? names : [engineTests, 'tests/*.test.ts'];
}

/** The command that gives what follows a virtual screen, so that windows disturb nobody and tests are the same everywhere. */
async function virtualScreen() {
  if (process.platform !== 'linux') return [];
  if (!hasProgram('xvfb-run') || !hasProgram('Xvfb')) {
    await installPackages(['xvfb', 'xauth'], 'The app tests need a virtual screen (Xvfb).');
  }
  say('the app runs on a screen of its own (Xvfb)');
  // Without -noreset the screen starts anew when its last window closes, and refuses who comes meanwhile.
  return ['xvfb-run', '-a', '-s', '-screen 0 1600x1000x24 -noreset'];
}
