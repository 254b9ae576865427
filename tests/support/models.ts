// Networks that tests of several files train: small, with what is easily got wrong.

import type { ModelSpec } from '../../engine/model/spec.ts';

/** Convolutions with batch norm, dropout and a shortcut round them, the last with so many filters. */
export const shortcutNetwork = (filters: number): ModelSpec => ({
  version: 1,
  layers: [
    { type: 'conv2d', id: 'a', filters: 4, kernel: 3, activation: 'none' },
    { type: 'batch_norm', id: 'an' },
    { type: 'activation', id: 'ar', activation: 'relu' },
    { type: 'conv2d', id: 'b', filters: 4, kernel: 3, activation: 'none' },
    { type: 'batch_norm', id: 'bn' },
    { type: 'dropout', id: 'bd', rate: 0.3 },
    { type: 'add', id: 'sum', from: ['ar', 'bd'] },
    { type: 'activation', id: 'sr', activation: 'gelu' },
    { type: 'conv2d', id: 'c', filters, kernel: 3, activation: 'relu' },
    { type: 'max_pool', id: 'p', size: 2 },
    { type: 'flatten', id: 'f' },
    { type: 'output', id: 'out' },
  ],
});
