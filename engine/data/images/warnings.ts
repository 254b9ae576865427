// What a careful colleague would say about a set of pictures.

import type { DataWarning, SkippedFile, SplitName } from '../../protocol/data.ts';
import { show } from '../schema/typing.ts';
import type { Twins } from './stored.ts';

/** Pictures below which a class can hardly be learned, let alone tested. */
const fewPictures = 10;
/** Times the largest class may be larger than the smallest. */
const strongImbalance = 20;
/** Files listed in a warning. */
const listed = 100;

const plural = (count: number, one: string, many: string): string => `${show(count)} ${count === 1 ? one : many}`;

/** A single class: nothing to tell apart. */
export function oneClassWarning(classes: readonly string[]): DataWarning[] {
  const [only, ...others] = classes;
  if (only === undefined || others.length > 0) return [];
  return [
    {
      code: 'one_class',
      message: `All pictures are of one class: ${only}. Two or more classes are needed: undo some corrections, or open a folder with a sub-folder a class.`,
      columns: ['class'],
      blocks: true,
    },
  ];
}

/** Classes that are rare, or far apart in number. `classes`: most frequent first. */
export function classWarnings(classes: readonly { readonly name: string; readonly count: number }[]): DataWarning[] {
  const warnings: DataWarning[] = [];
  const rare = classes.filter(({ count }) => count < fewPictures);
  if (rare.length > 0) {
    const names = rare.slice(0, 5).map(({ name, count }) => `${name} (${count})`);
    warnings.push({
      code: 'rare_class',
      message: `${rare.length === 1 ? 'A class has' : `${rare.length} classes have`} fewer than ${fewPictures} pictures: ${names.join(', ')}${rare.length > 5 ? ' …' : ''}. Add pictures, or leave ${rare.length === 1 ? 'it' : 'them'} out.`,
      columns: ['class'],
    });
  }
  const [largest, smallest] = [classes[0], classes.at(-1)];
  if (largest !== undefined && smallest !== undefined && largest.count > smallest.count * strongImbalance) {
    warnings.push({
      code: 'imbalance',
      message: `The classes are unbalanced: ${show(largest.count)} pictures of ${largest.name}, ${show(smallest.count)} of ${smallest.name}. Balanced class weights help, and balanced accuracy tells more than accuracy.`,
      columns: ['class'],
    });
  }
  return warnings;
}

/** Files that were left out. */
export function skippedWarning(skipped: readonly SkippedFile[]): DataWarning[] {
  const [first] = skipped;
  if (first === undefined) return [];
  const more = skipped.length > 1 ? `, for example ${first.file}: ` : `: ${first.file}, `;
  return [
    {
      code: 'skipped_images',
      message: `${plural(skipped.length, 'file was', 'files were')} left out${more}${first.reason}.`,
      skipped: skipped.slice(0, listed),
    },
  ];
}

export interface TwinFacts {
  readonly files: readonly string[];
  /** Class of each picture. */
  readonly labels: readonly string[];
}

/** Copies, and pictures under more than one class. */
export function twinWarnings(twins: Twins, { files, labels }: TwinFacts): DataWarning[] {
  const warnings: DataWarning[] = [];
  const [copies] = twins.same;
  if (copies !== undefined) {
    const count = twins.same.reduce((sum, group) => sum + group.length - 1, 0);
    warnings.push({
      code: 'duplicates',
      message: `${plural(count, 'picture is a copy', 'pictures are copies')} of another one, for example ${names(copies, files)}.`,
      rows: twins.same.slice(0, 10).map((group) => (group[1] ?? 0) + 1),
    });
  }
  const torn = [...twins.same, ...twins.alike].filter((group) => new Set(group.map((row) => labels[row])).size > 1);
  const [example] = torn;
  if (example !== undefined) {
    warnings.push({
      code: 'conflicting_labels',
      message: `${plural(torn.length, 'picture stands', 'pictures stand')} under more than one class, for example ${names(example, files)}: correct the classes.`,
      rows: example.slice(0, 10).map((row) => row + 1),
    });
  }
  return warnings;
}

/** Pictures that train and also validate or test. `splitOf`: null = in no split. */
export function sharedWarning(
  twins: Twins,
  files: readonly string[],
  splitOf: (row: number) => SplitName | null,
): DataWarning[] {
  const shared = (groups: Twins['same']): { rows: number[]; example: readonly number[] } => {
    const torn = groups.filter((group) => group.some((row) => splitOf(row) === 'train'));
    const others = torn.map((group) => group.filter((row) => !['train', null].includes(splitOf(row))));
    const at = others.findIndex((rows) => rows.length > 0);
    const trains = torn[at]?.find((row) => splitOf(row) === 'train');
    return { rows: others.flat(), example: trains === undefined ? [] : [trains, ...(others[at] ?? [])] };
  };
  const same = shared(twins.same);
  const alike = shared(twins.alike);
  const rows = [...new Set([...same.rows, ...alike.rows])].sort((a, b) => a - b);
  if (rows.length === 0) return [];
  const example = same.rows.length > 0 ? same.example : alike.example;
  const nearly = same.rows.length === 0 ? ', nearly the same,' : '';
  return [
    {
      code: 'shared_rows',
      message: `${plural(rows.length, 'picture', 'pictures')} of the validation and test splits also ${rows.length === 1 ? 'stands' : 'stand'}${nearly} in the training split, for example ${names(example, files)}: results look better than they are.`,
      rows: rows.slice(0, 10).map((row) => row + 1),
    },
  ];
}

function names(rows: readonly number[], files: readonly string[]): string {
  return rows
    .slice(0, 2)
    .map((row) => files[row])
    .join(' and ');
}
