// Arrays of pictures: IDX (MNIST), NPY and NPZ, of every element type, with their classes found by name and shape.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseNpyHeader } from '../../engine/data/images/arrays/npy.ts';
import type { DatasetInfo, DataService } from '../../engine/protocol/data.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { idx, npy, pictureService, temporaryFolder, writeTree, zip } from '../support/pictures.ts';

const count = 30;
const side = 12;
const size = side * side;

/** Picture `i` is a slope that begins at 2 · i. */
const bytes = Uint8Array.from({ length: count * size }, (_, at) => 2 * Math.floor(at / size) + (at % size));
const digits = Uint8Array.from({ length: count }, (_, i) => i % 3);
const named = ({ classes }: DatasetInfo): Record<string, number> =>
  Object.fromEntries(classes.map(({ name, count: pictures }) => [name, pictures]));

let jobs = 0;
async function importFile(
  t: TestContext,
  files: Record<string, Uint8Array>,
  name = '',
): Promise<{ service: DataService; info: DatasetInfo }> {
  const service = pictureService(t);
  const folder = temporaryFolder(t);
  writeTree(folder, files);
  const info = await service.import({ job: `arrays ${++jobs}`, path: path.join(folder, name) });
  return { service, info };
}

/** First value of the first channel of a picture. */
async function firstValues(service: DataService, info: DatasetInfo, rows: readonly number[]): Promise<number[]> {
  const { pixels, width, height } = await service.pictures({ dataset: info.id, rows });
  return rows.map((_, index) => pixels[index * width * height * 4]);
}

const mnist = {
  'train-images-idx3-ubyte': idx([count, side, side], bytes),
  'train-labels-idx1-ubyte': idx([count], digits),
  't10k-images-idx3-ubyte': idx([6, side, side], bytes.subarray(0, 6 * size)),
  't10k-labels-idx1-ubyte': idx([6], digits.subarray(0, 6)),
};

test('IDX: the four files of MNIST, packed or not, make two splits', async (t) => {
  const packed = Object.fromEntries(Object.entries(mnist).map(([name, data]) => [`raw/${name}.gz`, gzipSync(data)]));
  const both = { ...packed, 'raw/t10k-labels-idx1-ubyte': mnist['t10k-labels-idx1-ubyte'] };
  for (const files of [mnist, packed, both]) {
    const { service, info } = await importFile(t, files);
    assert.deepEqual(named(info), { 0: 12, 1: 12, 2: 12 });
    assert.deepEqual(info.image?.splits, { train: 30, validation: 0, test: 6 });
    assert.deepEqual([info.image?.width, info.image?.height, info.image?.channels], [side, side, 1]);
    const page = await service.rows({ dataset: info.id, offset: 0, limit: 36 });
    const last = page.rows.findIndex(([file]) => /^train-images.*\/29$/.test(String(file)));
    assert.deepEqual(await firstValues(service, info, [last]), [58]);
  }
});

test('IDX: one file is read with the one beside it', async (t) => {
  const { info } = await importFile(t, mnist, 't10k-images-idx3-ubyte');
  assert.deepEqual([info.rows, info.image?.splits?.test ?? 0], [6, 0]);
});

test('NPZ as keras and MedMNIST have it', async (t) => {
  const keras = zip({
    'x_train.npy': npy('|u1', [count, side, side], bytes),
    'y_train.npy': npy('<i8', [count], new Uint8Array(BigInt64Array.from(digits, BigInt).buffer)),
    'x_test.npy': npy('|u1', [6, side, side], bytes.subarray(0, 6 * size)),
    'y_test.npy': npy('<i8', [6], new Uint8Array(BigInt64Array.from(digits.subarray(0, 6), BigInt).buffer)),
  });
  const { service, info } = await importFile(t, { 'mnist.npz': keras }, 'mnist.npz');
  assert.deepEqual(info.image?.splits, { train: 30, validation: 0, test: 6 });
  assert.deepEqual(await firstValues(service, info, [0, 29]), [0, 58]);
  const medical = zip({
    'train_images.npy': npy('|u1', [10, side, side, 3], bytes.subarray(0, 30 * size)),
    'train_labels.npy': npy('|u1', [10, 1], digits.subarray(0, 10)),
    'val_images.npy': npy('|u1', [2, side, side, 3], bytes.subarray(0, 6 * size)),
    'val_labels.npy': npy('|u1', [2, 1], digits.subarray(0, 2)),
  });
  const second = await importFile(t, { 'med.npz': medical }, 'med.npz');
  assert.deepEqual(second.info.image?.splits, { train: 10, validation: 2, test: 0 });
  assert.equal(second.info.image?.channels, 3);
});

