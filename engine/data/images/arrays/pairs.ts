// Which arrays are pictures and which are their classes: found out from shapes and names, as "x_train, y_train",
// "train_images, train_labels" or "train-images-idx3-ubyte, train-labels-idx1-ubyte".

import { InputError } from '../../../protocol/errors.ts';
import type { SplitName } from '../../../protocol/data.ts';
import { mostPixels } from '../picture.ts';
import type { StoredArray } from './stored.ts';

/** Pictures in an array: [count, height, width, channels], or [count, channels, height, width]. */
export interface ImageLayout {
  readonly count: number;
  readonly height: number;
  readonly width: number;
  readonly channels: 1 | 3 | 4;
  readonly channelsFirst: boolean;
}

export interface ArrayPair {
  readonly images: StoredArray;
  readonly layout: ImageLayout;
  readonly labels: StoredArray;
  readonly split: SplitName | null;
}

/** How an array's elements are pictures; null if its shape is not that of pictures. */
export function imageLayout({ shape, element }: StoredArray): ImageLayout | null {
  if (element.kind === 'text' || element.kind === 'unicode') return null;
  const [count = 0, first = 0, second = 0, third = 0] = shape;
  const layout = (height: number, width: number, channels: number, channelsFirst: boolean): ImageLayout | null => {
    const fits = height > 1 && width > 1 && height * width <= mostPixels;
    return fits && (channels === 1 || channels === 3 || channels === 4)
      ? { count, height, width, channels, channelsFirst }
      : null;
  };
  if (shape.length === 3) return layout(first, second, 1, false);
  if (shape.length !== 4) return null;
  return layout(first, second, third, false) ?? layout(second, third, first, true);
}

/** The array's elements are one class a row. */
function isLabels({ shape, element }: StoredArray): boolean {
  const single = shape.length === 1 || (shape.length === 2 && shape[1] === 1);
  return single && element.kind !== 'float';
}

/** The split that a name speaks of. */
export function splitOfName(name: string): SplitName | null {
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  const has = (...known: string[]): boolean => words.some((word) => known.includes(word));
  if (has('train', 'training')) return 'train';
  if (has('val', 'valid', 'validation', 'dev')) return 'validation';
  if (has('test', 'testing', 't10k')) return 'test';
  return null;
}

/**
 * Pairs pictures with their classes.
 * @throws InputError if there are no pictures, or no classes for some of them.
 */
export function pairArrays(arrays: readonly StoredArray[], source: string): ArrayPair[] {
  const pictures = arrays.flatMap((images) => {
    const layout = imageLayout(images);
    return layout === null ? [] : [{ images, layout }];
  });
  if (pictures.length === 0) {
    const shapes = arrays.map(({ name, shape }) => `${name} [${shape.join(', ')}]`).slice(0, 6);
    throw new InputError(
      'input.no_images',
      `${source} has no array of pictures${shapes.length === 0 ? '' : `; it has ${shapes.join(', ')}`}.`,
      'Pictures are arrays of [count, height, width] or [count, height, width, channels].',
    );
  }
  const pairs = pictures.map(({ images, layout }) => {
    const split = splitOfName(images.name);
    const labels = arrays
      .filter((array) => isLabels(array) && array.shape[0] === layout.count && splitOfName(array.name) === split)
      .sort((first, second) => likeness(second.name, images.name) - likeness(first.name, images.name))[0];
    if (labels === undefined) {
      throw new InputError(
        'input.no_labels',
        `${source} has no classes for the ${layout.count} pictures of ${images.name}.`,
        `Add an array of ${layout.count} whole numbers or texts, named alike: x_train and y_train, or images and labels.`,
      );
    }
    return { images, layout, labels, split };
  });
  // Where only some have a split, the others train.
  const some = pairs.some(({ split }) => split !== null);
  return pairs.map((pair) => (some && pair.split === null ? { ...pair, split: 'train' } : pair));
}

/** How likely an array is to hold the classes of the pictures of that name. */
function likeness(name: string, pictures: string): number {
  const telling = /label|class|target|(^|[^a-z])y([^a-z]|$)/i.test(name) ? 1000 : 0;
  let shared = 0;
  while (shared < name.length && name[shared] === pictures[shared]) shared++;
  return telling + shared;
}
