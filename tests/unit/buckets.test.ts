// Buckets of lengths: every row once an epoch, little padding, the same curve as without where the batches are the same, the same bits
// after a stop, on every backend.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { defaultTraining, presets, specOf } from '../../engine/model/presets.ts';
import { textClassifier, type TextInput } from '../../engine/model/text-presets.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import type { LayerSpec, ModelSpec } from '../../engine/model/spec.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import { bucketsFor, bucketsOf, paddingOf, predictedBuckets } from '../../engine/train/buckets.ts';
import { RowOrder } from '../../engine/train/row-order.ts';
import { Session } from '../../engine/train/session.ts';
import { initializeWeights } from '../../engine/train/weights.ts';
import { sharedGpu } from '../support/shared-gpu.ts';
import { makeTable, uniform, type MadeTable } from '../support/table.ts';
import { series, trainHere } from '../support/train.ts';
import { missingGpu } from '../support/webgpu.ts';

/** Lengths as those of texts are: many short ones, few long ones. */
function skewed(rows: number, longest: number): Uint32Array {
  const random = uniform(5);
  return Uint32Array.from({ length: rows }, () =>
    Math.min(longest, Math.floor(longest * 0.05 * Math.exp(4 * random() ** 2))),
  );
}

test('buckets leave less than a tenth of padding where there was most of a row, and every row is seen once an epoch', () => {
  const tokens = skewed(4000, 128);
  const buckets = bucketsFor(tokens);
  const dealing = { buckets, batch: 32 };
  assert.equal(buckets.lengths.at(-1), Math.max(...tokens));
  assert.ok(buckets.lengths.length <= 16);
  tokens.forEach((count, row) => assert.ok(count <= buckets.lengths[buckets.of[row]]));
  const without = 1 - buckets.tokens / (4000 * 128);
  for (const windowRows of [4000, 1024]) {
    const order = new RowOrder({ rows: 4000, leftOut: 0, seed: 3, dealing }, windowRows);
    const visited = (epoch: number): Uint32Array =>
      Uint32Array.from([...order.windowsIn(epoch)].flatMap((window) => [...order.rowsOf(window, epoch)]));
    const [first, second] = [visited(0), visited(1)];
    assert.deepEqual(
      first.toSorted(),
      Uint32Array.from({ length: 4000 }, (_, row) => row),
    );
    assert.deepEqual(second.toSorted(), first.toSorted());
    assert.notDeepEqual(first, second);
    assert.deepEqual(visited(0), first, 'the same each time it is asked for');
  }
  const order = new RowOrder({ rows: 4000, leftOut: 0, seed: 3, dealing }, 4000);
  const share = paddingOf(dealing, order.rowsOf(0, 0), 128);
  assert.ok(share < 0.1 && without > 0.5, `${share} with buckets, ${without} without`);
});

test('a short table has less than a tenth of padding too: its buckets are chosen for whole batches', () => {
  const random = uniform(9);
  const shapes: Readonly<Record<string, (longest: number) => number>> = {
    even: (longest) => 1 + Math.floor(random() * longest),
    humped: (longest) => 1 + Math.floor((longest * (random() + random() + random())) / 3),
    skewed: (longest) => Math.floor(longest * 0.05 * Math.exp(4 * random() ** 2)),
    lognormal: (longest) => Math.round(longest * 0.25 * Math.exp(0.6 * (random() + random() + random() - 1.5) * 2)),
  };
  // Parts of 8 rows are none of a batch of 25 or of 50.
  const sizes = [80, 240, 600, 1000, 4000].map((rows) => [rows, 32] as const);
  for (const [rows, batch] of [...sizes, [80, 25], [160, 50], [240, 75], [240, 100]] as const) {
    for (const [shape, lengthOf] of Object.entries(shapes)) {
      const tokens = Uint32Array.from({ length: rows }, () => Math.max(1, Math.min(128, lengthOf(128))));
      const buckets = bucketsFor(tokens, 16, batch);
      const order = new RowOrder({ rows, leftOut: 0, seed: 3, dealing: { buckets, batch } }, rows).rowsOf(0, 0);
      const share = paddingOf({ buckets, batch }, order, buckets.lengths.at(-1)!);
      assert.ok(share < 0.1, `${share} of ${rows} ${shape} rows, batches of ${batch}`);
      if (rows >= 1000) assert.equal(buckets.parts, 1, 'a batch is one part where there are enough of them');
      const part = batch / buckets.parts;
      // What was planned is what is dealt.
      let [positions, dealt] = [0, 0];
      for (const [i, end] of buckets.lengths.entries()) {
        const upTo = tokens.filter((count) => count <= end).length;
        const whole = i + 1 < buckets.lengths.length ? upTo - (upTo % part) : rows;
        [positions, dealt] = [positions + end * (whole - dealt), whole];
      }
      assert.ok(Math.abs(1 - buckets.tokens / positions - share) < 1e-12);
    }
  }
});

