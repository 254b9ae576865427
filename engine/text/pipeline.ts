// Tokenizers of Hugging Face's tokenizer.json, which ours of the kinds WordPiece and byte-pair encoding are as well: added tokens are cut
// out, the rest is normalized, cut into pieces, and each piece into tokens by the model. Words come again and again: what the model made of
// a short one is kept.

import { z } from 'zod';
import { InputError } from '../protocol/errors.ts';
import { addedTokenFinder, addedTokenSchema, type AddedToken, type Stretch } from './added-tokens.ts';
import { alignmentOf, placesOfLengths } from './alignment.ts';
import { bytePairs } from './byte-pairs.ts';
import { IdList } from './id-list.ts';
import type { Model } from './model.ts';
import { normalizerOf, type Normalizer } from './normalizers.ts';
import { frameOf, type Frame } from './post-processors.ts';
import { preTokenizationOf, type PreTokenization } from './pre-tokenizers.ts';
import { kindOf, savedAs, unsupported } from './saved.ts';
import { lastOf, type EncodeOptions, type SpecialTokens, type Token, type Tokenizer } from './tokenizer.ts';
import { writtenInBytes } from './utf8.ts';
import { wordPiece } from './wordpiece.ts';

const schema = z.looseObject({
  added_tokens: z.array(addedTokenSchema).default([]),
  normalizer: z.unknown().optional(),
  pre_tokenizer: z.unknown().optional(),
  post_processor: z.unknown().optional(),
  padding: z.object({ pad_id: z.number().int() }).nullish(),
  model: z.unknown().optional(),
});

/** Words whose ids are kept, and how long one may be. */
const mostKept = 100_000;
const longestKept = 64;
/** Characters that are looked at first for each token, where only so many tokens are wanted. */
const charactersAToken = 16;
/** Pieces at the end of a text that was cut off may be others than those of the whole text. */
const unsurePieces = 3;

const noFrame: Frame = { before: [], behind: [] };

/** A tokenizer as a tokenizer.json describes it; what that says of cutting and padding is the affair of a run. */
export class Pipeline implements Tokenizer {
  readonly kind: Tokenizer['kind'];
  readonly vocabulary: number;
  readonly special: SpecialTokens;
  readonly #json: unknown;
  readonly #model: Model;
  readonly #added: ReadonlyMap<number, AddedToken>;
  /** Finds the added tokens in a text as it is, and those in the normalized one. */
  readonly #raw: (text: string) => readonly Stretch[];
  readonly #normalized: (text: string) => readonly Stretch[];
  readonly #normalizer: Normalizer;
  readonly #cutter: PreTokenization;
  readonly #frame: Frame;
  readonly #kept = new Map<string, readonly number[]>();

  /** Throws InputError `input.tokenizer` where it is damaged or something in it is not supported. */
  constructor(json: unknown) {
    const file = savedAs(schema, json);
    const normalizer = normalizerOf(file.normalizer);
    const inText = file.added_tokens.filter(({ normalized }) => normalized);
    this.#json = json;
    this.#normalizer = normalizer;
    this.#cutter = preTokenizationOf(file.pre_tokenizer);
    this.#model = modelOf(file.model, this.#cutter.inBytes);
    this.#frame = frameOf(file.post_processor);
    this.#added = new Map(file.added_tokens.map((token) => [token.id, token]));
    this.#raw = addedTokenFinder(file.added_tokens.filter(({ normalized }) => !normalized));
    this.#normalized = addedTokenFinder(inText.map((token) => ({ ...token, content: normalizer(token.content) })));
    this.kind = this.#model.kind;
    this.vocabulary = Math.max(this.#model.vocabulary.tokens.length, ...[...this.#added.keys()].map((id) => id + 1));
    this.special = this.#specialTokens(file.padding?.pad_id);
    this.#checkFrame();
  }

  encode(text: string, { plain = false, most = Infinity, keepsEnd = false }: EncodeOptions = {}): Int32Array {
    const { before, behind } = plain ? noFrame : this.#frame;
    const room = Math.max(0, most - before.length - behind.length);
    const ids = new IdList();
    ids.addAll(before);
    if (keepsEnd) this.#addLast(text.toWellFormed(), ids, room);
    else this.#addFirst(text.toWellFormed(), ids, room);
    ids.addAll(behind);
    ids.cut(most);
    return ids.taken();
  }

  /** Adds the first `room` ids of a text, and looks at no more of it than it has to. */
  #addFirst(text: string, ids: IdList, room: number): void {
    const begun = ids.length;
    const most = begun + room;
    for (let length = charactersAToken * (room + 64); length < text.length; length *= 4) {
      if (this.#add(text.slice(0, length).toWellFormed(), ids, most)) return ids.cut(most);
      ids.cut(begun);
    }
    this.#add(text, ids, most);
    ids.cut(most);
  }

  /** Adds the last `room` ids of a text. */
  #addLast(text: string, ids: IdList, room: number): void {
    const all = new IdList();
    this.#add(text, all, Infinity);
    ids.addAll(lastOf(all.taken(), room));
  }

