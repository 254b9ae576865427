// What models of any kind have in common: the names of their classes, and words for what is not used.

import { InputError } from '../protocol/errors.ts';

/** Throws InputError `input.classes` where other names are given than there are outputs. */
export function classNames(name: string, outputs: number, given: readonly string[] | undefined): readonly string[] {
  if (given !== undefined && (given.length !== outputs || new Set(given).size !== outputs)) {
    const many = new Set(given).size === given.length ? `${given.length}` : `${given.length}, not all different`;
    throw new InputError(
      'input.classes',
      `${name} tells ${outputs} classes apart, the names given are ${many}.`,
      'Give one name a class, in the order of the outputs.',
    );
  }
  return given ?? Array.from({ length: Math.max(2, outputs) }, (_, i) => String(i));
}

/** What is said of tensors that no layer is made of. */
export function unusedText(unused: readonly string[]): string {
  const shown = unused.slice(0, 3).join(', ');
  return `${unused.length} tensor${unused.length === 1 ? '' : 's'} of the file ${unused.length === 1 ? 'is' : 'are'} not used: ${shown}${unused.length > 3 ? ', …' : ''}.`;
}
