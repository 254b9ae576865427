// An error in a model, tied to the layer that has it so that the editor can point there.

import { InputError } from '../protocol/errors.ts';

export class ModelError extends InputError {
  /** Position of the layer in the spec; -1 = the model as a whole. */
  readonly layer: number;

  constructor(message: string, hint = '', layer = -1) {
    super('model.invalid', message, hint);
    this.name = 'ModelError';
    this.layer = layer;
  }
}
