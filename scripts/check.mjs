// `npm run check [-- types [Node|…]]`: everything that can be wrong without running the app: format, lint, types (one project for
// each kind of surroundings), who imports whom, and the fast tests. Goes on after a failure, so that one call shows all.

import * as fs from 'node:fs';
import path from 'node:path';
import { handOver, root, say, script, setup } from './setup.mjs';

const typescript = 'node_modules/typescript-native/bin/tsc';
const types = [
  ['types: engine core, ES alone', typescript, '-p', 'tsconfig.pure.json'],
  ['types: Node', typescript, '-p', 'tsconfig.json'],
  ['types: app tests', typescript, '-p', 'tests/app/tsconfig.json'],
  ['types: preload', typescript, '-p', 'tsconfig.preload.json'],
  [
    'types: window',
    'node_modules/svelte-check/bin/svelte-check',
    '--tsconfig',
    './tsconfig.web.json',
    '--output',
    'human',
  ],
];
const all = [
  ['format', 'node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'],
  ['lint', 'node_modules/eslint/bin/eslint.js', '.', '--max-warnings', '0'],
  ...types,
  [
    'layers, docs and fast tests',
    '--test',
    '--test-reporter',
    'dot',
    'tests/layers.test.ts',
    'tests/docs.test.ts',
    'tests/tiny/**/*.test.ts',
  ],
];

await script(async () => {
  const { node } = await setup({ targets: ['lists', 'kernels'] });
  const failed = [];
  const [what, which] = process.argv.slice(2);
  const checks = (what === 'types' ? types : all).filter(([title]) => !which || title === `types: ${which}`);
  if (checks.length === 0) failed.push(`there is no “${which}”`);
  for (const [title, ...command] of checks) {
    if (title === 'types: window' && !fs.existsSync(path.join(root, 'renderer/index.html'))) continue;
    say(title);
    if ((await handOver(node, command, { cwd: root })) !== 0) failed.push(title);
  }
  say(failed.length === 0 ? 'all checks passed' : `failed: ${failed.join(', ')}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
});
