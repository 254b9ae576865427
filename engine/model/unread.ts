// What of the data no layer of a network reads: layers of another run, or of a file, may be made for other columns.

import { inWords } from '../protocol/use.ts';
import type { ResolvedModel } from './resolve.ts';

/** `No layer of this network reads the numbers and categories.`, with what to do; null where all is read. */
export function unreadWarning({ input, inputShape, layers }: ResolvedModel): string | null {
  if (input.kind !== 'table') return null;
  const numbers = inputShape[0] > 0 && !layers.some(({ inputs }) => inputs.includes(-1));
  const taken = new Set(layers.flatMap(({ def, args }) => (def.fromText ? [Number(args['text']) - 1] : [])));
  const texts = (input.texts ?? []).filter((_, text) => !taken.has(text)).map(({ name }) => name);
  const unread = [...texts, ...(numbers ? ['the numbers and categories'] : [])];
  if (unread.length === 0) return null;
  return `No layer of this network reads ${inWords(unread)}: it learns nothing from them. A preset of texts has layers for every column.`;
}
