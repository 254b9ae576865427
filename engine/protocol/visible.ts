// Names, columns and paths come from files and may hold anything: a terminal obeys escape sequences, and characters that
// turn the direction of writing make a line read as something else. What people read, in a terminal or in the window, passes through here.

/** Control characters, line and paragraph separators, marks of direction, invisible characters and lone surrogates. */
const unprintable =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Surrogate}/gu;

const named = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** The text on one line with everything that cannot be seen written out: `\n`, `\x1b`, `\u202e`. */
export function visible(text: string): string {
  return text.replace(unprintable, (character) => named.get(character) ?? escaped(character.charCodeAt(0)));
}

function escaped(code: number): string {
  const digits = code.toString(16);
  return code < 0x100 ? `\\x${digits.padStart(2, '0')}` : `\\u${digits.padStart(4, '0')}`;
}
