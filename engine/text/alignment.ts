// Where tokens stand in a text as it was before it was normalized: to show them, not to compute with.

import type { Place } from './pre-tokenizers.ts';
import { utf8Length } from './utf8.ts';

/** A place of a normalized text in the text it was made of. */
export type Alignment = (place: Place) => Place;

/** A character with the marks on it. */
const character = /\P{M}\p{M}*|\p{M}+/gsu;

/** Character by character; where a normalizer looks at more than one, by the share of the lengths. */
export function alignmentOf(text: string, normalized: string, normalizer: (text: string) => string): Alignment {
  if (text === normalized) return (place) => place;
  const characters = text.match(character) ?? [];
  const parts = characters.map(normalizer);
  if (parts.join('') !== normalized) {
    const scale = text.length / Math.max(1, normalized.length);
    return ({ start, end }) => ({ start: Math.floor(start * scale), end: Math.ceil(end * scale) });
  }
  /** For each unit of the normalized text the character it is of. */
  const origins: Place[] = [];
  let done = 0;
  characters.forEach((own, index) => {
    const place = { start: done, end: done + own.length };
    for (let unit = 0; unit < parts[index].length; unit++) origins.push(place);
    done = place.end;
  });
  return ({ start, end }) => ({
    start: origins[start]?.start ?? text.length,
    end: end > start ? (origins[end - 1]?.end ?? text.length) : (origins[start]?.start ?? text.length),
  });
}

/** Places of consecutive tokens in a piece, from how many characters each takes of it as it is written. `inBytes`: a character a byte. */
export function placesOfLengths(piece: string, lengths: readonly number[], inBytes: boolean): readonly Place[] {
  /** For each written character the units of the piece it is of. */
  const origins: Place[] = [];
  let unit = 0;
  for (const own of piece) {
    const place = { start: unit, end: unit + own.length };
    const written = inBytes ? utf8Length(own) : own.length;
    for (let i = 0; i < written; i++) origins.push(place);
    unit = place.end;
  }
  let done = 0;
  return lengths.map((length) => {
    const start = origins[done]?.start ?? piece.length;
    done = Math.min(origins.length, done + length);
    return { start, end: done > 0 ? Math.max(start, origins[done - 1].end) : 0 };
  });
}
