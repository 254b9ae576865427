// Folders of pictures become datasets: every layout, what is left out and why, what is refused, and that a cancelled or
// failed import leaves nothing.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { DatasetInfo, DataService, ReadOptions } from '../../engine/protocol/data.ts';
import { CancelledError, InputError } from '../../engine/protocol/errors.ts';
import {
  blue,
  encoders,
  noise,
  noisyClasses,
  paint,
  pictureService,
  plain,
  red,
  temporaryFolder,
  writeTree,
} from '../support/pictures.ts';

type Service = DataService & { readonly home: string };

let jobs = 0;
const importFolder = (service: Service, folder: string, options: ReadOptions = {}): Promise<DatasetInfo> =>
  service.import({ job: `import ${++jobs}`, path: folder, options });

async function refused(work: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof InputError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.notEqual(error.hint, '', 'says what to do');
    return true;
  });
}

const warning = (info: DatasetInfo, code: string) => info.warnings.find((candidate) => candidate.code === code);
const named = (info: DatasetInfo): Record<string, number> =>
  Object.fromEntries(info.classes.map(({ name, count }) => [name, count]));

test('one sub-folder a class: classes, sizes, rows; the same folder is the same dataset', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, noisyClasses(['dog', 'cat', 'Ant'], 12));
  const info = await importFolder(service, folder);
  assert.equal(info.kind, 'images');
  assert.equal(info.rows, 36);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0);
  assert.equal(info.sourceBytes, bytes);
  assert.deepEqual(named(info), { Ant: 12, cat: 12, dog: 12 });
  assert.equal(info.target, 'class');
  assert.deepEqual(info.image, {
    width: 16,
    height: 16,
    channels: 3,
    fit: 'crop',
    splits: null,
    smallest: [16, 16],
    largest: [16, 16],
    skipped: 0,
  });
  assert.deepEqual(info.warnings, []);
  const page = await service.rows({ dataset: info.id, offset: 11, limit: 2 });
  assert.deepEqual(page.rows, [
    ['Ant/0011.png', 'Ant'],
    ['cat/0000.png', 'cat'],
  ]);
  assert.deepEqual(
    (await service.list()).map(({ id }) => id),
    [info.id],
  );
  assert.equal((await importFolder(service, folder)).id, info.id);
  assert.notEqual((await importFolder(service, folder, { image: { size: 32 } })).id, info.id);
});

test('names in any script, spaces and folders within class folders', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, {
    ...noisyClasses(['猫', 'Vögel und Bäume', 'собака'], 10),
    '猫/子猫/白い 猫.png': encoders.png(paint(16, 16, noise(91))),
    'Vögel und Bäume/a/b/c/🐦.png': encoders.png(paint(16, 16, noise(92))),
  });
  const info = await importFolder(service, folder);
  assert.deepEqual(named(info), { 猫: 11, 'Vögel und Bäume': 11, собака: 10 });
  const { pictures } = await service.pictures({ dataset: info.id, class: '猫', limit: 20 });
  assert.ok(pictures.some(({ file }) => file === '猫/子猫/白い 猫.png'));
});

test('train, val and test folders are splits, also one level down', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, {
    ...noisyClasses(['a', 'b'], 10, { prefix: 'data/Train/' }),
    ...noisyClasses(['a', 'b'], 4, { prefix: 'data/valid/', seed: 5000 }),
    ...noisyClasses(['a', 'b'], 3, { prefix: 'data/test/', seed: 9000 }),
    '.DS_Store': 'left behind',
  });
  const info = await importFolder(service, folder);
  assert.deepEqual(info.image?.splits, { train: 20, validation: 8, test: 6 });
  assert.deepEqual(named(info), { a: 17, b: 17 });
  assert.equal((await service.rows({ dataset: info.id, offset: 0, limit: 1 })).rows[0][0], 'Train/a/0000.png');
});

test('a folder called train among classes is a class', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, noisyClasses(['bus', 'car', 'train'], 10));
  assert.deepEqual(named(await importFolder(service, folder)), { bus: 10, car: 10, train: 10 });
});

test('a class that only stands in test cannot be learned', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, {
    ...noisyClasses(['a', 'b'], 5, { prefix: 'train/' }),
    ...noisyClasses(['a', 'c'], 5, { prefix: 'test/', seed: 50 }),
  });
  await refused(importFolder(service, folder), 'input.untrained_class', /without pictures to train on: c/);
});

