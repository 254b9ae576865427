// Completions and the manual page, asked as a shell asks them: what they offer is what the commands declare.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { commands as loaders } from '../../electron/cli/commands.ts';
import {
  bashCompletion,
  choicesOf,
  fishCompletion,
  manualPage,
  zshCompletion,
} from '../../electron/cli/shell-files.ts';

const commands = await Promise.all(Object.values(loaders).map((load) => load()));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-shell-'));
test.after(() => fs.rmSync(folder, { recursive: true, force: true }));

const written = (name: string, text: string): string => {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  return file;
};
const has = (program: string): boolean => spawnSync('which', [program]).status === 0;
const lacks = (program: string): string | false => !has(program) && `${program} is not installed here`;

/** What bash offers for the last of these words. */
function offered(...words: readonly string[]): readonly string[] {
  const file = written('bash', bashCompletion(commands));
  const script = `source ${file}; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _trainyard; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', 'trainyard', ...words], {
    encoding: 'utf8',
    cwd: folder,
  });
  assert.equal(stderr, '');
  return stdout.split('\n').filter(Boolean);
}

test('bash completes every command, its options, and the values that have names', { skip: lacks('bash') }, () => {
  assert.deepEqual(offered(''), [...commands.map(({ name }) => name), '--help', '--version']);
  assert.deepEqual(offered('com'), ['compare', 'completions']);
  for (const { name, options } of commands) {
    assert.deepEqual(
      offered(name, '--'),
      [...Object.keys(options), 'json', 'help'].map((option) => `--${option}`),
    );
  }
  assert.deepEqual(offered('train', '--optimizer', ''), ['adamw', 'adam', 'sgd', 'rmsprop']);
  assert.deepEqual(offered('train', '--model', 'tab'), ['tabular', 'tabm']);
  assert.deepEqual(offered('train', '--model', '=', 'boost'), ['boosted']);
  assert.deepEqual(offered('completions', ''), ['bash', 'zsh', 'fish', 'man']);
  assert.deepEqual(offered('queue', ''), ['move', 'pause', 'resume', 'clear', 'run']);
  // A number or a name: nothing to offer, not even files.
  assert.deepEqual(offered('train', '--epochs', ''), []);
});

test('bash completes files where a command takes one, also with spaces', { skip: lacks('bash') }, () => {
  written('a table.csv', '');
  assert.deepEqual(offered('train', 'a'), ['a table.csv']);
  assert.deepEqual(offered('train', '--model', 'a'), ['auto', 'a table.csv']);
  assert.deepEqual(offered('train', '--group', 'a'), []);
  assert.deepEqual(offered('runs', 'export', '1', 'a'), ['a table.csv']);
  assert.deepEqual(offered('export', '1', '--out', 'a'), ['a table.csv']);
  // Nothing follows them, or no file.
  for (const command of [['home'], ['home', '--json'], ['show'], ['devices'], ['datasets', 'remove']])
    assert.deepEqual(offered(...command, 'a'), []);
});

test('values are those that stand between bars, not the words for others', () => {
  const option = { type: 'string', help: '' } as const;
  assert.deepEqual(choicesOf({ ...option, value: 'best|last|EPOCH' }), ['best', 'last']);
  assert.deepEqual(choicesOf({ ...option, value: 'NAME' }), []);
  assert.deepEqual(choicesOf({ ...option, value: 'PRESET|FILE.json' }), []);
});

for (const [shell, make] of [
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
] as const) {
  test(`${shell} reads its completions`, { skip: lacks(shell) }, () => {
    const { status, stderr } = spawnSync(shell, ['-n', written(shell, make(commands))], { encoding: 'utf8' });
    assert.equal(stderr, '');
    assert.equal(status, 0);
  });
}

test('fish offers actions, presets and files, and only options of the command it is', { skip: lacks('fish') }, () => {
  const file = written('trainyard.fish', fishCompletion(commands));
  const asked = ['queue ', 'train --model tab', 'runs export 1 --', 'home ', 'show 1 '].map(
    (line) => `complete -C 'trainyard ${line}'`,
  );
  const { stdout } = spawnSync('fish', ['-N', '-c', `source ${file}; ${asked.join('; ')}`], {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, HOME: folder },
  });
  const words = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[0]);
  const options = Object.keys(commands.find(({ name }) => name === 'runs')?.options ?? {});
  assert.deepEqual(
    words.sort(),
    [
      ...['move', 'pause', 'resume', 'clear', 'run', 'tabular', 'tabm'],
      ...[...options, 'json', 'help'].map((option) => `--${option}`),
    ].sort(),
  );
});

test('zsh, fish and the manual page name every option of every command', () => {
  const [zsh, fish, manual] = [zshCompletion(commands), fishCompletion(commands), manualPage(commands, '1.2.3')];
  const count = (text: string, part: string | RegExp): number => text.split(part).length - 1;
  const options = commands.flatMap((command) => [...Object.keys(command.options), 'json', 'help']);
  assert.equal(count(fish, / -l \S/), options.length);
  assert.equal(count(zsh, /^ {8}'\*?--/m), options.length);
  // Files of their own only where a command takes one.
  const files = commands.filter(({ usage }) => /PATH|FILE/.test(usage)).length;
  assert.equal(count(zsh, `'*:file:_files'`), files);
  assert.equal(count(fish, / -f -d /), commands.length - files);
  assert.equal(count(manual, '\\fB\\-\\-'), options.length);
  assert.equal(count(manual, '.SS \\fBtrainyard '), commands.length);
});

test('the manual page is set without a warning', { skip: lacks('man') }, () => {
  const file = written('trainyard.1', manualPage(commands, '1.2.3'));
  const { status, stdout, stderr } = spawnSync('man', ['--warnings', '--local-file', file], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8', MANWIDTH: '100' },
  });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  assert.match(stdout, /^ {3}trainyard continue RUN$/m);
});
