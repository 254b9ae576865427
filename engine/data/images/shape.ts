// The working size of a dataset: what is asked for, or what its pictures suggest.

import { InputError } from '../../protocol/errors.ts';
import { largestSide, readingFields, smallestSide, type ImageReadOptions } from '../../settings/reading.ts';
import { expectedInstead } from '../../settings/values.ts';
import type { PictureFacts, PictureShape } from './picture.ts';

/** Side of the working size where pictures differ in size. */
const defaultSide = 64;

/** @throws InputError if pictures cannot be brought to the size asked for, or in that way. */
export function checkImageOptions({ size, fit }: ImageReadOptions): void {
  if (size !== undefined && expectedInstead(readingFields['image.size'], size) !== undefined) {
    throw new InputError(
      'input.image_size',
      `Pictures cannot be brought to a size of ${size}.`,
      `Choose a whole number of pixels from ${smallestSide} to ${largestSide}.`,
    );
  }
  if (fit !== undefined && expectedInstead(readingFields['image.fit'], fit) !== undefined) {
    throw new InputError(
      'input.image_fit',
      `"${String(fit)}" is no way to fit pictures.`,
      `Choose ${Object.keys(readingFields['image.fit'].choices).join(', ')}.`,
    );
  }
}

/** The working size: asked for, or the pictures' own if it is the same for all and small enough. */
export function chooseShape(facts: readonly PictureFacts[], { size, fit = 'crop' }: ImageReadOptions): PictureShape {
  if (size !== undefined) return { width: size, height: size, fit };
  const sizes = facts.flatMap((fact) => ('width' in fact ? [fact] : []));
  const [first] = sizes;
  const common = sizes.every(({ width, height }) => width === first?.width && height === first.height);
  const usable = (side: number): boolean => side >= smallestSide && side <= largestSide;
  return common && first !== undefined && usable(first.width) && usable(first.height)
    ? { width: first.width, height: first.height, fit }
    : { width: defaultSide, height: defaultSide, fit };
}
