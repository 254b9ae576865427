// What a training step costs: every call with its layer and its way, and models of the literature by their published counts.

import assert from 'node:assert/strict';
import test from 'node:test';
import { sumOf } from '../../engine/hardware/costs/costs.ts';
import { classOutput, familiarNames, subjectNamed, subjectOf } from '../../engine/hardware/costs/familiar.ts';
import { callCosts, costsOfModel } from '../../engine/hardware/costs/from-model.ts';
import { widened, widestOf } from '../../engine/hardware/costs/widen.ts';
import { mlp } from '../../engine/model/presets.ts';

const near = (actual: number, expected: number, share: number): void =>
  assert.ok(Math.abs(actual / expected - 1) <= share, `${actual} is not within ${share} of ${expected}`);

const table = (width: number) => ({ kind: 'table', width, numeric: width, embeddings: [] }) as const;

test('familiar models have their published parameters', () => {
  const counts = Object.fromEntries(familiarNames.map((name) => [name, subjectNamed(name, {}).costs(2).parameters]));
  assert.equal(counts.resnet18, 11_689_512);
  assert.equal(counts.resnet50, 25_557_032);
  assert.equal(counts['bert-base'], 109_482_240);
  assert.equal(counts['bert-large'], 335_141_888);
  assert.equal(counts.gpt2, 124_439_808);
  near(counts.gpt3, 175e9, 0.003);
});

test('ResNet-50 multiplies 4.089 G times forward, three times as much in training', () => {
  const { calls, flopsPerExample } = subjectNamed('resnet50', {}).costs(2);
  const products = calls.filter(({ kind }) => kind === 'product' || kind === 'convolution');
  const forward = sumOf(products.filter(({ phase }) => phase === 'forward'));
  near(forward.flops / 2 / 2, 4.089e9, 0.01);
  near(flopsPerExample, 24.5e9, 0.03);
  for (const phase of ['forward', 'backward', 'update'])
    assert.ok(
      calls.some((call) => call.phase === phase),
      phase,
    );
});

test('ResNet-50 keeps 85.9 MB of activations an image', () => {
  const { activations, batch } = subjectNamed('resnet50', {}).costs(8);
  const values = activations.reduce((sum, layer) => sum + layer.values, 0) / batch;
  const indices = activations.reduce((sum, layer) => sum + layer.indexBytes, 0) / batch;
  near(values, 21.07e6, 0.005);
  near(4 * values + indices, 85.9e6, 0.005);
});

test('the MLP 784-256-128-10 at batch 64: its parameters, its work and what it keeps', () => {
  const subject = subjectOf('mlp', mlp([256, 128]), table(784), classOutput(10), { batch: 64 });
  const { parameters, calls, activations } = subject.costs(64);
  assert.equal(parameters, 235_146);
  // 64.45 MFLOP: nobody asks for the gradient of the input.
  near(sumOf(calls.filter(({ kind }) => kind === 'product')).flops, 64.45e6, 0.001);
  const kept = activations.filter(({ layer }) => layer !== 'data').map(({ layer, values }) => [layer, values]);
  assert.deepEqual(Object.fromEntries(kept), { 0: 64 * 256, 1: 64 * 128, loss: 64 * 10 });
  assert.equal(4 * activations.reduce((sum, layer) => sum + layer.values, 0), 301_568);
});

test('every call names its layer: a layer and the sum agree with the plan', () => {
  const { calls } = subjectOf('mlp', mlp([256, 128]), table(784), classOutput(10), { batch: 64 }).costs(64);
  const layers = new Set(calls.map(({ layer }) => layer));
  assert.deepEqual([...layers].sort(), ['0', '1', '2', 'data', 'loss', 'update']);
  const first = calls.filter(({ layer, kind }) => layer === '0' && kind === 'product');
  assert.deepEqual(
    first.map(({ phase, kernel, flops }) => [phase, kernel, flops]),
    [
      ['forward', 'matmul', 2 * 64 * 784 * 256],
      // With the gradient of the bias.
      ['backward', 'dense_weight_grad', 2 * 64 * 784 * 256 + 64 * 256],
    ],
  );
});

test('a training token of GPT-2 takes 6 a parameter and attention', () => {
  const { flopsPerExample, parameters } = subjectNamed('gpt2', {}).costs(1);
  near(flopsPerExample / 1024, 6 * parameters + 12 * 12 * 768 * 1024, 0.03);
});

test('a model too large to plan is refused with what to do', () => {
  const wide = (units: number) =>
    subjectOf('wide', mlp([units, units]), table(20), classOutput(10), { batch: 64 }).costs(64);
  assert.throws(() => wide(65_536), { message: /4,.* parameters: too many to plan/, hint: /narrower/ });
  const tall = subjectNamed('resnet50', { input: [3, 4096, 4096] });
  assert.throws(() => tall.costs(1024), { message: /at batch 1024: too many to plan/, hint: /smaller batch/ });
});

