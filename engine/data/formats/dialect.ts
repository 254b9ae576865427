// How a text file is laid out: delimiter, quote, escape, lines before the table. Found by a vote over its first records;
// DuckDB does the parsing. The vote must also hold for broken files, so that they are refused with the line that is wrong.

import { isMissingWord, isNumber, pointStyle } from '../schema/spelling.ts';
import { readRecords } from './records.ts';
import type { RecordStyle, TextRecord } from './records.ts';
import { countTitles } from './titles.ts';

/** Layout of a delimited text file. */
export interface Dialect extends RecordStyle {
  /** Lines before the header: comments, blank lines, Excel's `sep=;`, titles. */
  readonly skip: number;
  /** What those of them say that are titles. */
  readonly titles: readonly string[];
  /** Fields most records have. */
  readonly fields: number;
  /** Fields of the first record. One fewer than `fields`: a header without a name for the row names (as R writes). */
  readonly firstFields: number;
  /** Every record ends with a delimiter, as in `1,2,3,`. */
  readonly trailing: boolean;
}

/** Name of the delimiter "any number of spaces" among the candidates. */
const anySpaces = 'spaces';

/** Stands between the fields of a file with a single column: DuckDB needs a delimiter, texts do not hold this one. */
export const noDelimiter = '\u001f';

/** Candidates; of equally consistent ones the earlier wins, as a comma is likelier to be part of a value. */
const candidates = ['\t', ';', '|', ',', ':', anySpaces] as const;

/** Of two delimiters one is better if its score is higher by more than this. */
const margin = 0.02;
/** Records looked at. */
const recordLimit = 200;
/** Characters looked at. */
const looked = 2 ** 17;

/**
 * Finds the layout from the beginning of a text whose lines end in `\n`. `complete`: the text is the whole file, so its
 * last line counts.
 */
export function sniffDialect(text: string, complete: boolean, delimiter?: string): Dialect {
  let start = findStart(text);
  const titles: string[] = [];
  for (;;) {
    const rest = text.slice(start.offset);
    const found = sniffRest(rest, complete, delimiter ?? start.delimiter);
    const records = readRecords(firstLines(rest, looked), found, complete, recordLimit);
    const above = titles.length === 0 ? countTitles(records, tableWidth(found)) : 0;
    const lines = start.lines + (records[above]?.line ?? 1) - 1;
    if (above === 0) return { ...found, skip: start.lines, titles };
    titles.push(...records.slice(0, above).map(({ fields }) => fields.join(' ')));
    const offset = text.split('\n', lines).reduce((length, line) => length + line.length + 1, 0);
    const more = findStart(text.slice(offset));
    start = { ...start, offset: offset + more.offset, lines: lines + more.lines };
  }
}

/** Fields of a record without the empty one behind a delimiter at its end. */
function tableWidth({ fields, firstFields, trailing }: Pick<Dialect, 'fields' | 'firstFields' | 'trailing'>): number {
  return trailing && firstFields <= fields ? fields - 1 : fields;
}

/** The layout of a text that begins with its table, or with titles above it. */
function sniffRest(rest: string, complete: boolean, delimiter?: string): Omit<Dialect, 'skip' | 'titles'> {
  const body = firstLines(rest, looked);
  const quote = sniffQuote(body);
  const wished = delimiter === ' ' ? anySpaces : delimiter;
  const tried = wished === undefined ? candidates : [wished];
  const whole = complete && body.length === rest.length;
  // A backslash may stand before quotes: both ways are tried, and the usual one wins where they do equally well.
  const escapes = body.includes(`\\${quote}`) ? ([quote, '\\'] as const) : ([quote] as const);
  const votes = escapes.flatMap((escape) =>
    tried.map((candidate): Vote => {
      const spaced = candidate === anySpaces;
      const style = { delimiter: spaced ? ' ' : candidate, quote, escape, spaced };
      const records = readRecords(body, style, whole, recordLimit);
      return { ...(spaced ? voteSpaces(records) : vote(records, candidate)), escape };
    }),
  );
  let best: Vote | null = null;
  for (const next of votes) {
    if (!isPlausible(next)) continue;
    if (best === null || next.score > best.score + margin || isDecimalComma(best, next) || dividesHeader(best, next)) {
      best = next;
    }
  }
  const fields = wished === undefined ? 1 : (votes[0]?.fields ?? 1);
  const found = best ?? {
    delimiter: wished ?? noDelimiter,
    escape: quote,
    fields,
    firstFields: fields,
    trailing: false,
  };
  const spaced = found.delimiter === anySpaces;
  return {
    delimiter: spaced ? ' ' : found.delimiter,
    quote,
    spaced,
    escape: found.escape,
    fields: found.fields,
    firstFields: found.firstFields,
    trailing: found.trailing,
  };
}

/** The beginning of a text: whole lines, `length` characters or a little more, and three lines at least. */
export function firstLines(text: string, length: number): string {
  let end = 0;
  for (let line = 0; line < 3; line++) {
    const next = text.indexOf('\n', Math.max(end, line === 2 ? length - 1 : 0));
    if (next < 0) return text;
    end = next + 1;
  }
  return text.slice(0, end);
}