  /** Adds ids until there are `most`; true: those cannot be others if the text goes on. */
  #add(text: string, ids: IdList, most: number): boolean {
    const stretches = this.#raw(text);
    for (const [index, stretch] of stretches.entries()) {
      if (stretch.token) ids.add(stretch.token.id);
      else if (this.#addStretch(text.slice(stretch.start, stretch.end), ids, most)) return true;
      if (ids.length >= most) return index + 1 < stretches.length;
    }
    return false;
  }

  #addStretch(text: string, ids: IdList, most: number): boolean {
    const normalized = this.#normalizer(text);
    for (const { start, end, token } of this.#normalized(normalized)) {
      if (token) {
        ids.add(token.id);
        continue;
      }
      const pieces = this.#cutter.strings(this.#spaced(normalized.slice(start, end)));
      for (let i = 0; i < pieces.length; i++) {
        ids.addAll(this.#idsOf(pieces[i]));
        if (ids.length >= most) return end < normalized.length || i < pieces.length - unsurePieces;
      }
    }
    return false;
  }

  /** With a space in front, if the tokenizer puts one there. */
  #spaced(text: string): string {
    return this.#cutter.spaceInFront && text !== '' && !text.startsWith(' ') ? ` ${text}` : text;
  }

  #idsOf(piece: string): readonly number[] {
    const kept = this.#kept.get(piece);
    if (kept) return kept;
    const ids = this.#model.ids(this.#cutter.inBytes ? writtenInBytes(piece) : piece);
    if (piece.length > longestKept) return ids;
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(piece, ids);
    return ids;
  }

  tokens(text: string): readonly Token[] {
    const whole = text.toWellFormed();
    const { before, behind } = this.#frame;
    const framing = (ids: readonly number[], place: number): readonly Token[] =>
      ids.map((id) => ({ id, text: this.#shown(id), start: place, end: place }));
    const inText = this.#raw(whole).flatMap(({ start, end, token }) =>
      token ? [this.#tokenAt(token.id, start, end)] : this.#tokensOf(whole.slice(start, end), start),
    );
    return [...framing(before, 0), ...inText, ...framing(behind, whole.length)];
  }

  /** Of a stretch that begins at `offset` of the text. */
  #tokensOf(text: string, offset: number): readonly Token[] {
    const normalized = this.#normalizer(text);
    const aligned = alignmentOf(text, normalized, this.#normalizer);
    const at = (id: number, start: number, end: number): Token => {
      const place = aligned({ start: Math.max(0, start), end: Math.max(0, end) });
      return this.#tokenAt(id, place.start + offset, place.end + offset);
    };
    return this.#normalized(normalized).flatMap(({ start, end, token }) => {
      if (token) return [at(token.id, start, end)];
      const own = normalized.slice(start, end);
      const spaced = this.#spaced(own);
      const shift = start - (spaced.length - own.length);
      return this.#cutter.places(spaced).flatMap((place) => {
        const piece = spaced.slice(place.start, place.end);
        const ids = this.#idsOf(piece);
        const lengths = ids.map((id) => this.#model.lengthOf(id, piece.length));
        const places = placesOfLengths(piece, lengths, this.#cutter.inBytes);
        const base = shift + place.start;
        return ids.map((id, i) => at(id, base + places[i].start, base + places[i].end));
      });
    });
  }

  #tokenAt(id: number, start: number, end: number): Token {
    return { id, text: this.#shown(id), start, end };
  }

  #shown(id: number): string {
    const added = this.#added.get(id);
    return added ? added.content : this.#model.shown(this.#model.vocabulary.tokens[id] ?? '');
  }

  decode(ids: ArrayLike<number>): string {
    const names = Array.from(ids, (id) => {
      const added = this.#added.get(id);
      return added?.special ? undefined : (added?.content ?? this.#model.vocabulary.tokens[id]);
    });
    return this.#model.text(names.filter((name) => name !== undefined));
  }

  toJSON(): unknown {
    return this.#json;
  }

  #specialTokens(padId: number | undefined): SpecialTokens {
    const named = (...names: readonly string[]): number | undefined =>
      [...this.#added.values()].find(({ content }) => names.includes(content))?.id;
    const special = {
      unknown: this.#model.unknown,
      padding: padId ?? named('[PAD]', '<pad>', '<|pad|>'),
      begin: this.#frame.before[0],
      end: this.#frame.behind[0] ?? named('<|endoftext|>', '</s>', '[SEP]'),
      mask: named('[MASK]', '<mask>'),
    };
    return Object.fromEntries(Object.entries(special).filter(([, id]) => id !== undefined));
  }

  #checkFrame(): void {
    const known = (id: number): boolean => this.#added.has(id) || this.#model.vocabulary.tokens[id] !== undefined;
    const unfit = [...this.#frame.before, ...this.#frame.behind].find((id) => !known(id));
    if (unfit === undefined) return;
    throw new InputError(
      'input.tokenizer',
      `The tokenizer puts token ${unfit} round every text, and its vocabulary lacks it.`,
      'Use the files of one tokenizer together.',
    );
  }
}

function modelOf(json: unknown, inBytes: boolean): Model {
  // Files of the first versions do not name the kind.
  const unnamed = typeof json === 'object' && json !== null && !('type' in json) && 'merges' in json;
  const kind = unnamed ? 'BPE' : kindOf(json, 'model');
  if (kind === 'WordPiece') return wordPiece(json);
  if (kind === 'BPE') return bytePairs(json, inBytes);
  throw unsupported('model', kind);
}
