// Tokens that are found in a text as they are, before anything else is done to it: [MASK], <|endoftext|>.

import { z } from 'zod';
import { classes, literally, spaceEnd, spaceStart } from './unicode.ts';

export const addedTokenSchema = z.object({
  id: z.number().int().min(0),
  content: z.string(),
  single_word: z.boolean().default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
  normalized: z.boolean().default(true),
  special: z.boolean().default(false),
});

export type AddedToken = z.infer<typeof addedTokenSchema>;

const withAdded = z.looseObject({ added_tokens: z.array(addedTokenSchema).default([]) });

/** How a token of a tokenizer.json is written where it is found in a text as it is; undefined: it is not. */
export function writtenToken(json: unknown, id: number): string | undefined {
  const { data } = withAdded.safeParse(json);
  return data?.added_tokens.find((token) => token.id === id && token.content !== '')?.content;
}

/** A stretch of a text: one of the tokens, or what is between them. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly token: AddedToken | null;
}

/** Cuts texts at the tokens of a list: of several at one place the longest. */
export function addedTokenFinder(tokens: readonly AddedToken[]): (text: string) => readonly Stretch[] {
  const wanted = tokens.filter(({ content }) => content !== '').toSorted((a, b) => b.content.length - a.content.length);
  if (wanted.length === 0) return (text) => (text === '' ? [] : [{ start: 0, end: text.length, token: null }]);
  const byContent = new Map(wanted.map((token) => [token.content, token]));
  const found = new RegExp(wanted.map(({ content }) => literally(content)).join('|'), 'gu');
  return (text) => {
    const stretches: Stretch[] = [];
    let done = 0;
    for (const match of text.matchAll(found)) {
      const token = byContent.get(match[0])!;
      const end = match.index + match[0].length;
      if (token.single_word && isInWord(text, match.index, end)) continue;
      const start = token.lstrip ? spaceStart(text, match.index, done) : match.index;
      if (start < done) continue;
      if (start > done) stretches.push({ start: done, end: start, token: null });
      done = token.rstrip ? spaceEnd(text, end) : end;
      stretches.push({ start, end: done, token });
    }
    if (done < text.length) stretches.push({ start: done, end: text.length, token: null });
    return stretches;
  };
}

const wordBehind = new RegExp(`${classes.word}$`, 'v');
const wordInFront = new RegExp(`^${classes.word}`, 'v');

const isInWord = (text: string, start: number, end: number): boolean =>
  wordBehind.test(text.slice(Math.max(0, start - 2), start)) || wordInFront.test(text.slice(end, end + 2));