const loose = (count: number, ending = '.png'): Record<string, Uint8Array> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`p${i}${ending}`, encoders.png(paint(16, 16, noise(i)))]),
  );

test('labels from a CSV: quoted, by name without ending, some missing', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  const lines = Array.from({ length: 22 }, (_, i) => `p${i}${i % 2 ? '.png' : ''},"${i % 2 ? 'big, ""cat""' : 'dog'}"`);
  writeTree(folder, {
    ...loose(24),
    'labels.csv': ['File Name,Label', ...lines, 'gone.png,dog', 'p22.png,'].join('\n'),
  });
  const info = await importFolder(service, folder);
  assert.deepEqual(named(info), { 'big, "cat"': 11, dog: 11 });
  const skipped = await service.skipped({ dataset: info.id });
  assert.deepEqual(
    skipped.map(({ file, reason }) => `${file}: ${reason}`),
    [
      'gone.png: labels.csv names it, but it is not there',
      'p22.png: it has no class in labels.csv',
      'p23.png: labels.csv does not name it',
    ],
  );
  assert.match(info.targetReason, /column "Label" of labels\.csv/);
});

test('what lines of a label file say differently, or of no split, is left out and not guessed', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  const words = ['Training', 'TRAIN', 'dev', 'testing'];
  const lines = Array.from({ length: 24 }, (_, i) => `p${i}.png,${i % 2 ? 'cat' : 'dog'},${words[i % 4]}`);
  lines[20] = 'p20.png,dog,';
  lines[21] = 'p21.png,cat,unlabelled';
  lines.push('p0.png,cat,Training', 'p4.png,dog,testing', 'p8.png,dog,train');
  writeTree(folder, { ...loose(24), 'labels.csv': `file_name,label,split\n${lines.join('\n')}\n` });
  const info = await importFolder(service, folder);
  assert.deepEqual(info.image?.splits, { train: 8, validation: 6, test: 6 });
  assert.equal(info.reading['split'], 'by labels.csv');
  assert.deepEqual(await service.skipped({ dataset: info.id }), [
    { file: 'p0.png', reason: 'labels.csv gives it two classes, dog and cat' },
    { file: 'p20.png', reason: 'it has no split in labels.csv' },
    { file: 'p21.png', reason: 'labels.csv puts it into “unlabelled”: neither train, validation nor test' },
    { file: 'p4.png', reason: 'labels.csv puts it into two splits' },
  ]);

  // Without one that trains, the column says nothing of splits.
  writeTree(folder, {
    'labels.csv': `file_name,label,split\n${lines.join('\n').replaceAll(/train(ing)?$/gim, 'a')}\n`,
  });
  assert.equal((await importFolder(service, folder)).image?.splits, null);

  const test = Array.from({ length: 24 }, (_, i) => `p${i}.png,${'abc'[i % 3]},${i % 3 === 2 ? 'test' : 'train'}`);
  writeTree(folder, { 'labels.csv': `file_name,label,split\n${test.join('\n')}\n` });
  await refused(importFolder(service, folder), 'input.untrained_class', /without pictures to train on: c\./);

  const both = Array.from({ length: 24 }, (_, i) => `p${i}.png,a\np${i}.png,b`);
  writeTree(folder, { 'labels.csv': `file_name,label\n${both.join('\n')}\n` });
  await refused(importFolder(service, folder), 'input.label_file', /for example p0\.png: .*two classes, a and b/);
});

test('labels from metadata.jsonl in each split', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, i) => JSON.stringify({ file_name: `p${i}.png`, label: i % 2, width: 16 })).join(
      '\n',
    );
  const files = (prefix: string, count: number, from: number): Record<string, Uint8Array | string> => ({
    ...Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`${prefix}/p${i}.png`, encoders.png(paint(16, 16, noise(from + i)))]),
    ),
    [`${prefix}/metadata.jsonl`]: lines(count),
  });
  writeTree(folder, { ...files('train', 20, 0), ...files('test', 6, 500) });
  const info = await importFolder(service, folder);
  assert.deepEqual(info.image?.splits, { train: 20, validation: 0, test: 6 });
  assert.deepEqual(named(info), { 0: 13, 1: 13 });
});

