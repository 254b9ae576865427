// The table of all ops. An op without a shape rule, a gradient rule or a lowering does not compile.

import type { OpAttributes } from './attributes.ts';
import type { OpDefinition } from './op.ts';
import { columnOps } from './ops/columns.ts';
import { convolutionOps } from './ops/convolution.ts';
import { denseOps } from './ops/dense.ts';
import { elementwiseOps } from './ops/elementwise.ts';
import { embeddingOps } from './ops/embedding.ts';
import { lossOps } from './ops/losses.ts';
import { normalizationOps } from './ops/normalization.ts';
import { poolingOps } from './ops/pooling.ts';
import { sourceOps } from './ops/sources.ts';

export const ops: { readonly [K in keyof OpAttributes]: OpDefinition<OpAttributes[K]> } = {
  ...sourceOps,
  ...denseOps,
  ...convolutionOps,
  ...poolingOps,
  ...elementwiseOps,
  ...columnOps,
  ...embeddingOps,
  ...normalizationOps,
  ...lossOps,
};
