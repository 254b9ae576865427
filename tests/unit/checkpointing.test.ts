// Gradient checkpointing: the same bits with less memory on every backend, with masks, running statistics, shortcuts and parts.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { recompute } from '../../engine/graph/recompute.ts';
import { segmentsOf } from '../../engine/graph/segments.ts';
import { keptBy } from '../../engine/hardware/costs/from-model.ts';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import { planMemory } from '../../engine/hardware/memory-forecast.ts';
import { mlp } from '../../engine/model/presets.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import type { ModelSpec } from '../../engine/model/spec.ts';
import { gpt, textClassifier, type TextInput } from '../../engine/model/text-presets.ts';
import { buildTrainingGraph } from '../../engine/plan/step.ts';
import { decodeSafetensors } from '../../engine/train/safetensors.ts';
import { makeImages } from '../support/images.ts';
import { shortcutNetwork } from '../support/models.ts';
import { sharedGpu } from '../support/shared-gpu.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere, type TrainTestOptions } from '../support/train.ts';
import { missingGpu } from '../support/webgpu.ts';

const skip = await missingGpu();
const texts = makeTable({ rows: 120, numeric: 0, classes: 3, texts: [{ vocabulary: 9, length: 7 }] });
const pictures = makeImages({ rows: 60, channels: 1, height: 10, width: 10, classes: 3 });
const numbers = makeTable({ rows: 230, numeric: 4, classes: 3 });
const residual = shortcutNetwork(4);
const shape = { blocks: 3, width: 16, heads: 2, positions: 0 } as const;

const plainGpt = gpt('gpt', shape)(texts.data.input as TextInput);
const droppingGpt: ModelSpec = {
  ...plainGpt,
  layers: plainGpt.layers.map((layer) => (layer.type === 'attention' ? { ...layer, dropout: 0.2 } : layer)),
};

const models = [
  ['a deep MLP with dropout', numbers, mlp([32, 32, 32, 32], { dropout: 0.3 })],
  ['a shortcut with batch norm and dropout', pictures, residual],
  ['a text classifier', texts, textClassifier('small', shape)(texts.data.input as TextInput)],
  ['a GPT that drops weights of attention', texts, droppingGpt],
] as const;

const backends: readonly [name: string, open: () => Promise<Backend>, skip?: string | false][] = [
  ['the reference', async () => createReferenceBackend()],
  ['WebAssembly on two threads', async () => createCpuBackend({ threads: 2, native: false })],
  ['the addon', async () => createCpuBackend({ threads: 2 })],
  ['the GPU', sharedGpu, skip],
];

/** Losses of all steps, then weights and running statistics at the end; and how many calls a step is. */
async function outcome(
  made: typeof texts | typeof pictures,
  backend: Backend,
  options: Omit<TrainTestOptions, 'backend'>,
): Promise<{ readonly numbers: readonly number[]; readonly calls: number }> {
  let calls = 0;
  const compile: Backend['compile'] = (plan) => {
    calls = plan.programs['train@16'].calls.length;
    return backend.compile(plan);
  };
  const { points, files } = await trainHere(made, { ...options, backend: { ...backend, compile } });
  const { tensors } = decodeSafetensors(files.get('best.safetensors')!);
  await backend.close();
  const losses = series(points, 'step_loss');
  assert.ok(losses.length >= 6 && losses.every(Number.isFinite));
  return { numbers: [...losses, ...Object.values(tensors).flatMap(({ data }) => [...data])], calls };
}

for (const [name, open, without] of backends) {
  for (const [what, made, model] of models) {
    test(`${what} has the same bits with checkpointing, on ${name}`, { skip: without }, async () => {
      const training = { epochs: 2, batch: 16, seed: 3 };
      const kept = await outcome(made, await open(), { model, training });
      const again = await outcome(made, await open(), { model, training: { ...training, checkpointing: true } });
      assert.ok(again.calls > kept.calls, 'something is computed again');
      assert.deepEqual(again.numbers, kept.numbers);
    });
  }
}

