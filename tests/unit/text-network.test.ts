// Networks on texts, trained as any other: padding changes nothing, every backend learns the same, a mixed table uses all of it.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import type { ModelSpec } from '../../engine/model/spec.ts';
import { gpt, textClassifier, type TextInput } from '../../engine/model/text-presets.ts';
import { summarizeModel } from '../../engine/model/summary.ts';
import { sharedGpu } from '../support/shared-gpu.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere } from '../support/train.ts';
import { missingGpu } from '../support/webgpu.ts';

const table = makeTable({ rows: 200, numeric: 0, classes: 3, texts: [{ vocabulary: 9, length: 7 }] });
const shape = { blocks: 2, width: 16, heads: 2, positions: 0 } as const;
const small: ModelSpec = textClassifier('small', shape)(table.data.input as TextInput);
const training = { epochs: 2, batch: 16, seed: 3 };

const losses = async (backend: Backend, model = small): Promise<readonly number[]> => {
  const { points } = await trainHere(table, { model, training, backend });
  await backend.close();
  return series(points, 'step_loss');
};

const skip = await missingGpu();
const others: readonly {
  readonly name: string;
  readonly open: () => Promise<Backend>;
  readonly skip?: string | false;
}[] = [
  { name: 'WebAssembly on two threads', open: async () => createCpuBackend({ threads: 2, native: false }) },
  { name: 'the addon', open: async () => createCpuBackend({ threads: 2 }) },
  { name: 'the GPU', open: sharedGpu, skip },
];

for (const other of others) {
  for (const model of [small, gpt('gpt', shape)(table.data.input as TextInput)]) {
    test(`${model.preset} learns on ${other.name} as the reference does`, { skip: other.skip }, async () => {
      const [wanted, found] = [await losses(createReferenceBackend(), model), await losses(await other.open(), model)];
      assert.equal(found.length, 20);
      found.forEach((loss, step) => {
        assert.ok(Math.abs(loss - wanted[step]) <= 2e-5 * wanted[step], `step ${step}: ${loss} for ${wanted[step]}`);
      });
    });
  }
}

test('the same texts in longer rows are the same to a network', async () => {
  // Behind position 7 there is padding alone: the first weights of the positions before are the same.
  const longer = makeTable({ rows: 200, numeric: 0, classes: 3, texts: [{ vocabulary: 9, length: 7 }] });
  const [from, to] = [7, 12];
  const x = new Float32Array(200 * to);
  for (let row = 0; row < 200; row++) x.set(longer.x.subarray(row * from, (row + 1) * from), row * to);
  const input = { ...longer.data.input, width: to, texts: [{ name: 't0', vocabulary: 9, length: to }] } as TextInput;
  const data = { ...longer.data, width: to, input };
  const readShard = async () => ({ rows: 200, x: x.slice(), y: longer.y.slice() });
  const model: ModelSpec = {
    version: 1,
    layers: small.layers.map((layer) => (layer.type === 'position_embedding' ? { ...layer, most: 12 } : layer)),
  };
  const [short, long] = await Promise.all(
    [longer, { ...longer, data, x, readShard }].map(async (made) => {
      const { points } = await trainHere(made, { model, training, backend: createCpuBackend({ threads: 1 }) });
      return series(points, 'step_loss');
    }),
  );
  long.forEach((loss, step) => assert.ok(Math.abs(loss - short[step]) <= 1e-5 * short[step], `step ${step}`));
});

test('a text beside numbers is learned from, and so are the numbers', async () => {
  const texts = [{ vocabulary: 9, length: 7 }];
  const mixed = makeTable({ rows: 600, numeric: 2, classes: 2, texts });
  const model = textClassifier('small', shape)(mixed.data.input as TextInput);
  const { optimizer } = defaultTraining(1000, 'classification', mixed.data.input, model);
  const { result } = await trainHere(mixed, {
    model,
    training: { ...training, epochs: 15, optimizer: { ...optimizer, learningRate: 0.005 } },
    backend: createCpuBackend({ threads: 1 }),
  });
  assert.ok(result.metrics.test_accuracy > 0.8, String(result.metrics.test_accuracy));
});

test('texts beside numbers of which none is left to learn from are learned from alone; a layer of its own on those is refused', async () => {
  const alone = makeTable({ rows: 64, numeric: 0, classes: 2, texts: [{ vocabulary: 9, length: 7 }] });
  const input = alone.data.input as TextInput;
  const model = textClassifier('small', shape)({ ...input, numeric: 1 });
  assert.ok(model.layers.some(({ type }) => type === 'concat'));
  const { result } = await trainHere(alone, { model, training, backend: createCpuBackend({ threads: 1 }) });
  assert.ok(Number.isFinite(result.metrics.val_loss));
  const own = model.layers.map((layer) =>
    layer.type === 'concat' ? { type: 'dense', units: 2, from: 'input' } : layer,
  );
  assert.throws(() => resolveModel({ version: 1, layers: own }, input, 2), {
    name: 'ModelError',
    message: /Dense reads numbers and categories, and there are none to learn from\.$/,
  });
});

test('what no layer reads is said: numbers beside texts, a second text, texts beside numbers', async () => {
  const texts = [
    { vocabulary: 9, length: 7 },
    { vocabulary: 9, length: 5 },
  ];
  const mixed = makeTable({ rows: 64, numeric: 2, classes: 2, texts });
  const input = mixed.data.input as TextInput;
  const said = async (model: ModelSpec): Promise<readonly string[]> => {
    const made = { model, training: { ...training, epochs: 1 }, backend: createCpuBackend({ threads: 1 }) };
    const { log } = await trainHere(mixed, made);
    const unread = log
      .map(({ message }) => message)
      .filter((message) => message.startsWith('No layer of this network'));
    // New run says the same before it is trained.
    const { unread: before } = summarizeModel(model, input, mixed.data.output, {
      batch: 8,
      loss: 'auto',
      frozenLayers: 0,
    });
    assert.deepEqual(before === null ? [] : [before], unread);
    return unread.flatMap((message) => /reads (.*): it learns nothing/.exec(message)?.[1] ?? []);
  };
  const [first, second] = (input.texts ?? []).map(({ name }) => name);
  assert.deepEqual(await said(textClassifier('small', shape)(input)), []);
  assert.deepEqual(
    await said(textClassifier('small', shape)({ ...input, texts: input.texts?.slice(0, 1), numeric: 0 })),
    [`${second} and the numbers and categories`],
  );
  assert.deepEqual(await said(mlp([4])), [`${first} and ${second}`]);
});
