// The flag `--augment` of `train`.

import { noAugmentation } from '../../engine/model/augmentation.ts';
import type { AugmentationSpec } from '../../engine/model/spec.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { textOption, type OptionValues } from './command.ts';

/** The largest limits that make sense; `flip` is 0 or 1. */
const largestChanges: Readonly<Record<keyof AugmentationSpec, number>> = {
  flip: 1,
  crop: 256,
  rotation: 45,
  zoom: 0.9,
  brightness: 1,
  contrast: 1,
  saturation: 1,
  cutout: 1024,
  mixup: 2,
};

/** `--augment flip=1,crop=4`: only the changes named; without the flag those of `base`. Throws InputError. */
export function augmentationOption(
  options: OptionValues,
  base: AugmentationSpec | undefined,
): { readonly augmentation?: AugmentationSpec } {
  const text = textOption(options, 'augment');
  if (text === undefined) return base ? { augmentation: base } : {};
  const changes = text === 'none' ? [] : text.split(',').map((part) => part.split('='));
  const limits = changes.map(([name, limit]) => {
    const most = largestChanges[name.trim() as keyof AugmentationSpec];
    const value = Number(limit);
    if (most === undefined || limit === undefined || !(value >= 0 && value <= most)) {
      const known = Object.entries(largestChanges).map(([key, largest]) => `${key} up to ${largest}`);
      throw new InputError('usage.augment', `--augment has “${name}=${limit ?? ''}”.`, `Changes: ${known.join(', ')}.`);
    }
    return [name.trim(), name.trim() === 'flip' ? value > 0 : value];
  });
  return { augmentation: { ...noAugmentation, ...(Object.fromEntries(limits) as Partial<AugmentationSpec>) } };
}
