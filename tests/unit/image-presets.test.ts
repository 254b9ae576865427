// The image presets are the nets of the literature: parameters exactly, work within a percent of the published figures.

import assert from 'node:assert/strict';
import test from 'node:test';
import { layers as registry } from '../../engine/model/registry.ts';
import { presetNamed, presets, specOf } from '../../engine/model/presets.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import type { InputSpec } from '../../engine/model/spec.ts';
import { sizeOf } from '../../engine/graph/op.ts';

interface Published {
  readonly preset: string;
  readonly side: number;
  readonly channels?: number;
  readonly classes: number;
  readonly parameters: number;
  /** Million multiply-adds of convolutions and dense layers; null where none are published. */
  readonly megaMultiplyAdds: number | null;
  readonly source: string;
}

const published: readonly Published[] = [
  {
    preset: 'vit-tiny',
    side: 224,
    classes: 1000,
    parameters: 5_717_416,
    megaMultiplyAdds: 1_258,
    source: 'timm, vit_tiny_patch16_224: 5.72 million parameters, 1.26 GMACs (fvcore)',
  },
  {
    preset: 'lenet',
    side: 28,
    channels: 1,
    classes: 10,
    parameters: 61_706,
    megaMultiplyAdds: 0.416,
    source: 'LeNet-5 with full connections between its layers: 0.06 M parameters; Dive into Deep Learning, section 7.6',
  },
  {
    preset: 'resnet20',
    side: 32,
    classes: 10,
    // 269,722 with shortcuts that copy (He et al. 2016, table 6: 0.27 M) + 2,752 for two projections with batch norm.
    parameters: 269_722 + 2_752,
    megaMultiplyAdds: 40.8,
    source:
      'He et al. 2016; 40.6 M multiply-adds with shortcuts that copy (Idelbayev, pytorch_resnet_cifar10) + 0.26 M',
  },
  {
    preset: 'resnet32',
    side: 32,
    classes: 10,
    parameters: 464_154 + 2_752,
    megaMultiplyAdds: 69.1,
    source: 'He et al. 2016, table 6: 0.46 M; 68.9 M multiply-adds + 0.26 M',
  },
  {
    preset: 'resnet56',
    side: 32,
    classes: 10,
    parameters: 853_018 + 2_752,
    megaMultiplyAdds: 125.8,
    source: 'He et al. 2016, table 6: 0.85 M; 125.5 M multiply-adds + 0.26 M',
  },
  {
    preset: 'vgg',
    side: 32,
    classes: 10,
    parameters: 9_231_114,
    megaMultiplyAdds: 152.9,
    source:
      'Simonyan & Zisserman 2015, configuration A with batch norm for CIFAR (Liu, pytorch-cifar: 9,231,114; 153 M)',
  },
  {
    preset: 'resnet18',
    side: 224,
    classes: 1000,
    parameters: 11_689_512,
    megaMultiplyAdds: 1814,
    source: 'torchvision resnet18: 11,689,512 parameters, 1.814 G multiply-adds',
  },
  {
    preset: 'resnet18',
    side: 32,
    classes: 10,
    parameters: 11_173_962,
    megaMultiplyAdds: 555.4,
    source: 'Liu, pytorch-cifar: 11,173,962 parameters, 0.56 G multiply-adds',
  },
  {
    preset: 'resnet34',
    side: 224,
    classes: 1000,
    parameters: 21_797_672,
    megaMultiplyAdds: 3664,
    source: 'torchvision resnet34: 21,797,672 parameters, 3.664 G multiply-adds',
  },
  {
    preset: 'resnet50',
    side: 224,
    classes: 1000,
    parameters: 25_557_032,
    megaMultiplyAdds: 4089,
    source: 'torchvision resnet50: 25,557,032 parameters, 4.089 G multiply-adds',
  },
  {
    preset: 'mobilenet-v2',
    side: 224,
    classes: 1000,
    parameters: 3_504_872,
    megaMultiplyAdds: 300.8,
    source: 'torchvision mobilenet_v2: 3,504,872 parameters, 0.301 G multiply-adds',
  },
  {
    preset: 'mobilenet',
    side: 224,
    classes: 1000,
    parameters: 4_231_976,
    megaMultiplyAdds: 568.7,
    source: 'Howard et al. 2017, table 4: 4.2 M parameters, 569 M multiply-adds',
  },
];

const image = (channels: number, height: number, width = height): InputSpec => ({
  kind: 'image',
  channels,
  height,
  width,
});

for (const { preset, side, channels = 3, classes, parameters, megaMultiplyAdds, source } of published) {
  test(`${preset} on ${side} pixels is the published net (${source})`, () => {
    const input = image(channels, side);
    const model = resolveModel(specOf(presetNamed(preset)!, input), input, classes);
    assert.equal(
      model.parameters.reduce((sum, { shape }) => sum + sizeOf(shape), 0),
      parameters,
    );
    if (megaMultiplyAdds === null) return;
    const products = new Set(['conv2d', 'dense', 'output', 'patch_embedding', 'attention']);
    const flops = model.layers
      .filter(({ def }) => products.has(def.type))
      .reduce((sum, layer) => sum + layer.def.flops(layer.inputShapes, layer.outputShape, layer.args), 0);
    const got = flops / 2e6;
    assert.ok(Math.abs(got / megaMultiplyAdds - 1) < 0.01, `${got} M multiply-adds, published ${megaMultiplyAdds} M`);
  });
}

test('every image preset fits images of any usual size', () => {
  const inputs = [image(1, 28), image(3, 32), image(4, 64), image(3, 48, 96), image(3, 256), image(1, 32)];
  for (const preset of presets.filter(({ input }) => input === 'image')) {
    for (const input of inputs) assert.doesNotThrow(() => resolveModel(specOf(preset, input), input, 7), preset.name);
  }
});

test('layers that need images or flat features say what to do', () => {
  const cases: readonly (readonly [layers: readonly Record<string, unknown>[], message: RegExp, hint: RegExp])[] = [
    [[{ type: 'output' }], /needs a flat input, got 3 × 32 × 32/, /Flatten or Global average pool/],
    [[{ type: 'flatten' }, { type: 'conv2d' }, { type: 'output' }], /needs images .* got 3072/, /before Flatten/],
    [[{ type: 'conv2d', groups: 2 }], /2 groups do not divide 3 channels and 32 filters/, /multiples/],
    [[{ type: 'conv2d', kernel: 11, dilation: 8, padding: 0 }], /does not fit into images of 32 × 32/, /smaller/],
    [[{ type: 'max_pool', size: 40, stride: 1 }], /does not fit into images/, /smaller windows/],
    [[{ type: 'max_pool', size: 2, padding: 2 }], /more than half the window/, /1 or less/],
    [[{ type: 'conv_transpose2d', stride: 1, outputPadding: 3 }], /not smaller than stride/, /0 or less/],
    [[{ type: 'patch_embedding', size: 40 }], /Patches of 40 pixels are larger than the picture/, /32 or less/],
    [[{ type: 'flatten' }, { type: 'patch_embedding' }], /needs a picture, got 3072/, /Conv 2D/],
    [[{ type: 'group_norm', groups: 2 }], /2 groups do not divide 3 channels/, /multiple/],
  ];
  assert.ok(registry.has('conv2d'));
  for (const [layers, message, hint] of cases) {
    assert.throws(
      () => resolveModel({ version: 1, layers: layers as never }, image(3, 32), 10),
      (error: Error & { hint?: string }) => message.test(error.message) && hint.test(error.hint ?? ''),
      JSON.stringify(layers),
    );
  }
});
