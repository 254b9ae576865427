// An image dataset as a person sees it under their settings: its two columns, its classes with corrections, warnings.

import { InputError } from '../../protocol/errors.ts';
import type { ColumnInfo, DatasetInfo, DatasetSettings, ImageInfo } from '../../protocol/data.ts';
import { drawnShares, noValidationWarning, splitNames, usualSplit } from '../../protocol/use.ts';
import { didYouMean } from '../../protocol/closest.ts';
import { show } from '../schema/typing.ts';
import { sortClasses } from './picture.ts';
import type { StoredPictures } from './stored.ts';
import { classWarnings, oneClassWarning, sharedWarning, skippedWarning, twinWarnings } from './warnings.ts';

/** The columns that an image dataset shows. */
export const fileColumn = 'file';
export const classColumn = 'class';

/** Classes in the list of the class column. */
const topClasses = 20;

/** The classes of pictures with a person's corrections. */
export interface Labels {
  /** In their order. */
  readonly classes: readonly string[];
  /** Position of each picture's class. */
  readonly labels: Int32Array;
}

/**
 * Applies corrected classes.
 * @throws InputError if a correction is for a file that is not in the dataset, or names no class.
 */
export function correctLabels(pictures: StoredPictures, settings: DatasetSettings): Labels {
  const corrections = Object.entries(settings.labels ?? {});
  const names = pictures.labels.map((label) => pictures.classes[label] as string);
  if (corrections.length > 0) {
    const positions = new Map(pictures.files.map((file, position) => [file, position]));
    for (const [file, label] of corrections) {
      const position = positions.get(file);
      if (position === undefined) {
        throw new InputError('input.unknown_picture', `There is no picture "${file}".`, 'Name it as the dataset does.');
      }
      if (typeof label !== 'string' || label.trim() === '') {
        throw new InputError('input.no_class', `The class given to "${file}" is empty.`, 'Give it a name.');
      }
      names[position] = label.trim().normalize('NFC');
    }
  }
  const classes = sortClasses(names, pictures.classOrder);
  const numbers = new Map(classes.map((name, index) => [name, index]));
  return { classes, labels: Int32Array.from(names, (name) => numbers.get(name) as number) };
}

/** The parts of a DatasetInfo that settings decide. */
export type ImageDescription = Pick<
  DatasetInfo,
  'columns' | 'target' | 'targetReason' | 'task' | 'classes' | 'warnings' | 'settings'
>;

/**
 * Describes pictures under settings.
 * @throws InputError if the settings name what is not there.
 */
export function describePictures(pictures: StoredPictures, settings: DatasetSettings): ImageDescription {
  checkSettings(settings);
  const { classes, labels } = correctLabels(pictures, settings);
  const counts = new Array<number>(classes.length).fill(0);
  for (const label of labels) counts[label] = (counts[label] as number) + 1;
  const named = classes
    .map((name, index) => ({ name, count: counts[index] as number }))
    .sort((first, second) => second.count - first.count);
  const { files, splits, twins, skipped } = pictures;
  const facts = { files, labels: Array.from(labels, (label) => classes[label] as string) };
  const given = splitNames.filter((name) => splits?.includes(name) === true);
  const validates = given.includes('validation') || drawnShares(given, settings.split ?? usualSplit)[1] > 0;
  const corrected = Object.keys(settings.labels ?? {}).length;
  return {
    columns: describeColumns(files.length, named, pictures.labelledBy),
    target: classColumn,
    targetReason: `${pictures.labelledBy} is its class${corrected > 0 ? `; ${show(corrected)} corrected by hand` : ''}`,
    task: 'classification',
    classes: named,
    warnings: [
      ...oneClassWarning(classes),
      ...skippedWarning(skipped),
      ...classWarnings(named),
      ...twinWarnings(twins, facts),
      ...(splits === null ? [] : sharedWarning(twins, files, (row) => splits[row] ?? null)),
      ...(validates ? [] : [noValidationWarning()]),
    ],
    settings,
  };
}

function checkSettings({ target, task, types, ignored }: DatasetSettings): void {
  const columns = [fileColumn, classColumn];
  for (const name of [...Object.keys(types ?? {}), ...(ignored ?? []), ...(target === undefined ? [] : [target])]) {
    if (!columns.includes(name)) {
      throw new InputError('input.unknown_column', `There is no column "${name}".`, didYouMean(name, columns));
    }
  }
  if (target !== undefined && target !== classColumn) {
    throw new InputError(
      'input.target',
      `The file names of pictures cannot be predicted.`,
      `The target is "${classColumn}".`,
    );
  }
  if (task === 'regression') {
    throw new InputError('input.task', 'Pictures have classes, not numbers to predict.', 'Leave the task out.');
  }
}

function describeColumns(
  rows: number,
  classes: readonly { readonly name: string; readonly count: number }[],
  labelledBy: string,
): ColumnInfo[] {
  const base = { overridden: false, missing: 0 };
  return [
    { ...base, name: fileColumn, type: 'identifier', reason: 'the file of each picture', distinct: rows },
    {
      ...base,
      name: classColumn,
      type: 'category',
      reason: labelledBy,
      distinct: classes.length,
      top: classes.slice(0, topClasses).map(({ name, count }) => ({ value: name, count })),
    },
  ];
}

/** Sizes, channels and splits of pictures that were brought to a shape. */
export function describeImages(
  pictures: StoredPictures,
  { width, height, channels, fit }: Pick<ImageInfo, 'width' | 'height' | 'channels' | 'fit'>,
): ImageInfo {
  const { widths, heights, splits, skipped } = pictures;
  const areas = widths.map((side, index) => side * (heights[index] as number));
  const sizeAt = (index: number): [number, number] => [widths[index] as number, heights[index] as number];
  const extreme = (better: (area: number, best: number) => boolean): [number, number] =>
    sizeAt(areas.reduce((best, area, index) => (better(area, areas[best] as number) ? index : best), 0));
  const counts = { train: 0, validation: 0, test: 0 };
  for (const split of splits ?? []) counts[split]++;
  return {
    width,
    height,
    channels,
    fit,
    splits: splits === null ? null : counts,
    smallest: extreme((area, best) => area < best),
    largest: extreme((area, best) => area > best),
    skipped: skipped.length,
  };
}
