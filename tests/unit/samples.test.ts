// The samples that come with the app: each is imported as it is from the window, is what its card says, and is the same everywhere.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createSamples } from '../../electron/main/samples/samples.ts';
import { makeService, samples as folder } from './data/helpers.ts';

const samples = createSamples(folder);

const expected = {
  penguins: { rows: 344, target: 'species', task: 'classification', warnings: [], content: '378fbd2da025' },
  flats: { rows: 1_200, target: 'rent', task: 'regression', warnings: [], content: 'e0dccd35368b' },
  // What its card promises to be found.
  customers: {
    rows: 1_525,
    target: 'churned',
    task: 'classification',
    warnings: ['constant', 'duplicates', 'identifier', 'leak'],
    content: 'ccbdb8049c7b',
  },
  digits: { rows: 600, target: 'class', task: 'classification', warnings: [], content: '5af788ae7acb' },
  shapes: { rows: 720, target: 'class', task: 'classification', warnings: [], content: 'bf6a8e3a921e' },
  reviews: { rows: 1_000, target: 'verdict', task: 'classification', warnings: [], content: '05afc2cafb50' },
} as const;

function digest(place: string): string {
  const hash = createHash('sha256');
  const visit = (each: string): void => {
    if (fs.statSync(each).isDirectory())
      fs.readdirSync(each)
        .sort()
        .forEach((name) => visit(path.join(each, name)));
    else hash.update(path.basename(each)).update(fs.readFileSync(each));
  };
  visit(place);
  return hash.digest('hex');
}

test('every sample is what its card says, is ready to be trained on, and the same on every machine', async (context) => {
  const service = makeService(context);
  const list = samples.list();
  assert.deepEqual(
    list.map(({ id }) => id),
    Object.keys(expected),
  );
  for (const { id, detail, teaches, origin } of list) {
    const { rows, target, task, warnings, content } = expected[id as keyof typeof expected];
    assert.ok(detail.startsWith(rows.toLocaleString('en-US')), `${id}: “${detail}” names ${rows}`);
    assert.ok(teaches.length > 20 && /CC0/.test(origin), id);
    const info = await samples.use(id, async (place) => {
      assert.equal(digest(place).slice(0, 12), content, id);
      return service.import({ job: id, path: place });
    });
    assert.deepEqual([info.rows, info.target, info.task], [rows, target, task], id);
    const found = info.warnings.map(({ code }) => code as string);
    for (const warning of warnings) assert.ok(found.includes(warning), `${id} has ${warning}: ${found.join()}`);
    // Pictures are decoded for it: their own tests do that.
    if (info.kind === 'images') continue;
    const options = { settings: info.settings, seed: 0, texts: 'tokens' } as const;
    const { counts } = await service.prepare({ job: id, dataset: info.id, options });
    assert.ok(counts.train > rows * 0.7, id);
  }
});

test('what a sample was written to is taken away again, and another name is refused', async () => {
  let seen = '';
  await samples.use('flats', async (place) => (seen = place));
  assert.equal(fs.existsSync(path.dirname(seen)), false);
  await assert.rejects(
    samples.use('iris', async () => 0),
    /There is no sample called "iris"/,
  );
});