test('the CPU: small grids fill their vectors, starts count, gathered weights and planes cost what they do', () => {
  const conv = (kernel: string, of: object) => {
    const usual = { batch: 8, channels: 256, filters: 256, kernel: 3, stride: 1, padding: 1, dilation: 1, groups: 1 };
    const params = { ...usual, height: 8, width: 8, ...of } as never;
    const [cost] = callCosts({
      calls: [{ kernel, params, inputs: [], outputs: [], origin: { layer: '0', phase: 'forward' } }],
    });
    return { ...cost.cpu!, waste: cost.cpu!.flops / cost.flops };
  };
  const direct = { dilation: 2, padding: 2 };
  const near = (found: number, wanted: number): void =>
    assert.ok(Math.abs(found / wanted - 1) < 0.02, `${found} ${wanted}`);
  // Eight images of 4 × 4 with their borders in one band: 118 positions in 128 for 32. Rows of 8 between borders of 4: 92 of 96 for 64.
  near(conv('conv2d', { height: 2, width: 2 }).waste, 4);
  near(conv('conv2d', direct).waste, 96 / 64);
  // A depth of 9 starts its tiles more often than it sums. Two images of 10 × 10 share a band: 178 positions in 192.
  near(conv('conv2d', { channels: 1 }).waste, (96 / 64) * (1 + 32 / 9));
  // Weights that cannot be packed once are gathered for every image: 2.4 million; 590,000 can.
  const many = { ...direct, channels: 512, filters: 512 };
  assert.ok(conv('conv2d_input_grad', many).streamed > 10 * conv('conv2d', many).streamed);
  assert.equal(conv('conv2d_input_grad', direct).streamed, conv('conv2d', direct).streamed);
  assert.equal(conv('conv2d_input_grad', { ...direct, channels: 64, filters: 64 }).streamed, 8 * 4 * 64 * 64 * 9);
  // 36 products for the 144 of a tile, the transforms of 85 operations an element of x and y, and those of the weights.
  for (const kernel of ['conv2d', 'conv2d_input_grad', 'conv2d_weight_grad']) {
    near(conv(kernel, {}).waste, 36 / 144 + (85 / 18) * (2 / 256) + 400 / (8 * 8 * 8 * 18));
  }
  assert.ok(conv('conv2d', { channels: 8 }).waste > 1 && conv('conv2d', { stride: 2 }).waste > 1);
  // Many small images read and copy the weights of one tap once a band: seven of 6 × 6, or 28 of 3 × 3.
  const point = { kernel: 1, padding: 0, channels: 1024, filters: 1024, batch: 28 };
  const [six, three] = [6, 3].map(
    (side) => conv('conv2d_input_grad', { ...point, height: side, width: side }).streamed,
  );
  assert.equal(six, 4 * three);
  // Kernels that go row by row begin each: the same elements in rows of 4 begin five times as many as in rows of 20.
  const moved = (d4: number, d5: number): number =>
    conv('broadcast_binary', { operation: 0, d0: 1, d1: 1, d2: 1, d3: 1, d4, d5 }).streamed;
  assert.equal(moved(500, 4), 5 * moved(100, 20));
  // Small planes of a depthwise convolution cost about the same, however small.
  const plane = (height: number, width: number, more = {}): number =>
    conv('conv2d', { groups: 256, height, width, ...more }).flops;
  const five = { kernel: 5, padding: 2 };
  assert.ok(plane(2, 2, five) > plane(4, 4, five) / 1.5 && plane(32, 32, five) > 5 * plane(8, 8, five));
  // Those of 3 × 3 go by strips of 16 columns, and threads share planes instead of images.
  near(plane(8, 3), plane(8, 16));
  // Strided windows are summed where results are; the gradient of the weights adds nine sums a row, and reads planes that lie far apart.
  near(plane(16, 16, { ...five, stride: 2 }) / plane(8, 8, five), 8 / 6);
  const weights = conv('conv2d_weight_grad', { groups: 256, height: 8, width: 8 });
  assert.ok(weights.flops > 1.3 * plane(8, 8) && weights.streamed > weights.from && weights.from > 2 ** 20);
  assert.equal(conv('conv2d_weight_grad', { groups: 256, height: 2, width: 2 }).streamed, 0);
  // One tap: rows of the gradient are packed, not spread, in whole tiles of six, and images are summed across.
  const one = { kernel: 1, padding: 0 };
  near(conv('conv2d_weight_grad', { ...one, channels: 48 }).waste, (1 + 32 / 256) * (1 + 16 / 48));
  assert.ok(conv('conv2d_weight_grad', { ...one, channels: 48, stride: 2 }).waste > 2);
  // A mean of a whole plane costs next to its bytes; windows cost a plane, a row and each element under them, gradients more.
  const pool = (kernel: string, of: object) =>
    conv(kernel, { planes: 512, height: 16, width: 16, windowHeight: 3, windowWidth: 3, stride: 1, padding: 1, ...of })
      .streamed / 512;
  const whole = { windowHeight: 16, windowWidth: 16, padding: 0 };
  assert.ok(pool('average_pool', whole) < 0.1 * pool('average_pool', {}));
  assert.equal(pool('average_pool', {}), 7200 + 880 * 16 + 6 * 9 * 256);
  assert.equal(pool('max_pool_grad', {}), 2.5 * pool('max_pool', {}));
  assert.equal(pool('max_pool', { windowHeight: 2, windowWidth: 2, stride: 2, padding: 0 }), 5600);
  near(plane(8, 17), plane(16, 16));
  assert.equal(conv('conv2d', { groups: 256, height: 8, width: 8 }).pieces, undefined);
});

test('wider and narrower: units and filters by the same factor, groups of depthwise convolutions with them', () => {
  const spec = subjectNamed('mobilenet', {}).model!.spec;
  assert.equal(widestOf(widened(spec, 0.5)), widestOf(spec) / 2);
  const model = { ...subjectNamed('mobilenet', {}).model!, spec: widened(spec, 0.5) };
  assert.ok(costsOfModel(model).parameters < subjectNamed('mobilenet', {}).costs(32).parameters / 3);
  assert.equal(widestOf({ version: 1, layers: [{ type: 'output' }] }), 0);
});

test('unknown names and inputs that do not fit are refused', () => {
  assert.throws(() => subjectNamed('resnet99', {}), /no model “resnet99”/);
  assert.throws(() => subjectNamed('resnet50', { input: [20] }), /takes images/);
  assert.throws(() => subjectNamed('gpt2', { input: [2048] }), /up to 1024/);
});