/** Where the table starts: after blank lines, `#` comments and Excel's `sep=` line. */
function findStart(text: string): { offset: number; lines: number; delimiter?: string } {
  let offset = 0;
  let lines = 0;
  for (;;) {
    const end = text.indexOf('\n', offset);
    if (end < 0) return { offset, lines };
    const line = text.slice(offset, end).trim();
    const hint = /^"?sep=(.)"?$/i.exec(line);
    if (hint !== null && lines === 0) return { offset: end + 1, lines: 1, delimiter: hint[1] };
    if (line !== '' && !line.startsWith('#')) return { offset, lines };
    // A first line such as "#id,name" is a header, not a comment, if the next line is laid out like it.
    if (line.startsWith('#') && looksLikeHeader(text.slice(offset, offset + looked))) return { offset, lines };
    offset = end + 1;
    lines++;
  }
}

/** Whether a text begins with a record of as many fields as the next one, several with some delimiter. */
function looksLikeHeader(text: string): boolean {
  return [',', ';', '\t', '|'].some((delimiter) => {
    const style = { delimiter, quote: '"', escape: '"', spaced: false } as const;
    const [first, second] = readRecords(text, style, true, 2);
    const count = first?.fields.length ?? 0;
    return count > 1 && second?.fields.length === count;
  });
}

/** Single quotes only when values begin and end with them and there are no double quotes. */
function sniffQuote(text: string): '"' | "'" {
  if (text.includes('"')) return '"';
  const quoted = text.match(/(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|\r\n]|$)/gm);
  return quoted !== null && quoted.length >= 2 ? "'" : '"';
}

interface Vote {
  readonly delimiter: string;
  readonly escape: RecordStyle['escape'];
  readonly fields: number;
  readonly firstFields: number;
  readonly trailing: boolean;
  /** Share of the records that have `fields` fields, less if the first record does not fit or if quoted texts are torn. */
  readonly score: number;
}

/** Quotes that close in the middle of a field break records: most of all where the delimiter is another one. */
function vote(all: readonly TextRecord[], delimiter: string): Omit<Vote, 'escape'> {
  const records = all.filter(({ broken }) => broken === null);
  const counts = records.map(({ fields }) => fields.length);
  const endsEmpty = records.map(({ fields }) => fields.length > 1 && fields.at(-1) === '');
  const emptyLast = endsEmpty.filter(Boolean).length;
  const firstEmptyLast = endsEmpty[0] === true;
  const tally = new Map<number, number>();
  for (const count of counts) tally.set(count, (tally.get(count) ?? 0) + 1);
  let fields = 1;
  let votes = 0;
  for (const [count, times] of tally) if (times > votes) [fields, votes] = [count, times];
  const firstFields = counts[0] ?? 1;
  // The header decides when a short, ragged file has no clear majority.
  const fits = tally.get(firstFields) ?? 0;
  if (fits > 0 && fits * 2 >= votes && firstFields > fields) [fields, votes] = [firstFields, fits];
  // 1,2,3, below a header a,b,c or a,b,c, — but not 1, below a,b, where the last column is just empty.
  const trailing =
    counts.length > 1 && emptyLast >= counts.length - 1 && (firstEmptyLast || firstFields === fields - 1);
  // A quote in the middle of one field and another in the next: the delimiter stands inside quoted texts.
  const torn = records.filter(({ stray }) => stray >= 2).length;
  const oddFirst = Math.abs(firstFields - fields) > 1 ? 0.3 : 0;
  const score = counts.length === 0 ? 0 : (votes - 0.1 * torn) / all.length - oddFirst;
  return { delimiter, fields, firstFields, trailing, score };
}

/** `next` divides the first record like the others, `best` finds no delimiter there: it stands within a column's texts. */
function dividesHeader(best: Vote, next: Vote): boolean {
  const divided = next.firstFields === next.fields && next.fields >= best.fields;
  return best.firstFields === 1 && divided && next.score > best.score - margin;
}

/** Runs of spaces stand between fields only where a column of numbers comes of it: sentences have spaces, too. */
function voteSpaces(records: readonly TextRecord[]): Omit<Vote, 'escape'> {
  const found = vote(records, anySpaces);
  const fields = records.filter(({ broken }) => broken === null).map((record) => record.fields);
  const below = fields.slice(1).filter((record) => record.length === found.fields);
  const hasNumbers = Array.from({ length: found.fields }).some(
    (_, column) =>
      below.some((record) => /\d/.test(record[column] ?? '')) &&
      below.every((record) => isMissingWord(record[column] ?? '') || isNumber(record[column] ?? '', pointStyle)),
  );
  const named = found.firstFields === found.fields || (found.fields > 2 && found.firstFields === found.fields - 1);
  return { ...found, score: hasNumbers && named ? found.score : 0 };
}

/** The commas below a header without any stand inside numbers, if spaces divide header and rows alike. */
function isDecimalComma(best: Vote, next: Vote): boolean {
  const fits = next.firstFields === next.fields && next.fields >= best.fields;
  return best.delimiter === ',' && best.firstFields === 1 && next.delimiter === anySpaces && fits;
}

function isPlausible({ delimiter, fields, score }: Vote): boolean {
  if (delimiter === anySpaces) return fields >= 2 && score >= 0.98;
  if (delimiter === ':') return fields >= 3 && score >= 0.98;
  return fields >= 2 && score >= 0.3;
}
