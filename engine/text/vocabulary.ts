// The tokens of a model and their ids.

import { z } from 'zod';
import { InputError } from '../protocol/errors.ts';

export interface Vocabulary {
  readonly ids: ReadonlyMap<string, number>;
  /** By id; an id without a token is missing. */
  readonly tokens: readonly (string | undefined)[];
  /** Throws InputError `input.tokenizer` where there is none. */
  idOf(token: string, what: string): number;
}

/** Ids at most: larger ones are no vocabulary but damage. */
const mostTokens = 4_000_000;

export const vocabularySchema = z.record(z.string(), z.number().int().min(0).max(mostTokens));

/** Of tokens with their ids. */
export function vocabularyOf(ids: Readonly<Record<string, number>>): Vocabulary {
  const map = new Map(Object.entries(ids));
  const tokens: (string | undefined)[] = [];
  for (const [token, id] of map) tokens[id] = token;
  return {
    ids: map,
    tokens,
    idOf(token, what) {
      const id = map.get(token);
      if (id !== undefined) return id;
      throw new InputError(
        'input.tokenizer',
        `The vocabulary of the tokenizer lacks ${what} “${token}”.`,
        'Use the files of one tokenizer together.',
      );
    },
  };
}
