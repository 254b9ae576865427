// Pictures made ready for training and for prediction: splits, statistics, shards, and that a prediction sees the very
// pixels that training saw.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { expectedCounts, givenSplits, readAs, splitOrigin } from '../../engine/protocol/use.ts';
import type { DataService, DatasetInfo, DatasetSettings, PreparedData } from '../../engine/protocol/data.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import {
  encoders,
  noise,
  noisyClasses,
  paint,
  pictureService,
  temporaryFolder,
  writeTree,
} from '../support/pictures.ts';

let jobs = 0;
const nextJob = (): string => `prepare ${++jobs}`;

async function imported(
  t: TestContext,
  files: Readonly<Record<string, Uint8Array | string>>,
  size?: number,
): Promise<{ service: DataService; folder: string; info: DatasetInfo }> {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, files);
  const info = await service.import({ job: nextJob(), path: folder, options: { image: { size } } });
  return { service, folder, info };
}

const prepare = (
  service: DataService,
  dataset: string,
  settings: DatasetSettings = {},
  seed = 1,
): Promise<PreparedData> => service.prepare({ job: nextJob(), dataset, options: { settings, seed } });

/** All rows of prepared data. */
async function readAll(
  service: DataService,
  { handle, shardStarts }: PreparedData,
): Promise<{ x: number[]; y: number[] }> {
  const x: number[] = [];
  const y: number[] = [];
  for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
    const read = await service.readShard({ handle, shard });
    assert.ok(read.x instanceof Uint8Array);
    assert.equal(read.rows, shardStarts[shard + 1] - shardStarts[shard]);
    for (const value of read.x) x.push(value);
    y.push(...read.y);
  }
  return { x, y };
}

/** Row of the dataset behind each row. */
function sourcesOf({ sources }: PreparedData): Uint32Array {
  assert.ok(sources);
  return sources;
}

test('a seeded, stratified split; bytes; statistics of the training split alone', async (t) => {
  const { service, info } = await imported(t, noisyClasses(['a', 'b', 'c'], 20));
  const data = await prepare(service, info.id);
  assert.deepEqual(data.input, { kind: 'image', channels: 3, height: 16, width: 16 });
  assert.deepEqual(data.output, { kind: 'classes', classes: ['a', 'b', 'c'] });
  assert.deepEqual([data.width, data.targets, data.task], [768, 1, 'classification']);
  assert.deepEqual(data.counts, { train: 48, validation: 6, test: 6 });
  assert.deepEqual(data.classCounts, [16, 16, 16]);

  const { x, y } = await readAll(service, data);
  assert.equal(x.length, 60 * 768);
  for (const label of [0, 1, 2]) assert.equal(y.slice(48, 54).filter((value) => value === label).length, 2);
  for (let channel = 0; channel < 3; channel++) {
    const values: number[] = [];
    for (let row = 0; row < 48; row++)
      values.push(...x.slice(row * 768 + channel * 256, row * 768 + (channel + 1) * 256));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
    assert.ok(Math.abs((data.normalization?.mean[channel] ?? 0) - mean / 255) < 1e-9);
    assert.ok(Math.abs((data.normalization?.deviation[channel] ?? 0) - deviation / 255) < 1e-9);
  }

  const again = await readAll(service, await prepare(service, info.id));
  assert.deepEqual(again, { x, y });
  const other = await readAll(service, await prepare(service, info.id, {}, 2));
  assert.notDeepEqual(other.y, y);
  assert.ok(
    y.slice(0, 16).some((label) => label !== y[0]),
    'training rows are shuffled',
  );
});

test('a normalisation that weights learned with stands in place of that of the training split', async (t) => {
  const { service, info } = await imported(t, noisyClasses(['a', 'b'], 15));
  const reading = { texts: null, normalization: { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] } };
  const settings = readAs(info, reading);
  const data = await prepare(service, info.id, settings);
  assert.deepEqual(data.normalization, reading.normalization);
  assert.deepEqual(
    [0, 1].map((i) => (data.preprocessing as Record<string, unknown>)[['mean', 'deviation'][i]]),
    [reading.normalization.mean, reading.normalization.deviation],
  );
  // It goes with those weights, and is not for pictures of other channels.
  assert.deepEqual(readAs({ ...info, settings }, { texts: null, normalization: null }), {});
  const grey = { mean: [0.5], deviation: [0.5] };
  assert.deepEqual(readAs({ ...info, settings }, { texts: null, normalization: grey }), {});
  const shades = { ...info, image: { ...info.image!, channels: 1 as const } };
  const { mean, deviation } = readAs(shades, reading).normalization!;
  assert.deepEqual([mean.length, mean[0].toFixed(4), deviation[0].toFixed(4)], [1, '0.4490', '0.2260']);
  await assert.rejects(prepare(service, info.id, { normalization: grey }), /pictures with 1 channel; these have 3/);
});