test('the batches of a short table are others in each epoch: they are made of parts of several lengths', () => {
  const rows = 240;
  const buckets = bucketsFor(skewed(rows, 128), 16, 32);
  const order = new RowOrder({ rows, leftOut: 0, seed: 3, dealing: { buckets, batch: 32 } }, rows);
  const batchOf = (epoch: number): Uint32Array => {
    const of = new Uint32Array(rows);
    order.rowsOf(0, epoch).forEach((row, place) => (of[row] = Math.floor(place / 32)));
    return of;
  };
  const [first, second] = [batchOf(0), batchOf(1)];
  let [together, again] = [0, 0];
  for (let row = 0; row < rows; row++) {
    for (let other = 0; other < row; other++) {
      if (first[row] !== first[other]) continue;
      together++;
      if (second[row] === second[other]) again++;
    }
  }
  assert.ok(again < 0.5 * together, `${again} pairs of ${together} are in one batch again`);
});

test('texts of one length are one bucket, and empty ones have a place', () => {
  assert.deepEqual(bucketsFor(new Uint32Array(50).fill(12)).lengths, [12]);
  assert.deepEqual(bucketsFor(new Uint32Array(50)).lengths, [1]);
  assert.deepEqual(bucketsFor(Uint32Array.of(0, 0, 0, 40)).lengths, [1, 40]);
});

test('the buckets are the best of so many', () => {
  const tokens = skewed(300, 14);
  const { lengths } = bucketsFor(tokens);
  const positions = (ends: readonly number[]): number =>
    tokens.reduce((sum, count) => sum + ends.find((end) => count <= end)!, 0);
  const longest = lengths.at(-1)!;
  const choices = (from: number, left: number): readonly (readonly number[])[] =>
    left === 0
      ? [[longest]]
      : Array.from({ length: longest - from - 1 }, (_, i) => from + 1 + i).flatMap((end) =>
          choices(end, left - 1).map((rest) => [end, ...rest]),
        );
  const least = Math.min(...choices(0, lengths.length - 1).map(positions));
  assert.equal(positions(lengths), least);
});

/** Every second text is cut to a quarter. */
function uneven(rows: number, length: number, numeric = 0): MadeTable {
  const made = makeTable({ rows, numeric, classes: 3, texts: [{ vocabulary: 9, length }], shardRows: 50 });
  const { width } = made.data;
  for (let row = 0; row < rows; row++) {
    if (row % 2 === 1) made.x.fill(0, row * width + numeric + Math.ceil(length / 4), (row + 1) * width);
  }
  return { ...made, readShard: async (shard) => shardOf(made, shard) };
}

function shardOf({ data, x, y }: MadeTable, shard: number) {
  const [start, end] = [data.shardStarts[shard], data.shardStarts[shard + 1]];
  return { rows: end - start, x: x.slice(start * data.width, end * data.width), y: y.slice(start, end) };
}

