// JSON: one object a line, or one list of objects; other shapes of tables are told apart by json-shapes.ts. Keys that come
// and go are missing values.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { InputError } from '../../protocol/errors.ts';
import { readHead } from '../files.ts';
import { quoteText } from '../sql.ts';
import { decodeHead, sniffEncoding, transcode } from './encoding.ts';
import { headBytes } from './format.ts';
import type { DatasetFormat, FileHead, OpenRequest, TableSource } from './format.ts';
import { describeOther, noTable, openLists, shapeOf, tableWithin } from './json-shapes.ts';
import { mend, mendedWarning, takeCensus } from './mixed.ts';
import { typedSource } from './typed.ts';
import { Utf8Census } from './utf8.ts';

/** Bytes of the longest object. */
const longestObject = 2 ** 26;
/** Bytes of the longest object that is a whole file. */
const largestFile = 2 ** 29;

export const jsonLines: DatasetFormat = {
  name: 'JSON lines',
  sniff(head) {
    const encoding = sniffEncoding(head.bytes);
    if (encoding === null) return false;
    const start = decodeHead(head.bytes, encoding).trimStart();
    if (/^\{\s*"/.test(start) || /^\[\s*\{\s*"/.test(start)) return true;
    return /\.json$/i.test(head.name) && /^[[{"]/.test(start);
  },
  open: (request) => openJson(request),
};

/** JSON is UTF-8: what is not is written again as that. */
async function openJson(request: OpenRequest): Promise<TableSource> {
  const { head, workFolder, job } = request;
  const encoding = sniffEncoding(head.bytes) ?? 'utf-8';
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const path = join(workFolder, 'utf-8.json');
    await transcode(head.path, encoding, path, head.size, job);
    return openJson({ ...request, head: await headOf(path, head) });
  }
  if (encoding !== 'utf-8' || new Utf8Census().take(head.bytes).others > 0) return openMended(request);
  try {
    return await readObjects(request);
  } catch (error) {
    // Bytes that are not UTF-8 may stand further down.
    if ((await takeCensus(head.path, job)).others === 0) throw error;
    return openMended(request);
  }
}

async function openMended(request: OpenRequest): Promise<TableSource> {
  const { head, workFolder, job } = request;
  const mended = await mend(head.path, join(workFolder, 'mended.json'), head.size, job);
  const source = await readObjects({ ...request, head: await headOf(mended.path, head) });
  return { ...source, warnings: [mendedWarning(mended), ...source.warnings] };
}

const headOf = async (path: string, { name }: FileHead): Promise<FileHead> =>
  readHead(path, name, (await stat(path)).size);

async function readObjects(request: OpenRequest): Promise<TableSource> {
  const { head, options } = request;
  const connection = await request.connection;
  const text = decodeHead(head.bytes, 'utf-8');
  const shape = shapeOf(text, head.size <= headBytes);
  if (shape === 'other') throw noTable(head.name, describeOther(text));
  const one = shape === 'one object';
  // DuckDB sets aside several times as much a thread.
  const longest = Math.min(longestObject, head.size + 1024);
  const settings = [
    "format = 'auto'",
    `ignore_errors = ${options.skipBadLines === true}`,
    `maximum_object_size = ${one ? Math.max(longest, Math.min(head.size + 1024, largestFile)) : longest}`,
    'sample_size = -1',
    'maximum_depth = -1',
    // A list of objects within an object has columns, however its keys come and go.
    ...(one ? ['map_inference_threshold = -1', 'field_appearance_threshold = 0'] : []),
  ];
  const table = `read_json(${quoteText(head.path)}, ${settings.join(', ')})`;
  try {
    if (shape === 'lists') return await openLists(request);
    const within = one ? await tableWithin(connection, table, head.name) : null;
    const source = await typedSource(connection, within ?? table, { format: 'JSON lines', encoding: 'UTF-8' });
    return { ...source, recover: () => Promise.reject(malformed(head.name, null)) };
  } catch (error) {
    if (!(error instanceof Error) || error instanceof InputError) throw error;
    throw malformed(head.name, await findBadLine(head), error);
  }
}

/** The first line that is not one JSON object; null if the file is not laid out in lines. */
async function findBadLine({ path }: FileHead): Promise<number | null> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
  let line = 0;
  for await (const text of lines) {
    line++;
    if (text.trim() === '' || isObject(text)) continue;
    // One list, or objects over several lines: there a line says nothing.
    return line === 1 ? null : line;
  }
  return null;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function malformed(name: string, line: number | null, cause?: Error): InputError {
  return new InputError(
    'input.json',
    line === null
      ? `${name}: not the JSON objects it should hold.`
      : `${name}, line ${line}: not a JSON object as it should be.`,
    'Write one complete JSON object a line, or let bad lines be left out.',
    { cause },
  );
}