test('each row is the picture it says it is', async (t) => {
  const { service, info } = await imported(t, noisyClasses(['a', 'b'], 15));
  const data = await prepare(service, info.id);
  const sources = sourcesOf(data);
  assert.deepEqual(
    [...sources].sort((a, b) => a - b),
    Array.from({ length: 30 }, (_, i) => i),
  );
  const { x, y } = await readAll(service, data);
  const { pictures, pixels } = await service.pictures({ dataset: info.id, limit: 30 });
  sources.forEach((source, row) => {
    assert.equal(pictures[source].class, ['a', 'b'][y[row]]);
    for (const pixel of [0, 100, 255]) {
      const shown = [...pixels.subarray(1024 * source + 4 * pixel, 1024 * source + 4 * pixel + 3)];
      assert.deepEqual(
        [0, 1, 2].map((channel) => x[row * 768 + channel * 256 + pixel]),
        shown,
      );
    }
  });
});

const origin = 'train and test as the source has them, validation drawn from its train';

test('folders that split are honoured; what they lack is taken from what trains', async (t) => {
  const all = await imported(t, {
    ...noisyClasses(['a', 'b'], 10, { prefix: 'train/' }),
    ...noisyClasses(['a', 'b'], 3, { prefix: 'val/', seed: 100 }),
    ...noisyClasses(['a', 'b'], 2, { prefix: 'test/', seed: 200 }),
  });
  assert.deepEqual((await prepare(all.service, all.info.id)).counts, { train: 20, validation: 6, test: 4 });

  const noValidation = await imported(t, {
    ...noisyClasses(['a', 'b'], 20, { prefix: 'train/' }),
    ...noisyClasses(['a', 'b'], 5, { prefix: 'test/', seed: 100 }),
  });
  const data = await prepare(noValidation.service, noValidation.info.id);
  assert.deepEqual(data.counts, { train: 36, validation: 4, test: 10 });
  assert.deepEqual(data.givenSplits, ['train', 'test']);
  const { info } = noValidation;
  assert.deepEqual(expectedCounts(info, {}), data.counts, 'as said beforehand');
  assert.equal(splitOrigin({ givenSplits: givenSplits(info), counts: data.counts }), origin);
  const warned = await noValidation.service.describe({ dataset: info.id, settings: { split: [0.9, 0, 0.1] } });
  assert.deepEqual(
    [info, warned].map(({ warnings }) => warnings.filter(({ code }) => code === 'no_validation').length),
    [0, 1],
  );
  const sources = sourcesOf(data);
  const { pictures } = await noValidation.service.pictures({ dataset: noValidation.info.id, rows: [...sources] });
  assert.deepEqual(
    pictures.map(({ split }) => split),
    [...Array<string>(40).fill('train'), ...Array<string>(10).fill('test')],
  );

  const noTest = await imported(t, {
    ...noisyClasses(['a', 'b'], 20, { prefix: 'train/' }),
    ...noisyClasses(['a', 'b'], 5, { prefix: 'val/', seed: 100 }),
  });
  assert.deepEqual((await prepare(noTest.service, noTest.info.id)).counts, { train: 40, validation: 10, test: 0 });
  const onlyTrain = await imported(t, noisyClasses(['a', 'b'], 20, { prefix: 'train/' }));
  assert.deepEqual((await prepare(onlyTrain.service, onlyTrain.info.id)).counts, { train: 32, validation: 4, test: 4 });
});

test('corrected classes are trained on; one class left is refused', async (t) => {
  const { service, info } = await imported(t, noisyClasses(['a', 'b'], 10));
  const labels = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`b/000${i}.png`, 'c']));
  const data = await prepare(service, info.id, { labels });
  assert.deepEqual(data.output, { kind: 'classes', classes: ['a', 'c'] });
  const one = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`b/000${i}.png`, 'a']));
  await assert.rejects(
    prepare(service, info.id, { labels: one }),
    (error) => error instanceof InputError && error.code === 'input.one_class',
  );
  assert.equal((await prepare(service, info.id, { split: [0.8, 0, 0.2] })).counts.validation, 0);
  await assert.rejects(
    prepare(service, info.id, { split: [0.5, 0.1, 0.1] }),
    (error) => error instanceof InputError && error.code === 'input.split',
  );
});

test('pictures that train and test are warned about under the actual split', async (t) => {
  const files = noisyClasses(['a', 'b'], 20);
  const twins = Object.fromEntries(Object.entries(files).map(([name, data]) => [name.replace('/', '/copy-'), data]));
  const { service, info } = await imported(t, { ...files, ...twins });
  const { warnings } = await prepare(service, info.id);
  assert.match(
    warnings[0]?.message ?? '',
    /pictures of the validation and test splits also stand in the training split/,
  );
});

