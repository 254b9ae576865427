// Regular expressions of a tokenizer.json, which are Oniguruma's: read as those of V8 that find the same, or refused.

import { InputError } from '../protocol/errors.ts';
import { takesLinearTime } from './linear-expressions.ts';
import { unsupported } from './saved.ts';

/** What stands for a class of Unicode there and for one of ASCII here; any sign but the end of a line. */
const same: Readonly<Record<string, string>> = {
  '\\s': String.raw`\p{White_Space}`,
  '\\S': String.raw`\P{White_Space}`,
  '\\d': String.raw`\p{Nd}`,
  '\\D': String.raw`\P{Nd}`,
  '.': String.raw`[^\n]`,
};

/** Would find something else here: ends of lines and words, words themselves, classes within classes. */
const other: ReadonlySet<string> = new Set(['^', '$', '\\w', '\\W', '\\b', '\\B', '[[', '&&']);

/** A class with what is in it, an escaped sign, or one with a meaning. */
const pieces = /\[\^?\]?(?:\\.|[^\\\]])*\]|\\.|[.^$]/gs;

/** Throws InputError `input.tokenizer` for one that is not known here, or could take without end over a text. */
export function foreignExpression(source: string): RegExp {
  const differing = new Set<string>();
  const readAs = (piece: string): string => {
    if (other.has(piece)) differing.add(piece);
    return same[piece] ?? piece;
  };
  const within = (body: string): string => body.replace(/\\.|\[|&&/gs, (piece) => readAs(piece === '[' ? '[[' : piece));
  const own = source.replace(pieces, (piece) =>
    piece.startsWith('[') ? `[${within(piece.slice(1, -1))}]` : readAs(piece),
  );
  let read: RegExp;
  try {
    read = new RegExp(own, 'gu');
  } catch {
    throw unsupported('regular expression', source);
  }
  if (!takesLinearTime(source)) {
    throw new InputError(
      'input.tokenizer',
      `The regular expression “${cut(source)}” of this tokenizer could take without end over a text, so it is not used.`,
      'Choose another tokenizer.json (those of GPT-2, Llama 3, Qwen and their kin are taken), or train a tokenizer on the texts.',
    );
  }
  if (differing.size > 0) throw unsupported('regular expression', cut(source));
  return read;
}

const cut = (source: string): string => (source.length > 80 ? `${source.slice(0, 80)}…` : source);
