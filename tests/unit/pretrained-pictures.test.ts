// Picture models of torchvision and timm, read by their names: they answer as their own library does, and what does not fit is named.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { openSafetensors, type ByteSource } from '../../engine/pretrained/safetensors-file.ts';
import type { FoundModel, Pretrained, ReadOptions } from '../../engine/pretrained/pretrained.ts';
import { readPretrained } from '../../engine/pretrained/read.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import type { PreparedData } from '../../engine/protocol/data.ts';
import { encodeSafetensors, type SafeTensor } from '../../engine/train/safetensors.ts';
import { networkOutputs } from '../../engine/train/predict.ts';
import { probabilities } from '../../engine/train/metrics.ts';
import { fileOf, goldenNets, goldenPixels, goldenSide, tensorsOf } from '../golden/pretrained-pictures.ts';

async function found(file: Uint8Array): Promise<FoundModel> {
  const source: ByteSource = {
    name: 'net.safetensors',
    size: file.length,
    read: async (start, end) => file.slice(start, end),
  };
  return { name: source.name, tensors: await openSafetensors(source), texts: {} };
}

const read = async (file: Uint8Array, options: ReadOptions = {}): Promise<Pretrained> =>
  readPretrained(await found(file), options);

async function answers(net: Pretrained): Promise<Float64Array> {
  const side = goldenSide;
  const input = { kind: 'image', channels: 3, height: side, width: side } as const;
  const { mean, deviation } = net.preprocessing as { mean: number[]; deviation: number[] };
  const data = {
    ...{ handle: '', input, output: net.output, task: net.task, counts: { train: 0, validation: 0, test: 2 } },
    ...{ width: 3 * side * side, targets: 1, shardStarts: [0, 2], normalization: { mean, deviation } },
    ...{ classCounts: [], preprocessing: null, warnings: [] },
  } satisfies PreparedData;
  const { outputs } = await networkOutputs(
    { ...net, input, training: defaultTraining(1, net.task, input, net.model) },
    createCpuBackend({ threads: 1 }),
    data,
    async () => ({ rows: 2, x: goldenPixels(), y: new Float32Array(2) }),
    1e9,
  );
  return probabilities(outputs, 2, 5);
}

const titles: Readonly<Record<string, string>> = {
  resnet18: "ResNet-18 by torchvision's names",
  resnet34: "ResNet-34 by torchvision's names",
  resnet50: "ResNet-50 by torchvision's names",
  mobilenet_v2: "MobileNetV2 by torchvision's names",
  'timm/resnet18': "ResNet-18 by torchvision's names",
  'timm/mobilenet_v2': "MobileNetV2 by timm's names",
};

for (const [name, golden] of Object.entries(goldenNets)) {
  test(`${name} is told by its tensors and answers as PyTorch does`, async () => {
    const net = await read(fileOf(golden));
    assert.equal(net.title, titles[name]);
    assert.equal(net.head, true);
    assert.match(net.said.join('|'), /^How its pictures were normalised is not said in the file: [^|]*$/);
    const got = await answers(net);
    const worst = Math.max(...golden.probabilities.flat().map((wanted, i) => Math.abs(wanted - got[i])));
    assert.ok(worst < 2e-5, `${worst} from PyTorch's probabilities`);
  });
}

