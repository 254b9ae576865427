// JSON of files that people write or have written: some editors begin them with a byte-order mark, which is no JSON.

export const withoutMark = (text: string): string => (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);

/** Throws SyntaxError. */
export const parseJson = (text: string): unknown => JSON.parse(withoutMark(text));