test('a prediction sees the very pixels of training, from a folder or a single picture', async (t) => {
  const files = Object.fromEntries(
    ['a', 'b'].flatMap((name, label) =>
      Array.from({ length: 12 }, (_, i) => {
        const canvas = paint(30 + i, 50 - i, noise(40 * label + i));
        return [
          `${name}/${String(i).padStart(2, '0')}.${i % 2 ? 'jpg' : 'png'}`,
          i % 2 ? encoders.jpg(canvas) : encoders.png(canvas),
        ];
      }),
    ),
  );
  const { service, folder, info } = await imported(t, files, 24);
  const data = await prepare(service, info.id);
  const trained = await readAll(service, data);
  const sources = sourcesOf(data);
  const transform = (...at: string[]): Promise<PreparedData> =>
    service.transform({
      job: nextJob(),
      path: path.join(folder, ...at),
      preprocessing: JSON.parse(JSON.stringify(data.preprocessing)),
    });

  const whole = await transform();
  assert.deepEqual(whole.counts, { train: 0, validation: 0, test: 24 });
  assert.deepEqual([whole.input, whole.output, whole.normalization], [data.input, data.output, data.normalization]);
  assert.equal(whole.files?.[13], 'b/01.jpg');
  const predicted = await readAll(service, whole);
  sources.forEach((source, row) => {
    assert.equal(predicted.y[source], trained.y[row]);
    assert.deepEqual(
      predicted.x.slice(source * data.width, (source + 1) * data.width),
      trained.x.slice(row * data.width, (row + 1) * data.width),
    );
  });

  const single = await transform('b', '01.jpg');
  const one = await readAll(service, single);
  assert.deepEqual(one.x, predicted.x.slice(13 * data.width, 14 * data.width));
  assert.ok(Number.isNaN(one.y[0]));
  const below = await transform('b');
  assert.deepEqual([below.counts.test, below.files?.[1]], [12, '01.jpg']);
  await service.release({ handle: single.handle });
});

test('grey and coloured pictures fit a run of either kind; what cannot be read is listed', async (t) => {
  const grey = (seed: number): Uint8Array =>
    encoders.png(paint(16, 16, (x, y) => Array<number>(3).fill(noise(seed)(x, y)[1]) as [number, number, number]));
  const { service, info } = await imported(
    t,
    Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i % 2 ? 'a' : 'b'}/${i}.png`, grey(i)])),
  );
  const { preprocessing, input } = await prepare(service, info.id);
  assert.deepEqual(input, { kind: 'image', channels: 1, height: 16, width: 16 });
  const folder = temporaryFolder(t);
  writeTree(folder, { 'red.png': encoders.png(paint(16, 16, () => [200, 0, 0])), 'note.txt': 'nothing' });
  const data = await service.transform({ job: nextJob(), path: folder, preprocessing });
  assert.deepEqual(data.files, ['red.png']);
  assert.match(data.warnings[0]?.message ?? '', /1 file was left out: note\.txt, it is not a picture/);
  assert.equal((await readAll(service, data)).x[0], Math.round(0.299 * 200));
  await assert.rejects(
    service.transform({ job: nextJob(), path: path.join(folder, 'note.txt'), preprocessing }),
    (error) => error instanceof InputError && /no picture that can be read/.test(error.message),
  );
  writeTree(folder, { 'notes.csv': 'a,b\n1,2\n', 'more.csv': 'a,b\n1,2\n' });
  const [red, notes, more] = ['red.png', 'notes.csv', 'more.csv'].map((name) => path.join(folder, name));
  const mixed = await service.transform({ job: nextJob(), path: notes, more: [red], preprocessing });
  assert.deepEqual(mixed.files, ['red.png']);
  assert.match(mixed.warnings[0]?.message ?? '', /1 file was left out: notes\.csv, it is a table, not a picture/);
  await assert.rejects(service.transform({ job: nextJob(), path: notes, more: [more], preprocessing }), {
    code: 'input.table_for_pictures',
  });
  await assert.rejects(
    service.transform({ job: nextJob(), path: path.join(folder, 'note.txt'), more: [notes], preprocessing }),
    (error) => error instanceof InputError && /note\.txt, it is not a picture/.test(error.message),
  );
});

test('too few pictures for a validation split are refused', async (t) => {
  const { service, info } = await imported(t, noisyClasses(['a', 'b'], 1));
  await assert.rejects(
    prepare(service, info.id),
    (error) => error instanceof InputError && error.code === 'input.too_few_rows' && /2 pictures/.test(error.message),
  );
});

test('thumbnails are small, by page', async (t) => {
  const { service, info } = await imported(t, noisyClasses(['a', 'b'], 10, { size: 40 }));
  const page = await service.pictures({ dataset: info.id, class: 'b', offset: 8, limit: 5, size: 20 });
  assert.deepEqual([page.total, page.pictures.length, page.width, page.height], [10, 2, 20, 20]);
  assert.equal(page.pixels.length, 2 * 20 * 20 * 4);
  assert.deepEqual(page.pictures[0], { row: 18, file: 'b/0008.png', class: 'b', split: null, width: 40, height: 40 });
});
