// Files of weights that others wrote: read by ranges and never whole, in any type weights have; damaged, pickled and other files refused.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, open, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { openModel } from '../../engine/pretrained/find.node.ts';
import { isModel } from '../../engine/pretrained/paths.node.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { encodeText } from '../../engine/train/safetensors.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'trainyard-pretrained-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (...names: string[]): string => path.join(folder, ...names);

/** A file of this header and data. */
function fileOf(header: unknown, data: Uint8Array): Uint8Array {
  const text = encodeText(typeof header === 'string' ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + text.length + data.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  file.set(data, 8 + text.length);
  return file;
}

async function refused(where: string, code: string, message: RegExp): Promise<void> {
  await assert.rejects(openModel(where), (error: Error & { code: string }) => {
    assert.ok(error instanceof InputError, error.message);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
}

const written = async (name: string, header: unknown, data: Uint8Array): Promise<string> => {
  await writeFile(at(name), fileOf(header, data));
  return at(name);
};

test('numbers of every type that weights have become float32', async () => {
  const data = new DataView(new ArrayBuffer(48));
  const header: Record<string, unknown> = {};
  let end = 0;
  const tensor = (name: string, dtype: string, bytes: number, write: (offset: number, value: number) => void): void => {
    const start = end;
    for (const value of [1.5, -2]) {
      write(end, value);
      end += bytes;
    }
    header[name] = { dtype, shape: [2], data_offsets: [start, end] };
  };
  tensor('single', 'F32', 4, (offset, value) => data.setFloat32(offset, value, true));
  tensor('half', 'F16', 2, (offset, value) => data.setUint16(offset, value === 1.5 ? 0x3e00 : 0xc000, true));
  tensor('brain', 'BF16', 2, (offset, value) => data.setUint16(offset, value === 1.5 ? 0x3fc0 : 0xc000, true));
  tensor('double', 'F64', 8, (offset, value) => data.setFloat64(offset, value, true));
  tensor('whole', 'I64', 8, (offset, value) => data.setBigInt64(offset, BigInt(Math.trunc(value)), true));
  header['flags'] = { dtype: 'BOOL', shape: [0], data_offsets: [end, end] };
  const model = await openModel(await written('types.safetensors', header, new Uint8Array(data.buffer)));
  for (const name of ['single', 'half', 'brain', 'double'])
    assert.deepEqual([...(await model.tensors.read(name))], [1.5, -2]);
  assert.deepEqual([...(await model.tensors.read('whole'))], [1, -2]);
  await assert.rejects(model.tensors.read('flags'), /tensor flags is BOOL, which no weights are read from/);
  await model.close();
});

test('of 5 GB only what is asked for is read', async () => {
  const bytes = 5 * 2 ** 30;
  const header = {
    large: { dtype: 'F32', shape: [bytes / 4], data_offsets: [0, bytes] },
    small: { dtype: 'F32', shape: [2], data_offsets: [bytes, bytes + 8] },
  };
  const start = fileOf(header, new Uint8Array(0));
  const file = await open(at('large.safetensors'), 'w');
  await file.write(start);
  await file.write(new Uint8Array(Float32Array.of(3, 4).buffer), 0, 8, start.length + bytes);
  await file.close();
  const before = process.memoryUsage().arrayBuffers;
  const model = await openModel(at('large.safetensors'));
  assert.deepEqual([...(await model.tensors.read('small'))], [3, 4]);
  assert.deepEqual(model.tensors.shapes.get('large'), [bytes / 4]);
  assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 24, 'next to nothing of it is in memory');
  await model.close();
});

test('a damaged header is refused with what is wrong in it', async () => {
  const two = new Uint8Array(16);
  const entry = (start: number, end: number, more: object = {}): object => ({
    ...{ dtype: 'F32', shape: [(end - start) / 4], data_offsets: [start, end] },
    ...more,
  });
  const cases: readonly (readonly [string, unknown, RegExp])[] = [
    [
      'overlap',
      { a: entry(0, 8), b: entry(4, 16) },
      /overlap\.safetensors is damaged: tensor b begins at byte \d+ instead of \d+/,
    ],
    ['gap', { a: entry(0, 4), b: entry(8, 16) }, /tensor b begins at byte/],
    ['short', { a: entry(0, 32) }, /it has \d+ bytes, its tensors end at \d+/],
    ['shape', { a: entry(0, 16, { shape: [5] }) }, /tensor a has 16 bytes for 5 values/],
    ['type', { a: entry(0, 16, { dtype: 'Q4_0' }) }, /tensor a is Q4_0, only F32, F16/],
    ['negative', { a: entry(0, 16, { shape: [-4] }) }, /tensor a has no shape/],
    ['json', '{"a":', /its header is not JSON/],
  ];
  for (const [name, header, message] of cases) {
    await refused(await written(`${name}.safetensors`, header, two), 'data.safetensors', message);
  }
  await writeFile(at('tiny.safetensors'), new Uint8Array(3));
  await refused(at('tiny.safetensors'), 'data.safetensors', /tiny\.safetensors is damaged: it has 3 bytes/);
  await writeFile(at('length.safetensors'), new Uint8Array(16).fill(0xff));
  await refused(at('length.safetensors'), 'data.safetensors', /its header has \d+ bytes/);
});

test('a pickled checkpoint is refused with the reason and how to convert it, whatever it is called', async () => {
  await writeFile(at('pytorch_model.bin'), 'PK\x03\x04rest');
  await refused(at('pytorch_model.bin'), 'input.pickled', /runs whatever program is written in it/);
  await assert.rejects(openModel(at('pytorch_model.bin')), ({ hint }: { hint: string }) => {
    return hint.includes("torch.load('pytorch_model.bin', weights_only=True)") && hint.includes("'model.safetensors'");
  });
  await writeFile(at('renamed.safetensors'), 'PK\x03\x04rest');
  await refused(at('renamed.safetensors'), 'input.pickled', /renamed\.safetensors is a pickled checkpoint/);
  await mkdir(at('pickled'));
  await writeFile(at('pickled', 'config.json'), '{}');
  await writeFile(at('pickled', 'pytorch_model.bin'), '');
  await refused(at('pickled'), 'input.pickled', /pytorch_model\.bin is a pickled checkpoint/);
  assert.equal(await isModel(at('pickled')), true, 'dropped, it is to be refused by its reason');
});

test('a folder without weights, with several parts, and other formats say so', async () => {
  await refused(at('nowhere'), 'input.missing', /There is no .*nowhere/);
  await mkdir(at('empty'));
  await refused(at('empty'), 'input.no_weights', /empty has no weights: there is no model\.safetensors/);
  assert.equal(await isModel(at('empty')), false);
  for (const left of ['model.safetensors.index.json', 'config.json', 'tokenizer.json'] as const) {
    await mkdir(at('fetched in part', left), { recursive: true });
    await writeFile(at('fetched in part', left, left), '{}');
    if (left === 'tokenizer.json') await writeFile(at('fetched in part', left, 'config.json'), '{}');
    // A config.json may stand beside pictures.
    assert.equal(await isModel(at('fetched in part', left)), left !== 'config.json', left);
  }
  await mkdir(at('parts'));
  for (const part of [1, 2]) await writeFile(at('parts', `model-0000${part}-of-00002.safetensors`), '');
  await refused(at('parts'), 'input.no_weights', /parts has 2 safetensors files/);
  await writeFile(at('llama.safetensors'), 'GGUF....');
  await refused(at('llama.safetensors'), 'input.no_weights', /llama\.safetensors is a GGUF file/);
  await writeFile(at('lfs.safetensors'), 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 438\n');
  await refused(at('lfs.safetensors'), 'input.no_weights', /lfs\.safetensors is a pointer of Git LFS/);
  await writeFile(at('page.safetensors'), '<!DOCTYPE html><html></html>');
  await refused(at('page.safetensors'), 'input.no_weights', /page\.safetensors is a page of the web/);
  await mkdir(at('within', 'model.safetensors'), { recursive: true });
  await refused(at('within'), 'input.no_weights', /model\.safetensors is no file/);
});

test('a model in several files is read by its index; what that leads to and is not there is said', async () => {
  const parts = at('sharded');
  const index = (map: unknown): Promise<void> =>
    writeFile(path.join(parts, 'model.safetensors.index.json'), typeof map === 'string' ? map : JSON.stringify(map));
  const tensorIn = (part: string, name: string, values: readonly number[]): Promise<void> => {
    const data = new Uint8Array(Float32Array.from(values).buffer);
    const header = { [name]: { dtype: 'F32', shape: [values.length], data_offsets: [0, data.length] } };
    return writeFile(path.join(parts, part), fileOf(header, data));
  };
  const [first, second] = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
  await mkdir(parts);
  await tensorIn(first, 'a', [1, 2]);
  await index({ metadata: { total_size: 20 }, weight_map: { a: first, b: second } });
  await refused(parts, 'input.missing', /sharded lacks model-00002-of-00002\.safetensors, which .*index\.json names/);
  await tensorIn(second, 'b', [3, 4, 5]);
  assert.equal(await isModel(parts), true);
  const { name, tensors, close } = await openModel(parts);
  assert.equal(name, 'sharded');
  // As Hugging Face's programs keep what they have fetched.
  const kept = at('models--somebody--sharded');
  await mkdir(path.join(kept, 'refs'), { recursive: true });
  await mkdir(path.join(kept, 'snapshots'));
  await writeFile(path.join(kept, 'refs', 'main'), '4d7a');
  assert.equal(await isModel(kept), false, 'the snapshot has gone');
  await cp(parts, path.join(kept, 'snapshots', '4d7a'), { recursive: true });
  assert.equal(await isModel(kept), true);
  const there = await openModel(kept);
  assert.equal(there.name, 'sharded');
  assert.deepEqual([...there.tensors.shapes], [...tensors.shapes]);
  await there.close();
  const around = at('unpacked');
  await cp(parts, path.join(around, 'model'), { recursive: true });
  await mkdir(path.join(around, '__MACOSX'));
  assert.equal(await isModel(around), true, 'an archive has put a folder around it');
  const within = await openModel(around);
  assert.deepEqual([within.name, [...within.tensors.shapes]], ['unpacked', [...tensors.shapes]]);
  await within.close();
  await cp(parts, path.join(around, 'checkpoint-9'), { recursive: true });
  assert.equal(await isModel(around), true);
  await refused(around, 'input.no_weights', /^unpacked holds 2 models: checkpoint-9, model\.$/);
  await mkdir(path.join(around, 'pictures'));
  assert.equal(await isModel(around), false, 'not all of it are models');
  assert.deepEqual(Object.fromEntries(tensors.shapes), { a: [2], b: [3] });
  assert.deepEqual(
    [[...(await tensors.read('a'))], [...(await tensors.read('b'))]],
    [
      [1, 2],
      [3, 4, 5],
    ],
  );
  await close();
  await index({ weight_map: { a: first, b: first } });
  await refused(parts, 'input.weights', /00001-of-00002\.safetensors has no tensor b, which .* says is in it/);
  for (const [wrong, what] of [
    ['{', /is no JSON/],
    [{}, /has no weight_map/],
    [{ weight_map: {} }, /names no tensor/],
    [
      { weight_map: { a: '../model.safetensors' } },
      /tensor a in "\.\.\/model\.safetensors", which is no safetensors file of its/,
    ],
    [{ weight_map: { a: 3 } }, /tensor a in 3/],
  ] as const) {
    await index(wrong);
    await refused(parts, 'input.weights', what);
  }
});
