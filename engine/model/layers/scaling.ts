// Layers in front of a network for tables: robust scaling of its columns, and a trained factor for each of them (Holzmüller et al.
// 2024, "Better by default", NeurIPS). n columns.

import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type LayerSurroundings } from '../layer.ts';

function onColumns({ onColumns: fits }: LayerSurroundings, what: string): void {
  if (fits) return;
  throw new ModelError(
    `${what} works on the columns of the table.`,
    'Move it to the front, behind nothing but Robust scale and Scale columns.',
  );
}

/** Fitted to the training rows before the training begins: see engine/train/fitted-states.ts. */
export const robustScale = defineLayer({
  type: 'robust_scale',
  title: 'Robust scale',
  summary: 'Takes the median off each number, divides by the range of its middle half and bends outliers smoothly in.',
  group: 'normalisation',
  byColumn: true,
  fields: layerFields({
    limit: {
      kind: 'number',
      label: 'Limit',
      zero: 'no limit',
      help: 'no value gets beyond it; 0 = no limit',
      minimum: 0,
      maximum: 1000,
      default: 3,
    },
  }),
  shape: ([input], _, around) => {
    onColumns(around, 'Robust scale');
    return input;
  },
  states: ([input]) => [
    { name: 'shift', shape: input, initial: 0, fitted: 'robust_shift' },
    { name: 'scale', shape: input, initial: 1, fitted: 'robust_scale' },
  ],
  build: ({ graph, args, tensor }, [x]) => {
    const scaled = graph.one('add', [graph.one('mul', [x, tensor('scale')], {}), tensor('shift')], {});
    if (args.limit === 0) return scaled;
    return graph.one('activation', [scaled], { activation: 'soft_clip', slope: 1 / args.limit });
  },
  flops: ([input]) => 7 * sizeOf(input),
});

export const scaleColumns = defineLayer({
  type: 'scale',
  title: 'Scale columns',
  summary: 'Multiplies each value by a factor that is learned: so a network finds out which columns matter.',
  group: 'core',
  byColumn: true,
  fields: layerFields({
    rate: {
      kind: 'number',
      label: 'Rate factor',
      help: 'how much faster than others the factors learn',
      minimum: 0.001,
      maximum: 1000,
      default: 6,
    },
  }),
  shape: ([input]) => input,
  parameters: ([input], { rate }) => [
    { name: 'weight', shape: input, initializer: { kind: 'constant', value: 1 }, decay: false, rate },
  ],
  build: ({ graph, tensor }, [x]) => graph.one('mul', [x, tensor('weight')], {}),
  flops: ([input]) => sizeOf(input),
});
