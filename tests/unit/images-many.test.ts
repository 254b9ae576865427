// A folder with 20,000 files: imported in one go, in bounded memory, with a bar that moves; opened page by page at once.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { pictureService, temporaryFolder } from '../support/pictures.ts';

const classes = 40;
const files = 500;
const side = 8;

/** A picture with a number of its own in its pixels (PNM: a line of text, then RGB). */
function picture(number: number): Uint8Array {
  const header = Buffer.from(`P6\n${side} ${side}\n255\n`, 'latin1');
  const pixels = new Uint8Array(side * side * 3);
  for (let at = 0; at < pixels.length; at++) pixels[at] = Math.imul(number * 193 + at + 1, 2654435761) >>> 24;
  return Buffer.concat([header, pixels]);
}

test('20,000 files', async (t) => {
  const folder = temporaryFolder(t);
  for (let label = 0; label < classes; label++) {
    const within = path.join(folder, `class ${String(label).padStart(2, '0')}`);
    mkdirSync(within);
    for (let i = 0; i < files; i++) writeFileSync(path.join(within, `${i}.ppm`), picture(label * files + i));
  }
  // One in a thousand is broken.
  for (let label = 0; label < 20; label++) {
    writeFileSync(path.join(folder, `class ${String(label).padStart(2, '0')}`, '7.ppm'), 'broken');
  }

  const service = pictureService(t);
  let reports = 0;
  service.onProgress(() => reports++);
  const before = process.memoryUsage().rss;
  const start = performance.now();
  const info = await service.import({ job: 'many', path: folder });
  const seconds = (performance.now() - start) / 1000;
  const megabytes = (process.memoryUsage().rss - before) / 2 ** 20;
  t.diagnostic(`${(20_000 / seconds).toFixed(0)} files a second, ${megabytes.toFixed(0)} MiB more than before`);

  assert.equal(info.rows, 19_980);
  assert.equal(info.classes.length, classes);
  assert.equal(info.image?.skipped, 20);
  assert.ok(reports > 100, 'the bar moves');
  assert.ok(megabytes < 500, `${megabytes} MiB`);
  const paged = performance.now();
  const page = await service.pictures({ dataset: info.id, class: 'class 39', offset: 440, limit: 60 });
  assert.deepEqual([page.total, page.pictures.length], [500, 60]);
  assert.ok(performance.now() - paged < 500, 'a page of the gallery is there at once');
});
