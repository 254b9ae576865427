// Where a name that people gave, such as a column's, may break over two lines.

import { visible } from '../../engine/protocol/visible.ts';

/** The pieces between the places: behind underscores, hyphens and slashes, and behind a dot before a letter (not in numbers). */
export function breakableParts(name: string): readonly string[] {
  return visible(name)
    .split(/(?<=[_\-/])(?![_\-/])|(?<=\.)(?=\p{L})/u)
    .filter((part) => part !== '');
}
