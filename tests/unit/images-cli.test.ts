// Pictures from the command line, as a person would: inspect a folder, train on it, classify a picture, and what is said when
// something is wrong.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { imageSize } from 'image-size';
import { lastEvent, temporaryHome, trainyard } from '../support/cli.ts';
import { blue, encoders, noisyClasses, paint, red, temporaryFolder, writeTree } from '../support/pictures.ts';
import type { Colour } from '../support/pictures.ts';

/** Pictures of one colour with some noise: easy to tell apart. */
const coloured = (colour: Colour, seed: number): Uint8Array =>
  encoders.png(
    paint(16, 16, (x, y) => {
      const shift = (Math.imul(x * 31 + y * 17 + seed * 97, 2654435761) >>> 26) - 32;
      return [colour[0] + (shift >> 1), colour[1] + (shift >> 1), colour[2] + (shift >> 1)];
    }),
  );

test('a folder is inspected, trained on, and its model classifies pictures', async (t) => {
  const home = temporaryHome(t);
  const folder = temporaryFolder(t);
  for (let i = 0; i < 40; i++) {
    writeTree(folder, { [`rot/${i}.png`]: coloured(red, i), [`blau/${i}.png`]: coloured(blue, 100 + i) });
  }
  writeTree(folder, { 'rot/broken.png': 'oh' });

  const dataset = await lastEvent(home, 'inspect', folder, '--rows', '1');
  assert.deepEqual([dataset.rows, dataset.target, dataset.task], [80, 'class', 'classification']);
  assert.deepEqual(dataset.sample, [{ file: 'blau/0.png', class: 'blau' }]);
  const [warning] = dataset.warnings as { code: string; skipped: unknown }[];
  assert.equal(warning.code, 'skipped_images');
  assert.deepEqual(warning.skipped, [{ file: 'rot/broken.png', reason: 'it is not a picture' }]);

  const settings = ['--model', 'small-cnn', '--epochs', '4', '--batch', '16', '--device', 'cpu', '--threads', '1'];
  const finished = await lastEvent(home, 'train', folder, ...settings);
  const { test_accuracy: accuracy } = finished.metrics as Record<string, number>;
  assert.equal(accuracy, 1);

  writeTree(folder, {
    'new/some red.png': coloured(red, 1000),
    'new/some blue.jpg': encoders.jpg(paint(40, 30, () => blue)),
  });
  const out = path.join(folder, 'out.csv');
  assert.equal(
    (await trainyard(home, 'predict', String(finished.run), path.join(folder, 'new'), '--out', out)).code,
    0,
  );
  const lines = readFileSync(out, 'utf8').split('\n');
  assert.equal(lines[0], 'row,file,prediction,p(blau),p(rot)');
  assert.match(lines[1], /^1,some blue\.jpg,blau,/);
  assert.match(lines[2], /^2,some red\.png,rot,/);

  // What explains each of them: numbers, and pictures that can be read back.
  const maps = path.join(folder, 'maps');
  const explained = await trainyard(
    home,
    ...['explain', String(finished.run), path.join(folder, 'new'), '--out', maps, '--json'],
  );
  const [first, second] = explained.events as unknown as {
    file: string;
    class: string;
    out: string;
    class_activation: { width: number; values: number[] };
    integrated_gradients: { values: number[]; sum: number; difference: number };
  }[];
  assert.deepEqual([first.file, first.class, second.class], ['some blue.jpg', 'blau', 'rot'], explained.stderr);
  for (const { class_activation: active, integrated_gradients: pixels, out: file } of [first, second]) {
    assert.equal(Math.max(...active.values), 1);
    assert.equal(pixels.values.length, 16 * 16);
    assert.ok(Math.abs(pixels.sum - pixels.difference) <= 0.02 * Math.abs(pixels.difference) + 1e-6);
    // The picture and two maps, 14 points a pixel, with gaps between.
    const { width, height } = imageSize(readFileSync(file));
    assert.deepEqual([width, height], [3 * 224 + 16, 224]);
  }
  const before = readFileSync(path.join(folder, 'new/some red.png'));
  for (const asked of ['new', 'new/some red.png']) {
    const into = await trainyard(
      home,
      ...['explain', String(finished.run), path.join(folder, asked), '--out', path.join(folder, 'new')],
    );
    assert.deepEqual([into.code, /some red\.png is the file that is read/.test(into.stderr)], [2, true], into.stderr);
  }
  if (process.platform === 'linux') {
    const nowhere = ['--out', '/proc/none/maps'];
    const into = await trainyard(home, 'explain', String(finished.run), path.join(folder, 'new'), ...nowhere);
    assert.deepEqual([into.code, /its folder is not there/.test(into.stderr)], [2, true], into.stderr);
  }
  assert.deepEqual(readFileSync(path.join(folder, 'new/some red.png')), before);
  const refused = await trainyard(home, 'explain', String(finished.run), path.join(folder, 'new'), '--draws', '8');
  assert.deepEqual([refused.code, /--draws is about tables/.test(refused.stderr)], [2, true]);
});

test('size and fit can be chosen', async (t) => {
  const home = temporaryHome(t);
  const folder = temporaryFolder(t);
  writeTree(folder, noisyClasses(['a', 'b'], 10));
  const dataset = await lastEvent(home, 'inspect', folder, '--image-size', '32', '--fit', 'pad');
  const { width, height, fit } = dataset.image as Record<string, unknown>;
  assert.deepEqual([width, height, fit], [32, 32, 'pad']);
});

test('what cannot be used ends with code 2 and one message that says what to do', async (t) => {
  const home = temporaryHome(t);
  const folder = temporaryFolder(t);
  writeTree(folder, { 'a/x.rtf': 'text', 'b/y.rtf': 'text' });
  const { code, stdout, stderr } = await trainyard(home, 'train', folder, '--json');
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(
    stderr,
    /has no picture that can be read, for example a\/x\.rtf: it is not a picture\. Choose a folder with pictures/,
  );
  const bad = await trainyard(home, 'inspect', folder, '--image-size', '5');
  assert.equal(bad.code, 2);
});
