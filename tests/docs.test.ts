// Docs that cannot lie: every path, script, command and flag that README.md, docs/ and the kernels' README name exists.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { commands as loaders } from '../electron/cli/commands.ts';
import { ownValue } from '../engine/protocol/own.ts';

const root = path.resolve(import.meta.dirname, '..');
const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'kernels/README.md',
  'samples/README.md',
  ...fs.readdirSync(path.join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];
const scripts = new Set(
  Object.keys((JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: object }).scripts),
);
/** Commands of npm itself. */
const own = new Set(['ci', 'install']);
/** Flags of other programs that the pages speak of: Chromium, Node, electron-builder, and a script of tests/soak. */
const others = [
  'command',
  'program',
  'remote-debugging-port',
  'inspect',
  'experimental-wasm-revectorize',
  'linux',
  'runs',
];
const commands = new Map(
  await Promise.all(Object.entries(loaders).map(async ([name, load]) => [name, await load()] as const)),
);
const flags = new Set([
  'help',
  'json',
  'version',
  ...others,
  ...[...commands.values()].flatMap(({ options }) => Object.keys(options)),
]);
const folders = /^(?:electron|engine|kernels|renderer|samples|scripts|tests|docs|licences|packaging|\.ci)\//;
/** A file of source code with the end of its path, or its name alone: `trainer.ts`, `charts/Legend.svelte`, `*.svelte.ts`. */
const sourceName = /(?<![\w./*<>{},-])(?:[\w.*<>{},-]+\/)*[\w.*<>{},-]+\.(?:ts|svelte)\b/g;
const sources = [
  ...fs.readdirSync(root),
  ...['electron', 'engine', 'kernels', 'renderer', 'samples', 'scripts', 'tests'].flatMap((folder) =>
    fs.readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  ),
];

for (const page of pages) {
  const text = fs.readFileSync(path.join(root, page), 'utf8');
  const code = [...text.matchAll(/`([^`\n]+)`/g), ...text.matchAll(/^ {4,}(\S.*)$/gm), ...fences(text)].map(
    ([, words = '']) => words,
  );

  test(`${page} names files that exist`, () => {
    const named = code.flatMap((words) => words.split(/\s+/)).map((word) => word.replace(/^['"(]|['"),.;:]+$/g, ''));
    const links = [...text.matchAll(/\]\(([^)#\s]+)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^\w+:/.test(link))
      .map((link) => path.posix.join(path.posix.dirname(page), link));
    const paths = [...named.filter((word) => folders.test(word)), ...links];
    const missing = paths.filter((word) => !exists(word));
    assert.deepEqual(missing, []);
  });

  test(`${page} names source files that are there, wherever they stand`, () => {
    const named = [...text.matchAll(sourceName)].map(([word]) => word).filter((word) => !folders.test(word));
    const missing = named.filter((word) => !sources.some((file) => path.posix.matchesGlob(file, `**/${word}`)));
    assert.deepEqual(missing, []);
  });

  test(`${page} names commands and flags that there are`, () => {
    const wrong: string[] = [];
    for (const words of code) {
      for (const [, script = ''] of words.matchAll(/\bnpm (?:run (?:-s )?)?([a-z][\w:-]*)/g)) {
        if (!scripts.has(script) && !own.has(script)) wrong.push(`npm run ${script}`);
      }
      // Another program has flags of its own.
      if (/^(?:node|python3?|npm|npx|electron|chromium|ps|git)\b/.test(words)) continue;
      const name = /^(?:trainyard )?([a-z]+)\b/.exec(words)?.[1] ?? '';
      const command = commands.get(name);
      for (const [, flag = ''] of words.matchAll(/(?<![\w-])--([a-z][\w-]*)/g)) {
        const known =
          command === undefined ? flags.has(flag) : ownValue(command.options, flag) !== undefined || flag === 'json';
        if (!known) wrong.push(words);
      }
    }
    assert.deepEqual(wrong, []);
  });
}

test('README.md names every command and links every page', () => {
  const text = fs.readFileSync(path.join(root, 'README.md'), 'utf8');
  const named = new Set([...text.matchAll(/`([a-z-]+)(?=[ `])/g)].map(([, name]) => name));
  assert.deepEqual(
    [...commands.keys()].filter((name) => !named.has(name)),
    [],
  );
  assert.deepEqual(
    pages.filter((page) => page.startsWith('docs/') && !text.includes(`](${page})`)),
    [],
  );
});

function fences(text: string): RegExpMatchArray[] {
  return [...text.matchAll(/^```[^\n]*\n([^]*?)^```/gm)].flatMap(([, block = '']) => [...block.matchAll(/^(.+)$/gm)]);
}

/** Whether there is such a file or folder; `*`, `<kernel>` and `{a,b}` stand for whatever fits. */
function exists(word: string): boolean {
  const pattern = word.replaceAll(/<[^>]+>|\bNAME\b|…/g, '*').replace(/\/$/, '');
  if (/[*{]/.test(pattern)) return fs.globSync(pattern, { cwd: root }).length > 0;
  return fs.existsSync(path.join(root, pattern));
}
