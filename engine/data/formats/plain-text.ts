// A text that is no table: a book, notes, sources. It becomes a column of passages, which put one under the other are the text again: each
// ends where a line does, next to no space.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import type { DataWarning } from '../../protocol/data.ts';
import { quoteText } from '../sql.ts';
import { decodeHead, encodingTitles, guessWarning, sniffEncoding } from './encoding.ts';
import type { DatasetFormat, FileHead } from './format.ts';
import { typedSource } from './typed.ts';
import { looksForeign } from './utf8.ts';

/** Lines looked at to tell a text from a table. */
const sampleLines = 400;
/** UTF-16 units of a passage, about; where no line ends as it has to, it goes on. */
const passage = 1_200;
const largestFile = 2 ** 28;
/** Bytes of a line that DuckDB reads unless told otherwise. */
const usualObject = 2 ** 24;
const extensions = /\.(txt|text|md|markdown)$/i;

export const plainText: DatasetFormat = {
  name: 'text',
  sniff(head) {
    const encoding = extensions.test(head.name) ? sniffEncoding(head.bytes) : null;
    return encoding !== null && isProse(decodeHead(head.bytes, encoding));
  },
  async open({ head, options, connection, workFolder }) {
    if (head.size > largestFile) {
      throw new InputError(
        'input.too_large',
        `${head.name} is a text of ${Math.round(head.size / 2 ** 20)} MB: more than ${largestFile / 2 ** 20} MB cannot be read as one.`,
        'Cut it into several files.',
      );
    }
    const encoding = sniffEncoding(head.bytes, options.encoding) ?? 'utf-8';
    const text = new TextDecoder(encoding).decode(await readFile(head.path)).replaceAll(/\r\n?/g, '\n');
    const lines = passages(text).map((part) => `${JSON.stringify({ text: part })}\n`);
    const path = join(workFolder, 'passages.jsonl');
    await writeFile(path, lines.join(''));
    // DuckDB sets aside several times as much a thread.
    const longest = lines.reduce((most, line) => Math.max(most, Buffer.byteLength(line)), usualObject);
    const settings = `format = 'newline_delimited', columns = {text: 'VARCHAR'}, maximum_object_size = ${longest}`;
    const table = `read_json(${quoteText(path)}, ${settings})`;
    const source = await typedSource(await connection, table, { format: 'text', encoding: encodingTitles[encoding] });
    const columns = source.columns.map((column) => ({ ...column, passages: true as const }));
    const guessed = encoding === 'windows-1252' && options.encoding === undefined && looksForeign(head.bytes);
    const warnings = [...(guessed ? [guessWarning] : []), ...source.warnings, ...unreadable(text, head)];
    return { ...source, columns, warnings };
  },
};

/** A sentence ends here, whatever closes behind it. */
const sentenceEnd = /[.!?…]["'”’»)\]]*$/;

/** Whether most of it is words, and no mark cuts its lines into as many parts each; that spaces do may be chance where lines are sentences. */
export function isProse(text: string): boolean {
  const lines = text
    .split(/\r\n?|\n/, sampleLines)
    .slice(0, -1)
    .filter((line) => line.trim() !== '');
  if (lines.length < 3) return isOneParagraph(text);
  const sample = lines.join('');
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  const signs = sample.match(/\S/gu)?.length ?? 0;
  if (letters < 0.6 * signs) return false;
  const sentences = lines.filter((line) => sentenceEnd.test(line.trim())).length;
  const marks = [/\t/g, /,/g, /;/g, /\|/g, ...(sentences > 0.5 * lines.length ? [] : [/\s+/g])];
  return marks.every((mark) => {
    const counts = lines.map((line) => line.trim().match(mark)?.length ?? 0);
    const [first] = counts;
    return !(first > 0 && counts.filter((count) => count === first).length > 0.6 * counts.length);
  });
}

/** Words at least of a text without lines. */
const fewestWords = 200;

/** Whether it is words on end, as a corpus on a single line is: no marks of a table among them, and few commas. */
function isOneParagraph(text: string): boolean {
  const words = text.match(/\S+/g) ?? [];
  if (words.length < fewestWords || /[\t;|]/.test(text)) return false;
  const count = (wanted: RegExp): number => text.match(wanted)?.length ?? 0;
  const signs = words.reduce((sum, { length }) => sum + length, 0);
  return signs < 20 * words.length && count(/\p{L}/gu) >= 0.6 * signs && count(/,/g) < 0.25 * words.length;
}

function passages(text: string): readonly string[] {
  const parts: string[] = [];
  const border = /\S\n(?=\S)/g;
  for (let start = 0; start < text.length;) {
    border.lastIndex = start + passage;
    const found = border.exec(text);
    const end = found ? found.index + 1 : text.length;
    parts.push(text.slice(start, end));
    start = end + 1;
  }
  return parts;
}

function unreadable(text: string, { name }: FileHead): DataWarning[] {
  const count = text.match(/\uFFFD/g)?.length ?? 0;
  if (count === 0) return [];
  const message = `${name} has ${count} ${count === 1 ? 'place' : 'places'} that cannot be read: each stands as �.`;
  return [{ code: 'unreadable_text', message }];
}
