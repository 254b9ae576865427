// The CPU kernels inside the engine the app runs in: its V8 is not Node's, and 11.3 and 11.4 have a baseline compiler that
// once made two threads train wrong. The parity suite runs there, bundled, without a window; not the addon's half of it, which no
// compiler of V8 has seen.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import test from 'node:test';

const bundle = path.resolve(import.meta.dirname, '../../build/tests/parity.cjs');
const choice = process.env['TRAINYARD_ELECTRON'];
const skip = choice === undefined && 'no Electron was found: run the tests with `npm test`';

for (const flags of [[], ['--liftoff-only']]) {
  test(`every kernel agrees with its reference in Electron ${flags.join(' ')}`, { skip }, () => {
    const { executable } = JSON.parse(choice ?? '{}') as { executable: string };
    const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1', TRAINYARD_NATIVE: '0' };
    const { stdout, stderr, status } = spawnSync(executable, [...flags, bundle], { env, encoding: 'utf8' });
    const wrong = stdout.split('\n').filter((line) => /^\s*not ok/.test(line));
    assert.deepEqual(wrong, [], stdout + stderr);
    assert.match(stdout, /^# pass [1-9]\d+$/m, stdout + stderr);
    assert.equal(status, 0);
  });
}