test('a label file that cannot be used says what it needs', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, { ...loose(4), 'labels.csv': 'when,who\n1,2\n' });
  await refused(
    importFolder(service, folder),
    'input.label_columns',
    /labels\.csv has no columns .*: it has when, who/,
  );
  const below = temporaryFolder(t);
  writeTree(below, { 'images/a.png': encoders.png(paint(16, 16, noise(1))), 'about.csv': 'when,who\n1,2\n' });
  await refused(importFolder(service, below), 'input.label_columns', /about\.csv has no columns/);
  writeTree(folder, { 'labels.csv': 'file,label\nx.png,a\ny.png,b\n' });
  await refused(
    importFolder(service, folder),
    'input.label_file',
    /names no picture that is there, for example "x\.png"/,
  );
  rmSync(path.join(folder, 'labels.csv'));
  writeTree(folder, { 'metadata.jsonl': '{"file_name": "p0.png", "label": "a"}\nnot json\n' });
  await refused(importFolder(service, folder), 'input.label_file', /metadata\.jsonl, line 2 is not a JSON object/);
});

test('with class folders, a table that does not name the pictures is just a file lying about', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, { ...noisyClasses(['a', 'b'], 10), 'results.csv': 'file,label\nx,y\n', 'odd.jsonl': 'null\n' });
  const info = await importFolder(service, folder);
  assert.deepEqual(named(info), { a: 10, b: 10 });
  assert.equal(info.image?.skipped, 2);
});

test('broken, empty, huge and foreign files are left out and listed with the reason', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  const jpeg = encoders.jpg(paint(16, 16, noise(77)));
  const bomb = Buffer.from(encoders.png(paint(2, 2, plain(red))));
  bomb.writeUInt32BE(100_000, 16);
  bomb.writeUInt32BE(100_000, 20);
  const damaged = Buffer.from(encoders.png(paint(32, 32, noise(78, 1))));
  damaged.fill(7, 60, 90);
  writeTree(folder, {
    ...noisyClasses(['a', 'b'], 10),
    'a/bomb.png': bomb,
    'a/cut.jpg': jpeg.subarray(0, jpeg.length - 20),
    'a/damaged.png': damaged,
    'a/empty.png': '',
    'b/text.png': 'no picture at all',
    'readme.txt': 'about these pictures',
  });
  const info = await importFolder(service, folder);
  assert.deepEqual(named(info), { a: 10, b: 10 });
  assert.equal(info.image?.skipped, 6);
  const reasons = Object.fromEntries(
    (await service.skipped({ dataset: info.id })).map(({ file, reason }) => [file, reason]),
  );
  assert.match(reasons['a/bomb.png'], /huge: 100000 × 100000/);
  assert.match(reasons['a/cut.jpg'], /cut off/);
  assert.match(reasons['a/damaged.png'], /broken/);
  assert.match(reasons['a/empty.png'], /empty \(0 bytes\)/);
  assert.match(reasons['b/text.png'], /not a picture/);
  assert.match(reasons['readme.txt'], /beside the class folders/);
  const listed = warning(info, 'skipped_images');
  assert.match(listed?.message ?? '', /6 files were left out/);
  assert.equal(listed?.skipped?.length, 6);
});

test('the working size: the common one, else 64, or as asked', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, noisyClasses(['a', 'b'], 10));
  writeTree(folder, { 'a/wide.png': encoders.png(paint(50, 20, noise(1000))) });
  const info = await importFolder(service, folder);
  assert.deepEqual([info.image?.width, info.image?.height], [64, 64]);
  assert.deepEqual(
    [info.image?.smallest, info.image?.largest],
    [
      [16, 16],
      [50, 20],
    ],
  );
  const asked = await importFolder(service, folder, { image: { size: 48, fit: 'pad' } });
  assert.deepEqual([asked.image?.width, asked.image?.fit], [48, 'pad']);
  for (const size of [3, 1000, 32.5, NaN]) {
    await refused(importFolder(service, folder, { image: { size } }), 'input.image_size', /cannot be brought/);
  }
});