const resnet = (): Record<string, SafeTensor> => tensorsOf(goldenNets.resnet18);
const saved = (tensors: Record<string, SafeTensor>): Uint8Array => encodeSafetensors({ tensors, metadata: {} });
const refused = (work: Promise<unknown>, code: string, message: RegExp): Promise<void> =>
  assert.rejects(work, (error: Error & { code: string }) => {
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

test('missing and misshapen tensors are named with what is wanted and what is found', async () => {
  const { 'layer3.1.conv2.weight': _, ...rest } = resnet();
  const tensors = { ...rest, 'bn1.bias': { shape: [32], data: new Float32Array(32) } };
  await refused(
    read(saved(tensors)),
    'input.weights',
    /^net\.safetensors does not fit: bn1\.bias is \[32\], the model needs \[64\]; layer3\.1\.conv2\.weight is missing, the model needs \[256, 256, 3, 3\]\.$/,
  );
  await refused(
    read(fileOf(goldenNets.resnet18), { architecture: 'resnet50' }),
    'input.weights',
    /and \d+ more of 267/,
  );
});

test('an architecture that is not read is named, with those that are', async () => {
  await refused(
    read(fileOf(goldenNets.resnet18), { architecture: 'vgg16' }),
    'input.architecture',
    /The architecture “vgg16” is not read\./,
  );
  await refused(
    read(saved({ 'encoder.weight': { shape: [2], data: new Float32Array(2) } })),
    'input.architecture',
    /cannot be told by its 1 tensors \(encoder\.weight\)/,
  );
});

test('a net with more parts than one whose tensors it has is not taken for it', async () => {
  const excited = { 'layer1.0.se.fc1.weight': { shape: [4, 64, 1, 1], data: new Float32Array(256) } };
  await refused(
    read(saved({ ...resnet(), ...excited })),
    'input.architecture',
    /^net\.safetensors is no ResNet-18, whose tensors it has: there is 1 more in its blocks \(layer1\.0\.se\.fc1\.weight\)\.$/,
  );
});

test('a body without its head is something to begin with; what no layer takes is said', async () => {
  const { 'fc.weight': _, 'fc.bias': __, ...body } = resnet();
  const counter = { shape: [1], data: new Float32Array(1) };
  const net = await read(saved({ ...body, 'bn1.num_batches_tracked': counter, 'extra.weight': counter }));
  assert.equal(net.head, false);
  assert.ok(Object.keys(net.weights).every((name) => !name.startsWith('output') && !name.startsWith('58.')));
  assert.equal(net.said.at(-1), '1 tensor of the file is not used: extra.weight.');
});

test('names of classes are those given, one an output; a weight that is no number is refused', async () => {
  const file = fileOf(goldenNets.resnet18);
  const named = await read(file, { classes: ['ant', 'bee', 'cat', 'dog', 'eel'] });
  assert.deepEqual(named.output, { kind: 'classes', classes: ['ant', 'bee', 'cat', 'dog', 'eel'] });
  await refused(
    read(file, { classes: ['ant', 'bee'] }),
    'input.classes',
    /tells 5 classes apart, the names given are 2/,
  );
  const tensors = resnet();
  tensors['conv1.weight'].data[7] = NaN;
  await refused(read(saved(tensors)), 'input.weights', /value 7 of tensor conv1\.weight is NaN/);
});

test('a folder of timm says its architecture, its classes and how its pictures were normalised', async () => {
  const net = await found(fileOf(goldenNets['timm/resnet18']));
  const inFolder = (config: object, options: ReadOptions = {}): Promise<Pretrained> =>
    readPretrained({ ...net, texts: { 'config.json': JSON.stringify(config) } }, options);
  const [mean, std] = [
    [0.5, 0.4, 0.3],
    [0.2, 0.25, 0.3],
  ];
  const architecture = 'resnet18';
  const cfg = { mean, std, input_size: [3, 160, 192], classifier: 'fc' };
  const label_names = ['ant', 'bee', 'cat', 'dog', 'eel'];
  const read = await inFolder({ architecture, num_classes: 5, pretrained_cfg: cfg, label_names });
  const kept = read.preprocessing as Record<string, unknown>;
  assert.deepEqual([kept['mean'], kept['deviation'], kept['height'], kept['width']], [mean, std, 160, 192]);
  assert.deepEqual([kept['classes'], read.said], [label_names, []]);
  const old = await inFolder({ architecture, mean, std });
  assert.deepEqual((old.preprocessing as { mean: unknown }).mean, mean);
  assert.match((await inFolder({ architecture })).said[0], /normalised is not said/);
  // As the command line asks that was told no architecture.
  for (const options of [{}, { architecture: undefined }])
    await assert.rejects(inFolder({ architecture: 'vit_base' }, options), /The architecture “vit_base” is not read/);
  await assert.rejects(
    inFolder({ architecture, pretrained_cfg: { mean: 'x' } }),
    /config\.json cannot be used: .*mean/,
  );
});
