// Whether the classes of a target are where they have to be: at least two of them train, those that are tested are learned, and the
// rows that validate and test are of more than one.

import type { DataWarning } from '../../protocol/data.ts';
import { InputError } from '../../protocol/errors.ts';
import { splitNames } from '../../protocol/use.ts';
import { short, show } from '../schema/typing.ts';

/** With fewer rows it is plain that they are of few classes. */
const fewestRows = 5;
/** Classes named in a message. */
const named = 3;

export interface ClassesOfSplits {
  /** Class of each row; −1 = none. */
  readonly strata: Int32Array;
  /** Index into `splitNames`; others are left out. */
  readonly splits: Uint8Array;
  readonly classes: readonly string[];
  readonly target: string;
}

/** [splits][classes] */
function countClasses({ strata, splits, classes }: ClassesOfSplits): readonly Uint32Array[] {
  const counts = splitNames.map(() => new Uint32Array(classes.length));
  strata.forEach((stratum, row) => {
    const of = counts[splits[row] ?? splitNames.length];
    if (of !== undefined && stratum >= 0) of[stratum] = (of[stratum] as number) + 1;
  });
  return counts;
}

const present = (counts: Uint32Array): number => counts.reduce((sum, count) => sum + Number(count > 0), 0);
const rowsIn = (counts: Uint32Array): number => counts.reduce((sum, count) => sum + count, 0);

/** @throws InputError where all rows that would train are of one class. */
export function refuseOneClass(about: ClassesOfSplits): void {
  const [train = new Uint32Array(0)] = countClasses(about);
  if (present(train) > 1) return;
  const name = about.classes[train.findIndex((count) => count > 0)] ?? '';
  throw new InputError(
    'input.one_class',
    `All ${show(rowsIn(train))} rows that would train are of one class of ${about.target}: ${short(name)}.`,
    'Split by chance, by another column, or by other shares.',
  );
}

/**
 * `parts`: that of each training row, in their order; the others train while one validates.
 * @throws InputError where all rows that would train meanwhile are of one class: groups may be such.
 */
export function refuseOneClassApart({ strata, splits, target }: ClassesOfSplits, parts: Uint8Array): void {
  const trained = strata.filter((_, row) => splits[row] === 0);
  const count = parts.reduce((most, part) => Math.max(most, part), 0);
  for (let part = 1; part <= count; part++) {
    const seen = new Set<number>();
    for (let row = 0; row < parts.length && seen.size < 2; row++) {
      const stratum = trained[row] ?? -1;
      if (parts[row] !== part && stratum >= 0) seen.add(stratum);
    }
    if (seen.size > 1) continue;
    throw new InputError(
      'input.one_class',
      count === 1
        ? `All rows that would train while others are held out are of one class of ${target}.`
        : `All rows that fold ${part} of ${count} would learn from are of one class of ${target}.`,
      `Split by chance${count === 1 ? ' or by another column' : ', by another column, or into fewer folds'}.`,
    );
  }
}

/** What there is to say about classes that a model never sees, and splits of one class. */
export function classSplitWarnings(about: ClassesOfSplits): DataWarning[] {
  const { classes, target } = about;
  const [train = new Uint32Array(0), ...others] = countClasses(about);
  const unseen = classes.flatMap((name, index) => {
    const later = others.reduce((sum, counts) => sum + (counts[index] ?? 0), 0);
    return train[index] === 0 && later > 0 ? [{ name, later }] : [];
  });
  const warnings: DataWarning[] = [];
  if (unseen.length > 0) {
    const rows = unseen.reduce((sum, { later }) => sum + later, 0);
    const list = unseen.slice(0, named).map(({ name }) => short(name));
    const which = `${list.join(', ')}${unseen.length > named ? ` and ${show(unseen.length - named)} more` : ''}`;
    warnings.push({
      code: 'unseen_class',
      message: `${which} of ${target} ${unseen.length === 1 ? 'stands' : 'stand'} in no row that trains, but in ${show(rows)} that ${rows === 1 ? 'validates or tests' : 'validate or test'}: no model can answer ${unseen.length === 1 ? 'it' : 'them'}. Leave such rows out of the file, or split otherwise.`,
      columns: [target],
    });
  }
  others.forEach((counts, index) => {
    const rows = rowsIn(counts);
    if (rows < fewestRows || present(counts) > 1) return;
    const name = classes[counts.findIndex((count) => count > 0)] ?? '';
    warnings.push({
      code: 'one_class_split',
      message: `All ${show(rows)} rows of the ${splitNames[index + 1]} split are of one class of ${target}: ${short(name)}. Its scores say little of the others. Give it a larger share, or split otherwise.`,
      columns: [target],
    });
  });
  return warnings;
}
