// The flag `--augment` of `train`: all changes to pictures in one, `flip=1,crop=4`.

import { augmentationFields, noAugmentation, type AugmentationSpec } from '../../engine/settings/augmentation.ts';
import type { Field } from '../../engine/settings/field.ts';
import { expectedInstead, fieldsOf, withChosen } from '../../engine/settings/values.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { textOption, type OptionDef, type OptionValues } from './command.ts';

const fields: ReadonlyMap<string, Field> = new Map(fieldsOf(augmentationFields));

export const augmentationFlag: OptionDef = {
  type: 'string',
  value: 'none|CHANGE=LIMIT,…',
  help: `changes to pictures while training: ${[...fields.keys()].join(', ')}, such as flip=1,crop=4`,
};

/** Only the changes that the flag names; without it those of `base`. Throws InputError. */
export function augmentationOption(
  options: OptionValues,
  base: AugmentationSpec | undefined,
): { readonly augmentation?: AugmentationSpec } {
  const text = textOption(options, 'augment');
  if (text === undefined) return base ? { augmentation: base } : {};
  const changes = text === 'none' ? [] : text.split(',').map(change);
  return { augmentation: withChosen(noAugmentation, Object.fromEntries(changes)) };
}

/** `crop=4` as a setting and its value; a switch is 0 or 1. */
function change(part: string): readonly [string, number | boolean] {
  const [name, limit] = part.split('=').map((word) => word.trim());
  const field = fields.get(name);
  const number = limit === undefined || limit === '' ? Number.NaN : Number(limit);
  const value = field?.kind !== 'switch' ? number : number === 1 ? true : number === 0 ? false : number;
  if (field && expectedInstead(field, value) === undefined) return [name, value];
  const known = [...fields].map(([key, each]) => `${key} up to ${each.kind === 'number' ? each.maximum : 1}`);
  throw new InputError('usage.augment', `--augment has “${name}=${limit ?? ''}”.`, `Changes: ${known.join(', ')}.`);
}