test('all pictures grey: one channel; a late one in colour: three', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  const grey = (seed: number): Uint8Array =>
    encoders.png(paint(16, 16, (x, y) => Array<number>(3).fill(noise(seed)(x, y)[0]) as [number, number, number]));
  // More than one batch, so that what is written already has to be spread.
  const files = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`${i < 75 ? 'a' : 'b'}/${i}.png`, grey(i)]));
  writeTree(folder, files);
  const info = await importFolder(service, folder);
  assert.equal(info.image?.channels, 1);
  writeTree(folder, { 'b/zz.png': encoders.png(paint(16, 16, plain(red))) });
  const coloured = await importFolder(service, folder);
  assert.equal(coloured.image?.channels, 3);
  const before = await service.pictures({ dataset: info.id, rows: [0, 149] });
  const after = await service.pictures({ dataset: coloured.id, rows: [0, 149, 150] });
  assert.deepEqual(after.pixels.subarray(0, before.pixels.length), before.pixels);
  assert.deepEqual([...after.pixels.subarray(2 * 1024, 2 * 1024 + 4)], [...red, 255]);
});

test('copies, look-alikes across splits, and one picture under two classes are warned about', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  const scene = (phase: number, brightness = 0) =>
    paint(48, 48, (x, y) => [
      Math.round(100 + brightness + 90 * Math.sin(x / 5 + phase)),
      Math.round(100 + brightness + 90 * Math.sin(y / 6 + 2 * phase)),
      Math.round(100 + brightness + 90 * Math.sin((x + y) / 9)),
    ]);
  writeTree(folder, {
    ...noisyClasses(['a', 'b'], 10, { prefix: 'train/', size: 48 }),
    ...noisyClasses(['a', 'b'], 10, { prefix: 'test/', size: 48, seed: 7000 }),
    'train/a/scene.png': encoders.png(scene(0)),
    'train/a/copy.png': encoders.png(scene(0)),
    'test/a/bright.jpg': encoders.jpg(scene(0, 12)),
    'train/b/other.png': encoders.png(scene(2)),
    'train/a/other.png': encoders.png(scene(2)),
  });
  const info = await importFolder(service, folder);
  assert.match(warning(info, 'duplicates')?.message ?? '', /2 pictures are copies of another one/);
  assert.match(
    warning(info, 'shared_rows')?.message ?? '',
    /1 picture of the validation and test splits also stands, nearly the same, in the training split, for example train\/a\/(copy|scene)\.png and test\/a\/bright\.jpg/,
  );
  assert.match(
    warning(info, 'conflicting_labels')?.message ?? '',
    /1 picture stands under more than one class, for example train\/a\/other\.png and train\/b\/other\.png/,
  );
});

test('classes with too few pictures are warned about', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, { ...noisyClasses(['many'], 90), ...noisyClasses(['few'], 3, { seed: 4000 }) });
  const info = await importFolder(service, folder);
  assert.match(warning(info, 'rare_class')?.message ?? '', /fewer than 10 pictures: few \(3\)/);
  assert.match(warning(info, 'imbalance')?.message ?? '', /90 pictures of many, 3 of few/);
});

test('what cannot be used is refused, and leaves nothing', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  await refused(importFolder(service, folder), 'input.empty', /is an empty folder/);
  writeTree(folder, { 'notes/a.md': 'one', 'more/b.md': 'two' });
  await refused(
    importFolder(service, folder),
    'input.no_images',
    /no picture that can be read, for example .*: it is not a picture/,
  );
  rmSync(path.join(folder, 'notes'), { recursive: true });
  rmSync(path.join(folder, 'more'), { recursive: true });
  writeTree(folder, loose(3));
  await refused(importFolder(service, folder), 'input.no_classes', /nothing says which class/);
  for (const name of readdirSync(folder)) rmSync(path.join(folder, name));
  writeTree(folder, noisyClasses(['only'], 3));
  await refused(importFolder(service, folder), 'input.one_class', /All 3 pictures .* are of one class: only/);
  await refused(importFolder(service, path.join(folder, 'nowhere')), 'input.missing_file', /no file or folder/);
  assert.deepEqual(readdirSync(path.join(service.home, 'datasets')), []);
});

