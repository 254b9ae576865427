// The file formats of tables, asked in this order. Adding one: see format.ts.

import { arrow } from './arrow.ts';
import type { DatasetFormat, FileHead } from './format.ts';
import { delimitedText } from './delimited.ts';
import { jsonLines } from './json-lines.ts';
import { parquet } from './parquet.ts';
import { refuseKnownBinary } from './known-binaries.ts';
import { plainText } from './plain-text.ts';

export const formats: readonly DatasetFormat[] = [
  parquet,
  arrow,
  jsonLines,
  plainText,
  // It comes last: any text is delimited text.
  delimitedText,
];

/**
 * The format of a file.
 * @throws InputError if no format takes it.
 */
export function findFormat(head: FileHead): DatasetFormat {
  const format = formats.find((candidate) => candidate.sniff(head));
  if (format === undefined) throw refuseKnownBinary(head);
  return format;
}