test('NPY: channels first or last, classes as texts', async (t) => {
  const text = Buffer.alloc(4 * 4 * count);
  digits.forEach((digit, i) =>
    [...['äpfel', 'kiwi', 'nüss'][digit].slice(0, 4)].forEach((c, at) =>
      text.writeUInt32LE(c.codePointAt(0) ?? 0, 16 * i + 4 * at),
    ),
  );
  const labels = npy('<U4', [count], text);
  const planes = new Uint8Array(count * 3 * size);
  for (let i = 0; i < count; i++)
    for (let c = 0; c < 3; c++) planes.fill(40 * c + i, (3 * i + c) * size, (3 * i + c + 1) * size);
  const { service, info } = await importFile(
    t,
    { 'images.npy': npy('|u1', [count, 3, side, side], planes), 'labels.npy': labels },
    'images.npy',
  );
  assert.deepEqual(named(info), { äpfe: 10, kiwi: 10, nüss: 10 });
  const { pixels } = await service.pictures({ dataset: info.id, rows: [7] });
  assert.deepEqual([...pixels.subarray(0, 4)], [7, 47, 87, 255]);
});

test('values of any type and range become the same bytes', async (t) => {
  const values = Array.from(bytes, (value) => Math.min(255, 2 * value));
  const element = (bytesEach: number, write: (buffer: Buffer, value: number, at: number) => void): Uint8Array => {
    const buffer = Buffer.alloc(values.length * bytesEach);
    values.forEach((value, index) => write(buffer, value, index * bytesEach));
    return buffer;
  };
  const cases: [string, Uint8Array, string | undefined][] = [
    ['<f4', element(4, (buffer, value, at) => buffer.writeFloatLE(value / 255, at)), '0 … 1'],
    ['>f8', element(8, (buffer, value, at) => buffer.writeDoubleBE(value / 255, at)), '0 … 1'],
    ['<f4', element(4, (buffer, value, at) => buffer.writeFloatLE(value, at)), undefined],
    ['<f4', element(4, (buffer, value, at) => buffer.writeFloatLE(value / 127.5 - 1, at)), '−1 … 1'],
    ['<i4', element(4, (buffer, value, at) => buffer.writeInt32LE(value, at)), undefined],
    ['<u2', element(2, (buffer, value, at) => buffer.writeUInt16LE(value * 257, at)), '0 … 65535'],
  ];
  for (const [descr, data, range] of cases) {
    const files = { 'x.npy': npy(descr, [count, side, side], data), 'y.npy': npy('|u1', [count], digits) };
    const { service, info } = await importFile(t, files, 'x.npy');
    const { pixels } = await service.pictures({ dataset: info.id, rows: [3] });
    const grey = Array.from({ length: size }, (_, at) => pixels[4 * at]);
    assert.deepEqual(grey, values.slice(3 * size, 4 * size), descr);
    assert.equal(info.reading.values, range, descr);
  }
});

test('half-precision numbers', () => {
  const { element, shape } = parseNpyHeader(Buffer.from(npy('<f2', [2, 3], new Uint8Array(12))), 'x.npy');
  assert.deepEqual([element, shape], [{ kind: 'float', bytes: 2, littleEndian: true }, [2, 3]]);
});

for (const [name, files, code, message] of [
  [
    'no classes',
    { 'x.npy': npy('|u1', [count, side, side], bytes) },
    'input.no_labels',
    /no classes for the 30 pictures of x/,
  ],
  ['no pictures', { 'x.npy': npy('|u1', [count], digits) }, 'input.no_images', /no array of pictures; it has x \[30\]/],
  ['no array', { 'x.npy': Buffer.from('something else entirely') }, 'input.npy', /is not a NumPy array/],
  [
    'an array that ends early',
    { 'x.npy': npy('|u1', [count, side, side], bytes.subarray(0, 500)), 'y.npy': npy('|u1', [count], digits) },
    'input.array_short',
    /x ends early: 500 of 4320 bytes/,
  ],
  ['Python objects', { 'x.npy': npy('|O', [count], digits) }, 'input.npy', /holds Python objects/],
  ['a broken archive', { 'x.npz': Buffer.from('PK\x03\x04 and no more') }, 'input.npz', /cannot be unpacked/],
  [
    'a broken gzip',
    { 'train-images-idx3-ubyte.gz': Buffer.from('\x1f\x8b\x08 no') },
    'input.idx',
    /cannot be unpacked/,
  ],
] as const) {
  test(`arrays: ${name} is refused`, async (t) => {
    await assert.rejects(importFile(t, files, Object.keys(files)[0]), (error: unknown) => {
      assert.ok(error instanceof InputError, String(error));
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    });
  });
}
