// Pre-tokenizers of a tokenizer.json: how a text is cut into the pieces that the model then cuts further. Each is a regular expression
// that finds the pieces (what it does not find is dropped), or a function to the places of the pieces.

import { z } from 'zod';
import { foreignExpression } from './foreign-expressions.ts';
import { kindOf, savedAs, unsupported } from './saved.ts';
import { classes, literally } from './unicode.ts';

/** A piece of a text: `start` … `end` − 1. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

export interface PreTokenizer {
  strings(text: string): readonly string[];
  places(text: string): readonly Place[];
}

/** All that stands before the model. */
export interface PreTokenization extends PreTokenizer {
  /** Pieces are written in bytes, each as a visible character. */
  readonly inBytes: boolean;
  /** A space is put in front of a text that begins without one. */
  readonly spaceInFront: boolean;
}

const { letter, number, punctuation, space, word } = classes;

const kinds = {
  ByteLevel: z.object({ add_prefix_space: z.boolean().default(true), use_regex: z.boolean().default(true) }),
  Punctuation: z.object({ behavior: z.string().default('Isolated') }),
  Digits: z.object({ individual_digits: z.boolean().default(false) }),
  Split: z.object({
    pattern: z.union([z.object({ String: z.string() }), z.object({ Regex: z.string() })]),
    behavior: z.string(),
    invert: z.boolean().default(false),
  }),
  Sequence: z.object({ pretokenizers: z.array(z.unknown()) }),
} as const;

/** GPT-2's: contractions, then letters, digits and other signs, each with the space before them, then what is left of the spaces. */
const byteLevel = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?${letter}+| ?${number}+| ?[^\p{White_Space}${letter}${number}]+|[${space}]+(?![^${space}])|[${space}]+`;

/** What the pre-tokenizer of a tokenizer.json stands for; null: the whole text is one piece. Throws InputError where it is not supported. */
export function preTokenizationOf(json: unknown): PreTokenization {
  const parts = flattened(json);
  const last = parts.at(-1);
  const inBytes = last !== undefined && kindOf(last, 'pre-tokenizer') === 'ByteLevel';
  const before = inBytes ? parts.slice(0, -1) : parts;
  const bytes = inBytes ? savedAs(kinds.ByteLevel, last, 'pre-tokenizer') : undefined;
  const cutters = before.map(preTokenizerOf);
  if (bytes?.use_regex) cutters.push(matching(byteLevel));
  const spaceInFront = bytes?.add_prefix_space === true;
  if (spaceInFront && before.length > 0)
    throw unsupported('pre-tokenizer', 'ByteLevel with a space in front, in a sequence');
  return { ...inTurn(cutters), inBytes, spaceInFront };
}

function flattened(json: unknown): readonly unknown[] {
  if (json === null || json === undefined) return [];
  if (kindOf(json, 'pre-tokenizer') !== 'Sequence') return [json];
  return savedAs(kinds.Sequence, json, 'pre-tokenizer').pretokenizers.flatMap(flattened);
}

function preTokenizerOf(json: unknown): PreTokenizer {
  const kind = kindOf(json, 'pre-tokenizer');
  switch (kind) {
    case 'BertPreTokenizer':
      return matching(`${punctuation}|[^${space}${punctuation}]+`);
    case 'Whitespace':
      return matching(`${word}+|[^${word}${space}]+`);
    case 'WhitespaceSplit':
      return matching(`[^${space}]+`);
    case 'Punctuation':
      return splitting(expression(punctuation), savedAs(kinds.Punctuation, json, 'pre-tokenizer').behavior);
    case 'Digits': {
      const { individual_digits: individual } = savedAs(kinds.Digits, json, 'pre-tokenizer');
      return splitting(expression(String.raw`\p{N}`), individual ? 'Isolated' : 'Contiguous');
    }
    case 'Split': {
      const { pattern, behavior, invert } = savedAs(kinds.Split, json, 'pre-tokenizer');
      if (invert) throw unsupported('pre-tokenizer', 'Split, inverted');
      return splitting('String' in pattern ? literal(pattern.String) : foreignExpression(pattern.Regex), behavior);
    }
    default:
      throw unsupported('pre-tokenizer', kind);
  }
}

const expression = (source: string): RegExp => new RegExp(source, 'gv');

const literal = (text: string): RegExp => new RegExp(literally(text), 'gu');

/** Pieces are what an expression finds. */
function matching(source: string): PreTokenizer {
  const found = expression(source);
  return {
    strings: (text) => text.match(found) ?? [],
    places: (text) =>
      Array.from(text.matchAll(found), ({ 0: { length }, index }) => ({ start: index, end: index + length })),
  };
}

/** A text is cut round what an expression finds, which is dealt with as `behavior` says. */
function splitting(found: RegExp, behavior: string): PreTokenizer {
  const places = placesBy[behavior] ?? null;
  if (places === null) throw unsupported('way of splitting', behavior);
  const all = (text: string): readonly Place[] => places(parted(text, found)).filter(({ start, end }) => end > start);
  return { places: all, strings: (text) => all(text).map(({ start, end }) => text.slice(start, end)) };
}

interface Part extends Place {
  readonly matched: boolean;
}

function parted(text: string, found: RegExp): readonly Part[] {
  const parts: Part[] = [];
  let done = 0;
  for (const match of text.matchAll(found)) {
    if (match[0] === '') continue;
    const end = match.index + match[0].length;
    if (match.index > done) parts.push({ start: done, end: match.index, matched: false });
    parts.push({ start: match.index, end, matched: true });
    done = end;
  }
  if (done < text.length) parts.push({ start: done, end: text.length, matched: false });
  return parts;
}

const placesBy: Readonly<Record<string, (parts: readonly Part[]) => readonly Place[]>> = {
  Isolated: (parts) => parts,
  Removed: (parts) => parts.filter(({ matched }) => !matched),
  Contiguous: (parts) => joined(parts, (before, part) => before.matched === part.matched),
  MergedWithPrevious: (parts) => joined(parts, (before, part) => part.matched && !before.matched),
  MergedWithNext: (parts) => joined(parts, (before, part) => before.matched && !part.matched),
};

/** Parts of which neighbours belong together. */
function joined(parts: readonly Part[], together: (before: Part, part: Part) => boolean): readonly Place[] {
  const places: { start: number; end: number }[] = [];
  parts.forEach((part, index) => {
    const last = places.at(-1);
    if (last && together(parts[index - 1], part)) last.end = part.end;
    else places.push({ start: part.start, end: part.end });
  });
  return places;
}

/** One after the other, each on the pieces of the one before. */
function inTurn(cutters: readonly PreTokenizer[]): PreTokenizer {
  if (cutters.length === 1) return cutters[0];
  const whole = (text: string): readonly Place[] => (text === '' ? [] : [{ start: 0, end: text.length }]);
  const places = (text: string): readonly Place[] =>
    cutters.reduce<readonly Place[]>(
      (pieces, cutter) =>
        pieces.flatMap(({ start, end }) =>
          cutter
            .places(text.slice(start, end))
            .map((place) => ({ start: place.start + start, end: place.end + start })),
        ),
      whole(text),
    );
  return {
    places,
    strings: (text) =>
      cutters.reduce<readonly string[]>(
        (pieces, cutter) => pieces.flatMap((piece) => cutter.strings(piece)),
        text === '' ? [] : [text],
      ),
  };
}
