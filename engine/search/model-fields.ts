// What a search may choose of a plain network besides its training: names that stand in a space as `model.width`.

import { fieldsFor } from '../settings/field.ts';

export const modelFields = fieldsFor<unknown>()({
  'model.depth': {
    kind: 'number',
    whole: true,
    label: 'Hidden layers',
    help: 'hidden layers',
    minimum: 0,
    maximum: 50,
    default: 2,
  },
  'model.width': {
    kind: 'number',
    whole: true,
    label: 'Width',
    help: 'units of each hidden layer',
    minimum: 1,
    maximum: 65_536,
    default: 128,
  },
  'model.dropout': {
    kind: 'number',
    label: 'Dropout',
    help: 'share of the units that is left out of each step',
    minimum: 0,
    maximum: 0.95,
    default: 0,
  },
  'model.activation': {
    kind: 'choice',
    label: 'Activation',
    help: 'of the hidden layers',
    choices: { relu: 'ReLU', gelu: 'GELU', silu: 'SiLU', tanh: 'tanh', mish: 'Mish' },
    default: 'relu',
  },
  'model.preset': {
    kind: 'text',
    label: 'Preset',
    help: 'a preset instead of plain layers',
    longest: 100,
  },
});