test('a batch in parts is computed again part by part, and a run goes on with it or without', async () => {
  const [, made, model] = models[0];
  const open = (): Backend => createCpuBackend({ threads: 1 });
  const training = { epochs: 3, batch: 64, seed: 5, accumulate: 4 };
  const whole = await trainHere(made, { model, training, backend: open() });
  const stopped = await trainHere(made, {
    model,
    training: { ...training, checkpointing: true },
    backend: open(),
    onSubmit: (submits, control) => {
      if (submits === 1) control.stop();
    },
  });
  assert.ok(stopped.result.steps < whole.result.steps);
  const checkpoint = stopped.files.get('checkpoint.bin')!;
  const rest = await trainHere(made, { model, training, backend: open(), checkpoint });
  assert.deepEqual(rest.files.get('best.safetensors'), whole.files.get('best.safetensors'));
});

const counts = { train: 640, validation: 80, test: 80 };
for (const [name, batch, share] of [
  ['resnet20', 32, 0.5],
  ['mobilenet', 32, 0.7],
  ['bert-mini', 32, 0.6],
] as const) {
  test(`${name} takes less than ${share} of its memory, as forecast`, async () => {
    const { model } = subjectNamed(name, { batch });
    const training = { ...model!.training, checkpointing: true };
    const backend = createCpuBackend({ threads: 1 });
    const bytes: number[] = [];
    for (const asked of [model!, { ...model!, training }]) {
      const { plan, memory } = planMemory(asked, counts, { kind: 'cpu', cores: 1 });
      const executable = await backend.compile(plan);
      assert.equal(executable.bytes, memory.total);
      executable.dispose();
      bytes.push(memory.total);
    }
    await backend.close();
    assert.ok(bytes[1] < share * bytes[0], `${bytes[1]} of ${bytes[0]}`);
  });
}

test('of ResNet-20 shortcuts are kept where blocks meet, and nothing is computed again twice', () => {
  const { model } = subjectNamed('resnet20', { batch: 8 });
  const { spec, input, output, training } = model!;
  const resolved = resolveModel(spec, input, 10);
  const options = {
    ...{ model: resolved, output, training, stepCapacity: 1, predictSteps: 1 },
    data: { rows: 8, width: 3072, targets: 1 },
  };
  const { graph, gradients } = buildTrainingGraph(options, 8);
  const { segments } = segmentsOf(graph);
  assert.ok(segments.length >= 3, String(segments.length));
  const { graph: again } = recompute(graph, [...gradients.values()]);
  const products = (of: typeof graph, phase: string) =>
    of.nodes.filter(({ op, origin }) => op === 'conv2d' && origin.phase === phase).length;
  const forward = products(graph, 'forward');
  assert.equal(products(again, 'forward'), forward);
  assert.ok(products(again, 'backward') - products(graph, 'backward') < forward);
  const values = (of: typeof graph): number => keptBy(of).reduce((sum, layer) => sum + layer.values, 0);
  assert.ok(values(again) < 0.3 * values(graph), `${values(again)} of ${values(graph)}`);
});

test('a batch that does not fit is told what checkpointing would save, where it would', async () => {
  const rows = makeTable({ rows: 2300, numeric: 4, classes: 3 });
  const training = { epochs: 1, batch: 1840 };
  const open = (memoryLimit: number): Backend => createCpuBackend({ threads: 1, memoryLimit });
  const deep = mlp([64, 64, 64, 64, 64, 64, 64, 64]);
  const words = /Gradient checkpointing \(--checkpointing\) would save \d+ of \d+ MB\./;
  const { log } = await trainHere(rows, { model: deep, training, backend: open(4.5e6) });
  const said = log.map(({ message }) => message).join('\n');
  assert.match(said, /is computed in \d parts/);
  assert.match(said, words);
  const refused = (model: ModelSpec, checkpointing: boolean) =>
    trainHere(rows, { model, training: { ...training, checkpointing }, backend: open(1e5) }).then(
      () => assert.fail('it fits'),
      (error: unknown) => error as { readonly code: string; readonly hint: string },
    );
  const { code, hint } = await refused(deep, false);
  assert.equal(code, 'device.out_of_memory');
  assert.match(hint, words);
  assert.doesNotMatch((await refused(deep, true)).hint, words);
  assert.doesNotMatch((await refused(mlp([8]), false)).hint, words);
});