/** So few rows, so different in length, that batches are in parts. */
function varied(rows: number, length: number): MadeTable {
  const made = makeTable({ rows, numeric: 1, classes: 3, texts: [{ vocabulary: 9, length }], shardRows: 50 });
  const { width } = made.data;
  skewed(rows, length).forEach((count, row) => made.x.fill(0, row * width + 1 + count, (row + 1) * width));
  return { ...made, readShard: async (shard) => shardOf(made, shard) };
}

const table = uneven(203, 17, 1);
const few = varied(45, 17);
const training = { epochs: 2, batch: 16, seed: 3, bucketing: true };
const shape = { blocks: 1, width: 16, heads: 2, positions: 0 } as const;
const small = textClassifier('small', shape)(table.data.input as TextInput);
test('rows are in buckets only where nothing behind the sequence hangs on its length', async () => {
  const behind = (...layers: readonly LayerSpec[]): ModelSpec => ({
    version: 1,
    layers: [
      { type: 'token_embedding', id: 'tokens', dimensions: 8 },
      { type: 'position_embedding', id: 'places' },
      ...layers,
      { type: 'output' },
    ],
  });
  const pooled = [{ type: 'pool_positions' }, { type: 'dense', units: 4 }];
  for (const [made, expected] of [
    [behind(...pooled), true],
    [behind({ type: 'flatten' }), false],
    [behind({ type: 'flatten' }, { type: 'dense', units: 4 }), false],
    [behind({ type: 'dense', units: 4 }, { type: 'flatten' }, { type: 'dropout' }), false],
    [behind({ type: 'attention', heads: 2 }, { type: 'conv1d', filters: 4 }, ...pooled), true],
  ] as const) {
    const model = resolveModel(made, table.data.input, 1);
    const settings = { bucketing: true, batch: 16 };
    const buckets = await bucketsOf(model, table.data, settings, table.readShard);
    assert.equal(buckets !== null, expected, made.layers.map(({ type }) => type).join());
    const predicted = await predictedBuckets(model, table.data, table.readShard);
    assert.equal(predicted?.lengths.length, expected ? 1 : undefined, 'rows of one step are one bucket');
  }
});

test('only the batches of a model that works at each position are in parts: a bag of words gains nothing by them', async () => {
  const settings = { bucketing: true, batch: 16 };
  const bag = presets.find(({ name }) => name === 'text-bag')!;
  for (const [spec, inParts] of [
    [small, true],
    [specOf(bag, few.data.input), false],
  ] as const) {
    const buckets = await bucketsOf(resolveModel(spec, few.data.input, 3), few.data, settings, few.readShard);
    assert.equal(buckets!.parts > 1, inParts);
  }
});

test('texts are predicted by their lengths: the same numbers with few positions of padding', async () => {
  const rows = 700;
  const made = makeTable({ rows, numeric: 0, classes: 3, texts: [{ vocabulary: 40, length: 96 }], shardRows: 400 });
  const tokens = skewed(rows, 30);
  tokens.forEach((count, row) => made.x.fill(0, row * 96 + count, (row + 1) * 96));
  const options = { ...made, readShard: async (shard: number) => shardOf(made, shard) };
  const inner = createCpuBackend({ threads: 2 });
  let positions = 0;
  const counting: Backend = {
    ...inner,
    compile: async (plan) => {
      const executable = await inner.compile(plan);
      return new Proxy(executable, {
        get: (of, key) =>
          key === 'run'
            ? (name: string, steps: number) => {
                positions += steps * 256 * Number(/x(\d+)$/.exec(name)?.[1] ?? 96);
                return of.run(name, steps);
              }
            : Reflect.get(of, key, of),
      });
    },
  };
  for (const name of ['text-small', 'text-bag', 'text-gru', 'text-cnn']) {
    const model = specOf(
      presets.find((preset) => preset.name === name)!,
      made.data.input,
    );
    const settings = defaultTraining(1, 'classification', made.data.input, model);
    const open = { ...options, backend: counting, model, training: settings, dataBudget: 2 ** 30, predictOnly: true };
    const predicted: Float32Array[] = [];
    const counts: number[] = [];
    for (const byLength of [false, true]) {
      const session = await Session.open({ ...open, byLength });
      initializeWeights(session.executable, session.whole, 1);
      positions = 0;
      predicted.push(await session.predict({ start: 0, end: rows }));
      counts.push(positions);
      session.close();
    }
    const [whole, short] = predicted;
    assert.ok(new Set(whole).size > rows, 'they differ');
    whole.forEach((value, i) => assert.ok(Math.abs(value - short[i]) < 1e-5, `${name}: ${value} and ${short[i]}`));
    assert.equal(counts[0], 3 * 256 * 96);
    const all = tokens.reduce((sum, count) => sum + count, 0);
    assert.ok(counts[1] < 2.5 * all, `${name}: ${counts[1]} positions of ${all} tokens`);
  }
  await inner.close();
});

