// All layers a ModelSpec may name. A new layer: one file in layers/, one line here.

import type { LayerDef } from './layer.ts';
import { activation } from './layers/activation.ts';
import { dense, output } from './layers/dense.ts';
import { dropout } from './layers/dropout.ts';
import { add, concat, flatten } from './layers/joins.ts';
import { batchNorm, layerNorm } from './layers/normalization.ts';

const definitions: readonly LayerDef[] = [
  dense,
  activation,
  dropout,
  batchNorm,
  layerNorm,
  add,
  concat,
  flatten,
  output,
];

export const layers: ReadonlyMap<string, LayerDef> = new Map(definitions.map((def) => [def.type, def]));
