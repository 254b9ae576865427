// The table of all ops. An op without a shape rule, a gradient rule or a lowering does not compile.

import type { OpAttributes } from './attributes.ts';
import type { OpDefinition } from './op.ts';
import { arithmeticOps } from './ops/arithmetic.ts';
import { attentionOps } from './ops/attention.ts';
import { convolutionOps } from './ops/convolution.ts';
import { denseOps } from './ops/dense.ts';
import { elementwiseOps } from './ops/elementwise.ts';
import { embeddingOps } from './ops/embedding.ts';
import { lossOps } from './ops/losses.ts';
import { movementOps } from './ops/movement.ts';
import { normalizationOps } from './ops/normalization.ts';
import { poolingOps } from './ops/pooling.ts';
import { recurrenceOps } from './ops/recurrence.ts';
import { sequenceOps } from './ops/sequences.ts';
import { sourceOps } from './ops/sources.ts';

export const ops: { readonly [K in keyof OpAttributes]: OpDefinition<OpAttributes[K]> } = {
  ...sourceOps,
  ...denseOps,
  ...convolutionOps,
  ...poolingOps,
  ...elementwiseOps,
  ...arithmeticOps,
  ...movementOps,
  ...attentionOps,
  ...embeddingOps,
  ...sequenceOps,
  ...recurrenceOps,
  ...normalizationOps,
  ...lossOps,
};