test('a cancelled import leaves nothing', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, noisyClasses(['a', 'b'], 400));
  for (const stage of [/Looking at/, /Reading/]) {
    const job = `cancelled ${stage.source}`;
    const stop = service.onProgress((event) => {
      if (event.job === job && stage.test(event.progress.stage)) void service.cancel({ job });
    });
    await assert.rejects(service.import({ job, path: folder }), (error) => error instanceof CancelledError);
    stop();
    assert.deepEqual(readdirSync(path.join(service.home, 'datasets')), []);
  }
  assert.equal((await importFolder(service, folder)).rows, 800);
});

test('progress goes up and says how long it takes', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, noisyClasses(['a', 'b'], 300));
  const shares: number[] = [];
  service.onProgress(({ progress }) => {
    if (/Reading/.test(progress.stage) && progress.share !== null) shares.push(progress.share);
  });
  await importFolder(service, folder);
  assert.ok(shares.length >= 5);
  assert.deepEqual(
    shares,
    [...shares].sort((a, b) => a - b),
  );
  assert.equal(shares.at(-1), 1);
});

test('corrected classes are kept beside the import: described, shown, undone', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, noisyClasses(['a', 'b'], 10));
  const { id: dataset } = await importFolder(service, folder);
  const settings = { labels: { 'a/0000.png': 'b', 'a/0001.png': 'new' } };
  const info = await service.describe({ dataset, settings });
  assert.deepEqual(named(info), { a: 8, b: 11, new: 1 });
  assert.match(info.targetReason, /2 corrected by hand/);
  const { pictures } = await service.pictures({ dataset, settings, class: 'b', limit: 1 });
  assert.deepEqual([pictures[0].file, pictures[0].class], ['a/0000.png', 'b']);
  assert.deepEqual(named(await service.describe({ dataset, settings: {} })), { a: 10, b: 10 });
  await refused(
    service.describe({ dataset, settings: { labels: { 'z.png': 'a' } } }),
    'input.unknown_picture',
    /z\.png/,
  );
  await refused(service.describe({ dataset, settings: { labels: { 'a/0000.png': ' ' } } }), 'input.no_class', /empty/);
  await refused(service.describe({ dataset, settings: { target: 'clas' } }), 'input.unknown_column', /"clas"/);
});

test('the dataset stands on its own: the folder may go', async (t) => {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, {
    'x/a/1.png': encoders.png(paint(16, 16, plain(red))),
    'x/b/1.png': encoders.png(paint(16, 16, plain(blue))),
  });
  const { id: dataset } = await importFolder(service, path.join(folder, 'x'));
  renameSync(path.join(folder, 'x'), path.join(folder, 'y'));
  const { pixels, width } = await service.pictures({ dataset });
  assert.equal(width, 16);
  assert.deepEqual([...pixels.subarray(0, 4), ...pixels.subarray(1024, 1028)], [...red, 255, ...blue, 255]);
  await service.remove({ dataset });
  assert.deepEqual(readdirSync(path.join(service.home, 'datasets')), []);
});

test('links are followed; broken ones, films beside the pictures and pipes do no harm', async (t) => {
  const service = pictureService(t);
  const [folder, elsewhere] = [temporaryFolder(t), temporaryFolder(t)];
  writeTree(elsewhere, noisyClasses(['a'], 10));
  writeTree(folder, noisyClasses(['b'], 10, { seed: 3000 }));
  symlinkSync(path.join(elsewhere, 'a'), path.join(folder, 'a'));
  symlinkSync(path.join(elsewhere, 'gone.png'), path.join(folder, 'b', 'gone.png'));
  symlinkSync(folder, path.join(folder, 'b', 'around'));
  execFileSync('mkfifo', [path.join(folder, 'b', 'pipe.png')]);
  writeFileSync(path.join(folder, 'b', 'film.mp4'), '\0\0\0\x18ftypmp42');
  truncateSync(path.join(folder, 'b', 'film.mp4'), 2 ** 33);
  const info = await importFolder(service, folder, { image: { size: 16 } });
  assert.deepEqual(named(info), { a: 10, b: 10 });
  const skipped = new Map((await service.skipped({ dataset: info.id })).map(({ file, reason }) => [file, reason]));
  assert.match(skipped.get('b/film.mp4') ?? '', /not a picture/);
  assert.match(skipped.get('b/gone.png') ?? '', /gone/);
});
