// The Python of `tokens.py`.

import { missingWords } from '../../data/schema/spelling.ts';

/** A column of text, as the module is told of it. */
export interface DescribedText {
  readonly column: string;
  readonly file: string;
  readonly kind: string;
  readonly missing: readonly string[];
  /** No other word stands for a missing text. */
  readonly exact: boolean;
  readonly characters: number;
  readonly length: number;
  /** Of a longer text the end is read. */
  readonly end: boolean;
}

/** Tokenizers that the package `tokenizers` has no words for: each takes what its file says and gives a function from a text to ids. */
export const functions = {
  words: `
def words(saved):
    """Runs of letters, marks and digits of any script in lower case, of composed characters; id 0 stands for all others."""
    known = {word: place + 1 for place, word in enumerate(saved["words"])}

    def ids(text):
        marked = "".join(sign if unicodedata.category(sign)[0] in "LMN" else " " for sign in text)
        return [known.get(unicodedata.normalize("NFC", word).lower(), 0) for word in marked.split(" ") if word]

    return ids
`,
  characters: `
def characters(saved):
    """Each code point that training saw; id 0 stands for all others."""
    known = {sign: place + 1 for place, sign in enumerate(saved["characters"])}
    return lambda text: [known.get(sign, 0) for sign in text]
`,
} as const;

const fromFile = `
def from_file(text):
    """A tokenizer.json; the tokens round a text are not cut off where it is too long."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(here / text["file"]))
    tokenizer.no_padding()
    tokenizer.enable_truncation(text["length"], direction="left" if text["end"] else "right")
    return lambda one: tokenizer.encode(one).ids
`;

/** A literal of Python: JSON has other words for yes, no and nothing. */
const python = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);

const literal = (entries: object): string =>
  `{${Object.entries(entries)
    .map(([name, value]) => `${JSON.stringify(name)}: ${python(value)}`)
    .join(', ')}}`;

export const source = (
  texts: readonly DescribedText[],
  kinds: readonly (keyof typeof functions)[],
  files: boolean,
): string => `"""Texts as the model reads them: ids of their tokens by the tokenizer that lies beside this file, -1 behind the last one.
pip install numpy${files ? ' tokenizers' : ''}
    ids("${texts[0].column.replaceAll(/["\\\r\n]/g, ' ')}", ["a text", "another"])    # int64 [N, ${texts[0].length}]"""
import json
import pathlib
${kinds.includes('words') ? 'import unicodedata\n' : ''}
import numpy as np

here = pathlib.Path(__file__).resolve().parent
# Space separators of Unicode: they do not count where a cell is empty or a word for a missing value.
SPACES = " \\u00a0\\u1680\\u2000\\u2001\\u2002\\u2003\\u2004\\u2005\\u2006\\u2007\\u2008\\u2009\\u200a\\u202f\\u205f\\u3000"
# Words that stand for a missing value in another file, in lower case.
MISSING = {${missingWords([]).map(python).join(', ')}}
TEXTS = [
${texts.map((text) => `    ${literal(text)},`).join('\n')}
]
${kinds.map((kind) => `${functions[kind]}\n`).join('')}${files ? `${fromFile}\n` : ''}
def reader(text):
    if text["kind"] == "file":
        return ${files ? 'from_file(text)' : 'None'}
    return globals()[text["kind"]](json.loads((here / text["file"]).read_text(encoding="utf-8")))


READERS = {text["column"]: (text, reader(text)) for text in TEXTS}


def part(text, units, end):
    """Its first or last UTF-16 units, no half a character where it is cut; half a character elsewhere counts as U+FFFD."""
    whole = text.encode("utf-16-le", "surrogatepass")
    if len(whole) > 2 * units and end:
        whole = whole[-2 * units :]
        if 0xDC <= whole[1] < 0xE0:
            whole = whole[2:]
    elif len(whole) > 2 * units:
        whole = whole[: 2 * units]
        if 0xD8 <= whole[-1] < 0xDC:
            whole = whole[:-2]
    return whole.decode("utf-16-le", "replace")


def ids(column, texts):
    """int64 [N, length] of the texts of a column. None and a word for missing are read as an empty text."""
    about, read = READERS[column]
    found = np.full((len(texts), about["length"]), -1, np.int64)
    for row, text in enumerate(texts):
        trimmed = "" if text is None else text.strip(SPACES)
        if trimmed == "" or trimmed in about["missing"] or not about["exact"] and trimmed.lower() in MISSING:
            text = ""
        own = read(part(text, about["characters"], about["end"]))[: about["length"]]
        found[row, : len(own)] = own
    return found


def codes(columns):
    """float32 [N, sum of the lengths]: the columns that rows of the model end with, id + 1, 0 behind the last token."""
    return np.concatenate([ids(text["column"], columns[text["column"]]) + 1 for text in TEXTS], axis=1).astype(np.float32)
`;