/** The same without the programs for shorter rows: each row as long as any, in the order of the buckets. */
const whole = (backend: Backend, shortened: string[]): Backend => ({
  ...backend,
  compile: async (plan) => {
    const executable = await backend.compile(plan);
    const full = (name: string): string => name.replace(/x[\d,]+$/, '');
    return {
      ...executable,
      threads: executable.threads,
      bytes: executable.bytes,
      write: (...given) => executable.write(...given),
      read: (...given) => executable.read(...given),
      run(name, steps) {
        if (full(name) !== name) shortened.push(name);
        return executable.run(full(name), steps);
      },
      stepsAtOnce: (name) => executable.stepsAtOnce(full(name)),
      dispose: () => executable.dispose(),
    };
  },
});

const skip = await missingGpu();
const backends: readonly {
  readonly name: string;
  readonly open: () => Promise<Backend>;
  readonly skip?: string | false;
}[] = [
  { name: 'the reference', open: async () => createReferenceBackend() },
  { name: 'WebAssembly', open: async () => createCpuBackend({ threads: 2, native: false }) },
  { name: 'the addon', open: async () => createCpuBackend({ threads: 2 }) },
  { name: 'the GPU', open: sharedGpu, skip },
];
const waves = (vectors: string): ModelSpec => ({
  version: 1,
  layers: small.layers.map((layer) =>
    layer.type === 'position_embedding'
      ? { ...layer, vectors }
      : layer.type === 'attention'
        ? { ...layer, rotary: true }
        : layer,
  ),
});
const models = { transformer: small, 'waves and turns': waves('sinusoidal') };

// On the GPU fewer steps, of parts of all lengths (below): in software each length is compiled for long.
for (const { name, open } of backends.filter(({ open }) => open !== sharedGpu)) {
  const epochs = 2;
  for (const [kind, model] of Object.entries(models)) {
    for (const accumulate of [1, 3]) {
      test(`a ${kind} learns from short rows what it learns from padded ones, on ${name}, in ${accumulate} parts`, async () => {
        const run: string[] = [];
        const shortened: string[] = [];
        const losses = async (wrap: (backend: Backend) => Backend) => {
          const backend = await open();
          const { points, log } = await trainHere(table, {
            model,
            training: { ...training, epochs, accumulate },
            backend: wrap(backend),
          });
          await backend.close();
          run.push(log.map(({ message }) => message).join('\n'));
          return series(points, 'step_loss');
        };
        const [found, wanted] = [
          await losses((backend) => backend),
          await losses((backend) => whole(backend, shortened)),
        ];
        assert.equal(found.length, 11 * epochs);
        assert.ok(shortened.length >= 4 * epochs, 'most steps are of shorter rows');
        found.forEach((loss, step) => {
          assert.ok(Math.abs(loss - wanted[step]) <= 2e-5 * wanted[step], `step ${step}: ${loss} for ${wanted[step]}`);
        });
        assert.match(run[0], /padding \d+ %, without buckets 6\d %/);
      });
    }
  }
}

