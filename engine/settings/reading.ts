// How a file or folder is to be read. Everything is found out unless set.

import { fieldsFor, type SettingsOf } from './field.ts';

/** Sides of the squares that pictures can be brought to, in pixels. */
export const smallestSide = 8;
export const largestSide = 256;

/** Pixels that a picture is shown in at most, wide or high, whatever size it is learned in. */
export const largestShown = 1024;

/** What a dataset is read from: the two have options of their own. */
export interface ReadFrom {
  readonly kind: 'table' | 'images';
}

const tables = ({ kind }: ReadFrom): boolean => kind === 'table';
const pictures = ({ kind }: ReadFrom): boolean => kind === 'images';

export const readingFields = fieldsFor<ReadFrom>()({
  delimiter: {
    kind: 'text',
    label: 'Columns are divided by',
    help: 'field delimiter; \\t for a tab (default: found out)',
    longest: 4,
    unset: 'Find out',
    offered: { ',': 'Comma', ';': 'Semicolon', '\t': 'Tab', '|': 'Bar', ' ': 'Space' },
    fits: tables,
  },
  decimal: {
    kind: 'choice',
    label: 'Decimal mark',
    help: 'decimal mark',
    unset: 'Find out',
    choices: { '.': 'Point (1.5)', ',': 'Comma (1,5)' },
    fits: tables,
  },
  encoding: {
    kind: 'choice',
    label: 'Encoding',
    help: 'character encoding',
    unset: 'Find out',
    choices: { 'utf-8': 'UTF-8', 'utf-16': 'UTF-16', 'latin-1': 'Latin-1' },
    fits: tables,
  },
  header: {
    kind: 'switch',
    label: 'First line',
    help: 'the first line is data',
    flag: 'no-header',
    unset: 'Find out',
    words: ['Already data', 'Names of the columns'],
    fits: tables,
  },
  // Instead of refusing the file.
  skipBadLines: {
    kind: 'switch',
    label: 'Leave out lines that cannot be read',
    help: 'leave out lines that cannot be read',
    fits: tables,
  },
  // Default: their own size if it is the same for all, else 64.
  'image.size': {
    kind: 'number',
    whole: true,
    label: 'Side, pixels',
    help: 'pictures: side in pixels (default: their own, else 64)',
    flag: 'image-size',
    minimum: smallestSide,
    maximum: largestSide,
    fits: pictures,
  },
  'image.fit': {
    kind: 'choice',
    label: 'Other shapes are',
    help: 'pictures: how they are brought to that size (default crop)',
    choices: { crop: 'cut to a square', pad: 'framed in black', stretch: 'distorted' },
    fits: pictures,
  },
});

export type ReadOptions = SettingsOf<typeof readingFields>;
export type ImageReadOptions = NonNullable<ReadOptions['image']>;

/** How pictures of other sizes become pictures of the working size: cut to its shape, framed in black, or distorted. */
export type ImageFit = NonNullable<ImageReadOptions['fit']>;
