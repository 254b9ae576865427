// What the model file of a linear model holds besides its settings.

import { z } from 'zod';
import type { ModelFile } from '../../protocol/model-file.ts';
import type { LinearSettings } from './declaration.ts';

export interface LinearModelFile extends ModelFile {
  readonly learner: 'linear';
  readonly linear: LinearSettings;
  /** Of the run. */
  readonly seed: number;
  /** That the weights were fitted with. */
  readonly penalty: number;
  /** Pictures: side of the grid of squares they are averaged to; 0 = a table. */
  readonly grid: number;
}

export const file = {
  seed: z.int().min(0),
  penalty: z.number().min(0),
  grid: z
    .int()
    .min(0)
    .max(2 ** 16),
};