for (const { name, open, skip } of backends) {
  test(`parts of several lengths add up to the gradient of the padded batch, on ${name}`, { skip }, async () => {
    const model = waves('sinusoidal');
    for (const accumulate of name === 'the GPU' ? [1] : [1, 8]) {
      const shortened: string[] = [];
      const losses = async (wrap: (backend: Backend) => Backend) => {
        const backend = await open();
        const settings = { ...training, epochs: 1, accumulate };
        const { points, log } = await trainHere(few, { model, training: settings, backend: wrap(backend) });
        await backend.close();
        return { losses: series(points, 'step_loss'), log: log.map(({ message }) => message).join('\n') };
      };
      const found = await losses((backend) => backend);
      const wanted = await losses((backend) => whole(backend, shortened));
      assert.equal(found.losses.length, 3);
      assert.ok(shortened.some((name) => name.includes(',')));
      found.losses.forEach((loss, step) => {
        assert.ok(Math.abs(loss - wanted.losses[step]) <= 2e-5 * wanted.losses[step], `step ${step}`);
      });
      assert.match(found.log, /padding 21 %, without buckets 77 %/);
      assert.doesNotMatch(found.log, /does not fit/);
    }
  });
}

for (const [kind, made, stopAt, windowRows] of [
  ['of one length', table, 4, 80],
  ['in parts of several lengths', few, 2, 32],
] as const) {
  test(`stopped and resumed it has the same bits; with less memory the epoch under way does; batches ${kind}`, async () => {
    const onCpu = (): Backend => createCpuBackend({ threads: 1, native: false });
    const straight = await trainHere(made, { model: small, training, backend: onCpu() });
    const losses = series(straight.points, 'train_loss');
    for (const dataBudget of [1e9, windowRows * 4 * (made.data.width + 1)]) {
      const first = await trainHere(made, {
        model: small,
        training,
        backend: onCpu(),
        onSubmit: (submits, control) => void (submits === stopAt && control.stop()),
      });
      assert.equal(first.result.reason, 'stopped');
      assert.ok(first.result.steps < straight.result.steps / 2, 'in the middle of the first epoch');
      const checkpoint = first.files.get('checkpoint.bin');
      const rest = await trainHere(made, { model: small, training, backend: onCpu(), checkpoint, dataBudget });
      const found = series(rest.points, 'train_loss');
      assert.equal(rest.result.steps, straight.result.steps);
      if (dataBudget === 1e9) assert.deepEqual(found, losses);
      else assert.equal(found[0], losses[0]);
    }
  });
}

test('without the setting rows stay in the order they had', async () => {
  const run = async (bucketing: boolean | undefined) => {
    const { log, points } = await trainHere(table, { model: small, training: { ...training, bucketing } });
    assert.ok(!log.some(({ message }) => message.includes('padding')));
    return series(points, 'step_loss');
  };
  assert.deepEqual(await run(undefined), await run(false));
});

test('a batch that is cut until it fits has its rows counted once', async () => {
  const shardsRead = async (refusals: number): Promise<{ readonly read: number; readonly parts: number }> => {
    let [read, left] = [0, refusals];
    const backend = createReferenceBackend();
    const session = await Session.open({
      backend: {
        ...backend,
        compile: async (plan) => {
          if (left-- > 0) throw new TrainyardError('device.out_of_memory', 'It does not fit.', 'Take less.');
          return backend.compile(plan);
        },
      },
      model: small,
      training: { ...defaultTraining(table.data.counts.train, table.data.task), ...training },
      data: table.data,
      readShard: (shard) => ((read += 1), table.readShard(shard)),
      dataBudget: 1e9,
    });
    session.close();
    return { read, parts: session.accumulate };
  };
  const once = await shardsRead(0);
  assert.ok(once.read > 0 && once.parts === 1);
  assert.deepEqual(await shardsRead(2), { read: once.read, parts: 4 });
});
