// Pictures as sequences of patches, as the vision transformer reads them (Dosovitskiy et al. 2021, arXiv 2010.11929): a convolution whose windows
// touch each other, and in front a learned vector that may gather what there is to say of the picture. D values a patch.

import { ModelError } from '../errors.ts';
import { defineLayer, layerFields } from '../layer.ts';

/** Patches along a side; what is left over is not read. */
const along = (side: number, size: number): number => Math.floor(side / size);

export const patchEmbedding = defineLayer({
  type: 'patch_embedding',
  title: 'Patch embedding',
  summary: 'Cuts a picture into patches and makes a vector of each: a sequence that attention can read.',
  group: 'image',
  positions: 'begins',
  fields: layerFields({
    size: {
      kind: 'number',
      whole: true,
      label: 'Patch size',
      help: 'pixels of a side of a patch',
      minimum: 1,
      maximum: 1024,
      default: 4,
    },
    dimensions: {
      kind: 'number',
      whole: true,
      label: 'Dimensions',
      help: 'values a patch',
      minimum: 1,
      maximum: 65536,
      default: 192,
    },
    classToken: {
      kind: 'switch',
      label: 'Class token',
      help: 'puts a learned vector in front, to be taken as the first position at the end',
      default: false,
    },
  }),
  shape: ([input], { size, dimensions, classToken }, { positions }) => {
    if (positions !== null || input.length !== 3) {
      throw new ModelError(
        `Patch embedding needs a picture, got ${input.join(' × ')}.`,
        'Put it behind the input or a Conv 2D layer, or add a Reshape layer before it.',
      );
    }
    const [, height, width] = input;
    if (size > Math.min(height, width)) {
      throw new ModelError(
        `Patches of ${size} pixels are larger than the picture of ${width} × ${height}.`,
        `Set Patch size to ${Math.min(height, width)} or less.`,
      );
    }
    return [along(height, size) * along(width, size) + (classToken ? 1 : 0), dimensions];
  },
  parameters: ([[channels]], { size, dimensions, classToken }) => {
    const initializer = { kind: 'uniform_fan_in', fanIn: channels * size * size } as const;
    return [
      { name: 'weight', shape: [dimensions, channels, size, size], initializer, decay: true },
      { name: 'bias', shape: [dimensions], initializer, decay: false },
      ...(classToken
        ? [
            {
              name: 'class',
              shape: [1, dimensions],
              initializer: { kind: 'normal', deviation: 0.02 },
              decay: false,
            } as const,
          ]
        : []),
    ];
  },
  build: ({ graph, args: { size, dimensions, classToken }, tensor }, [x]) => {
    const whole = { stride: size, padding: 0, dilation: 1, groups: 1, activation: 'none', slope: 0 } as const;
    const patches = graph.one('conv2d', [x, tensor('weight'), tensor('bias')], whole);
    const [batch, , rows, columns] = graph.shape(patches);
    const flat = graph.one('reshape', [patches], { shape: [batch, dimensions, rows * columns] });
    const sequence = graph.one('transpose', [flat], { permutation: [0, 2, 1] });
    if (!classToken) return sequence;
    // Once a row: added to nothing of a first patch, since formats of export know no number of rows to repeat it for.
    const patch = graph.one('slice', [sequence], { axis: 1, offset: 0, size: 1 });
    const nothing = graph.one('expand', [patch], { shape: [batch, 1, dimensions], scale: 0 });
    const first = graph.one('add', [nothing, tensor('class')], {});
    return graph.one('concat', [first, sequence], { axis: 1 });
  },
  flops: ([[channels, height, width]], _, { size, dimensions }) =>
    2 * along(height, size) * along(width, size) * channels * size * size * dimensions,
});
