// Words without what people write in several ways.

import { booleanWords, truthOf } from '../schema/stored.ts';

/** What stays of a category without case, spaces around and between, and ways of writing a number. */
export function normalForm(category: string): string {
  const plain = category.normalize('NFKC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
  return /^[+-]?(\d{1,15}\.?\d{0,6}|\.\d{1,6})$/.test(plain) ? String(Number(plain)) : plain;
}

/**
 * Position from 1 of the category that a text means though it is spelled otherwise: in case, spaces or as a number, or, of two words for
 * yes and no as the import knows them, in other words for the same. undefined = none, or more than one.
 */
export function meantCategory(categories: readonly string[]): (text: string) => number | undefined {
  const alike = new Map<string, number | undefined>();
  categories.forEach((category, index) => {
    const form = normalForm(category);
    alike.set(form, alike.has(form) ? undefined : index + 1);
  });
  const truths = categories.length === 2 && booleanWords(categories) !== null ? categories.map(truthOf) : null;
  return (text) => {
    const form = normalForm(text);
    if (alike.has(form) || truths === null) return alike.get(form);
    const truth = truthOf(form);
    return truth === undefined ? undefined : truths.indexOf(truth) + 1;
  };
}

/** A column's name without case and marks. */
export function bareName(name: string): string {
  const letters = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s_.-]+/g, '');
  return letters === '' ? name : letters;
}
