// Every recipe of docs/adding.md, followed on a copy of the project: its proof command has to run and show what was added.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { recipes } from './recipes.ts';

const root = path.resolve(import.meta.dirname, '../..');
const page = fs.readFileSync(path.join(root, 'docs/adding.md'), 'utf8');
/** What a recipe needs of the project: not the packaged app, nor what tests leave. */
const left = new Set(['.git', 'node_modules', 'dist', 'test-results', 'shared']);
/** What test files at work write meanwhile: gone, perhaps, when it is to be copied. */
const changing = path.join(root, 'build', '.cache');
/** New files and changed ones of a recipe, its test aside. */
const fewFiles = 3;

const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-recipes-'));
test.after(() => fs.rmSync(copy, { recursive: true, force: true }));

test('the project is copied, and what is built there is not built again', () => {
  for (const name of fs.readdirSync(root)) {
    if (left.has(name)) continue;
    const filter = (file: string): boolean => file !== changing;
    fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true, preserveTimestamps: true, filter });
  }
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'), 'junction');
  const { stderr } = spawnSync(process.execPath, ['scripts/setup.mjs', 'node'], { cwd: copy, encoding: 'utf8' });
  assert.equal(stderr, '');
});

// All at once, so that what they change is built and checked once.
for (const { what, files, lines, takes = fewFiles } of recipes) {
  test(`${what}: its recipe is followed, in few files`, () => {
    for (const [file, text] of Object.entries(files)) {
      fs.mkdirSync(path.join(copy, path.dirname(file)), { recursive: true });
      fs.writeFileSync(path.join(copy, file), text);
    }
    for (const { file, before, text } of lines) {
      const all = fs.readFileSync(path.join(copy, file), 'utf8').split('\n');
      const at = all.findIndex((line) => line.includes(before));
      assert.notEqual(at, -1, `${file} has no line with ${before}`);
      fs.writeFileSync(path.join(copy, file), all.toSpliced(at, 0, text).join('\n'));
    }
    const touched = new Set(
      [...Object.keys(files), ...lines.map(({ file }) => file)].filter((f) => !f.startsWith('tests/')),
    );
    assert.ok(touched.size <= takes, `${what} takes ${[...touched].join(', ')}`);
  });
}

for (const { what, name = '', proves } of recipes) {
  test(`${what}, by its recipe`, () => {
    const proofs = proofsOf(what).map((proof) => proof.replaceAll('NAME', name));
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const said = proofs.map((proof) => {
      const [program = '', ...args] = proof.split(' ');
      const { status, stdout, stderr } = spawnSync(program, args, { cwd: copy, env, encoding: 'utf8' });
      assert.equal(status, 0, `${proof}\n${stdout.slice(-3000)}${stderr.slice(-3000)}`);
      return stdout;
    });
    assert.match(said.join('\n'), proves);
  });
}

test('an addon that is cut short is built again, one that cannot be when a compiler is there, and else nothing is', () => {
  const build = (CC: string): string =>
    spawnSync(process.execPath, ['scripts/setup.mjs', 'native'], {
      cwd: copy,
      env: { ...process.env, CC },
      encoding: 'utf8',
    }).stderr;
  const addon = path.join(copy, 'build/kernels/native.node');
  fs.writeFileSync(addon, 'cut short');
  assert.match(build('no-such-compiler'), /building native …\n.*they need a C compiler/);
  assert.equal(fs.existsSync(addon), false);
  assert.equal(build('no-such-compiler'), '');
  // A program that is there, though not a compiler.
  assert.match(build('false'), /building native …/);
  assert.equal(build('false'), '');
});

test('every recipe ends with a proof', () => {
  const named = [...page.matchAll(/^\*\*(An? [^*]+)\.\*\*/gm)].map(([, what = '']) => what);
  for (const what of named) assert.notDeepEqual(proofsOf(what), [], what);
});

/** The commands at the end of a recipe. */
function proofsOf(what: string): readonly string[] {
  const start = page.indexOf(`**${what}.**`);
  assert.notEqual(start, -1, `docs/adding.md has no recipe "${what}"`);
  const [recipe = ''] = page.slice(start).split('\n\n');
  return [...recipe.matchAll(/^`([^`]+)`$/gm)].map(([, proof = '']) => proof);
}
