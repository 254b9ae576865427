// `check` end to end: findings as lines, the verdict and its exit code, a dataset by its name, and no run kept.

import assert from 'node:assert/strict';
import test from 'node:test';
import { penguins, temporaryHome, trainyard } from '../support/cli.ts';

interface Line {
  readonly event: string;
  readonly check?: string;
  readonly kind?: string;
  readonly verdict?: string;
  readonly try?: unknown;
}

const linesOf = (stdout: string): readonly Line[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

test('findings, verdict and exit code; nothing is kept', async (t) => {
  const home = temporaryHome(t);
  const fine = await trainyard(home, 'check', penguins, '--json');
  const lines = linesOf(fine.stdout);
  assert.equal(lines.filter(({ event }) => event === 'finding').length, 8);
  const last = lines[lines.length - 1];
  assert.deepEqual([last.event, last.verdict === 'fix', fine.code], ['check', false, 0], fine.stdout);

  // The dataset is here now; sigmoids lose the gradient, and the words say what to try.
  const layers = '{"type":"dense","units":32,"activation":"sigmoid"}';
  const model = `{"version":1,"layers":[${`${layers},`.repeat(9)}{"type":"output"}]}`;
  const { writeFileSync } = await import('node:fs');
  writeFileSync(`${home}/deep.json`, model);
  const bad = await trainyard(home, 'check', 'penguins.csv', '--model', `${home}/deep.json`);
  assert.equal(bad.code, 3, bad.stderr);
  assert.match(bad.stdout, /✗ Gradients vanish: /);
  assert.match(bad.stdout, /would most likely fail: \d things? to fix first/);
  assert.match(bad.stdout, /To try: .*batch norm/);

  const linear = linesOf((await trainyard(home, 'check', 'penguins.csv', '--model', 'linear', '--json')).stdout);
  assert.deepEqual(
    linear.flatMap(({ check }) => check ?? []),
    ['data', 'start', 'shuffled'],
  );
  assert.match((await trainyard(home, 'runs')).stdout, /No runs/);

  // An earlier run's data and settings, with one changed.
  await trainyard(home, 'train', 'samples/penguins.csv', '--target', 'island', '--epochs', '1', '--hidden', '8');
  const again = await trainyard(home, 'check', '--from', '1', '--lr', '0.003');
  assert.match(again.stdout, /^As run 1: .*, on penguins/, again.stderr);
  assert.ok(again.stdout.split('\n').filter((line) => /^[✓!✗–] /.test(line)).length === 8, again.stdout);
  for (const [args, words] of [
    [['--from', '1', '--hidden', '9'], /--hidden does not go with --from/],
    [['penguins.csv', '--from', '1'], /--from names the data too/],
    [[], /check needs data or a run/],
  ] as const) {
    const refused = await trainyard(home, 'check', ...args);
    assert.deepEqual([refused.code, words.test(refused.stderr)], [2, true], refused.stderr);
  }
});
