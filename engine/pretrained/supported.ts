// Which models of others are read, in words.

import { InputError } from '../protocol/errors.ts';
import { pictureNets } from './picture-nets.ts';
import { textKinds } from './text-nets.ts';

/** Names of what can be read, for people. */
export const supported = `${pictureNets.map(({ name }) => name).join(', ')} by torchvision's and timm's names, and folders of ${textKinds.join(', ')} with their config.json`;

export function unknownArchitecture(name: string): InputError {
  return new InputError('input.architecture', `The architecture “${name}” is not read.`, `These are: ${supported}.`);
}
