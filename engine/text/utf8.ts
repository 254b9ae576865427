// UTF-8 by hand, as the core has no TextEncoder, and the 256 bytes as visible characters, in which byte-level tokenizers write their tokens.

/** Marks of a first byte with so many behind it. */
const leads = [0, 0xc0, 0xe0, 0xf0];

/** Bytes behind the first one. */
const following = (code: number): number => (code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3);

/** Bytes of a text in UTF-8; half a surrogate pair counts as U+FFFD, of three. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let place = 0; place < text.length; place++) {
    const code = text.codePointAt(place)!;
    if (code > 0xffff) place++;
    bytes += 1 + following(code);
  }
  return bytes;
}

/** A text in UTF-8, half a surrogate pair as U+FFFD. */
export function utf8Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Length(text));
  let length = 0;
  for (const character of text) {
    const own = character.codePointAt(0)!;
    const code = own >= 0xd800 && own <= 0xdfff ? 0xfffd : own;
    const behind = following(code);
    bytes[length++] = leads[behind] | (code >> (6 * behind));
    for (let left = behind - 1; left >= 0; left--) bytes[length++] = 0x80 | ((code >> (6 * left)) & 0x3f);
  }
  return bytes;
}

/** Characters that become a piece of text at a time. */
const pieceLength = 4096;

/** The text of bytes in UTF-8; what is none becomes U+FFFD, one for as much as could have been the beginning of a character. */
export function utf8Text(bytes: ArrayLike<number>): string {
  const pieces: string[] = [];
  let codes: number[] = [];
  for (let place = 0; place < bytes.length;) {
    const { code, end } = characterAt(bytes, place);
    place = end;
    codes.push(code);
    if (codes.length < pieceLength) continue;
    pieces.push(String.fromCodePoint(...codes));
    codes = [];
  }
  return pieces.join('') + String.fromCodePoint(...codes);
}

function characterAt(bytes: ArrayLike<number>, place: number): { readonly code: number; readonly end: number } {
  const first = bytes[place];
  if (first < 0x80) return { code: first, end: place + 1 };
  const behind = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4) return { code: 0xfffd, end: place + 1 };
  let code = first & (0x3f >> behind);
  // The second byte of some is limited: no longer form of a shorter one, no surrogates, nothing beyond U+10FFFF.
  let lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  let highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  for (let next = place + 1; next <= place + behind; next++) {
    const byte = bytes[next] ?? 0;
    if (byte < lowest || byte > highest) return { code: 0xfffd, end: next };
    code = (code << 6) | (byte & 0x3f);
    lowest = 0x80;
    highest = 0xbf;
  }
  return { code, end: place + 1 + behind };
}

/** The character each byte is written as: itself where it is visible Latin-1, else those from U+0100 on in order (GPT-2). */
export const byteCharacters: readonly string[] = (() => {
  let next = 0x100;
  const visible = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(visible(byte) ? byte : next++));
})();

const bytesByCharacter: ReadonlyMap<string, number> = new Map(
  byteCharacters.map((character, byte) => [character, byte]),
);

/** A text with each byte of its UTF-8 written as a visible character. */
export function writtenInBytes(text: string): string {
  // Most words are all visible ASCII.
  if (/^[!-~]*$/.test(text)) return text;
  let written = '';
  for (const byte of utf8Bytes(text)) written += byteCharacters[byte];
  return written;
}

/** The bytes of a token written so; one with any other character in it is taken as it is. */
export function bytesOfWritten(written: string): readonly number[] {
  const bytes = Array.from(written, (character) => bytesByCharacter.get(character));
  return bytes.every((byte) => byte !== undefined) ? bytes : [...utf8Bytes(written)];
}
