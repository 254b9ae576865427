// Files people try that are no tables, recognised by their first bytes, so that the refusal can say what to do.

import { InputError } from '../../protocol/errors.ts';
import { archiveEnding, archiveHeadPath } from '../../protocol/keeping.ts';
import type { FileHead } from './format.ts';
import { isUtf32 } from './utf8.ts';

interface KnownBinary {
  /** What it begins with; null = any byte. */
  readonly bytes: readonly (number | null)[];
  readonly title: string;
  readonly hint: string;
}

const convert = 'Export it as CSV or Parquet and choose that file.';
const unpack = 'Unpack it and choose the file inside.';
const any = [null, null, null, null];
const picture = 'Pictures are trained on as a folder with one sub-folder a class.';

const known: readonly KnownBinary[] = [
  {
    bytes: [0xd0, 0xcf, 0x11, 0xe0],
    title: 'an old Excel workbook',
    hint: 'Save the sheet as CSV and choose that file.',
  },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], title: 'a Zstandard archive', hint: unpack },
  { bytes: [0x37, 0x7a, 0xbc, 0xaf], title: 'a 7-Zip archive', hint: unpack },
  { bytes: [0x25, 0x50, 0x44, 0x46], title: 'a PDF document', hint: convert },
  { bytes: [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65], title: 'an SQLite database', hint: convert },
  { bytes: [0x89, 0x48, 0x44, 0x46], title: 'an HDF5 file', hint: convert },
  {
    bytes: [0x46, 0x45, 0x41, 0x31],
    title: 'a Feather file of version 1',
    hint: 'Write it again as Feather 2 or Parquet.',
  },
  {
    bytes: [...any, null, 0, 0, 0, 0x7b, 0x22],
    title: 'a safetensors file, weights of a model',
    hint: 'Read it with import-model, or begin a run with it: train DATA --from it.',
  },
  { bytes: [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59], title: 'a NumPy array', hint: convert },
  { bytes: [0x89, 0x50, 0x4e, 0x47], title: 'a PNG picture', hint: picture },
  { bytes: [0xff, 0xd8, 0xff], title: 'a JPEG picture', hint: picture },
  { bytes: [0x47, 0x49, 0x46, 0x38], title: 'a GIF picture', hint: picture },
  { bytes: [0x52, 0x49, 0x46, 0x46, ...any, 0x57, 0x45, 0x42, 0x50], title: 'a WebP picture', hint: picture },
  { bytes: [...any, 0x66, 0x74, 0x79, 0x70, 0x61, 0x76, 0x69, 0x66], title: 'an AVIF picture', hint: picture },
  { bytes: [...any, 0x66, 0x74, 0x79, 0x70, 0x68, 0x65, 0x69, 0x63], title: 'a HEIC picture', hint: picture },
  { bytes: [0x42, 0x4d, ...any, 0, 0, 0, 0], title: 'a BMP picture', hint: picture },
  { bytes: [0x49, 0x49, 0x2a, 0], title: 'a TIFF picture', hint: picture },
  { bytes: [0x4d, 0x4d, 0, 0x2a], title: 'a TIFF picture', hint: picture },
];

/** Whether it is a tar archive (POSIX ustar): pictures often come as one. */
export const isTar = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(257, 262)).toString('latin1') === 'ustar';

/** Whether a tar archive is a file of Trainyard's own. */
const holdsRuns = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, archiveHeadPath.length + 1)).toString('latin1') === `${archiveHeadPath}\0`;

const refuseOwn = (name: string): InputError =>
  new InputError(
    'input.archive',
    `${name} holds runs or a whole home of Trainyard and is no table: such files are known by their ending ${archiveEnding}.`,
    `Name it ${name}${archiveEnding} and open it again.`,
  );

/** The refusal of a tar archive, packed again or not. */
export const refuseTar = (name: string): InputError =>
  new InputError(
    'input.archive',
    `${name} is a tar archive, not a table.`,
    'Unpack it and choose the folder of pictures or texts, or the table inside.',
  );

/** The first byte that no text has, where there are so few that the rest is one; null elsewhere. */
function strayControl(bytes: Uint8Array): { readonly byte: number; readonly line: number } | null {
  const isStray = (byte: number): boolean => byte < 0x20 && (byte < 0x09 || byte > 0x0d);
  const first = bytes.findIndex(isStray);
  if (first < 0 || bytes.filter(isStray).length > 1 + mostStray * bytes.length) return null;
  const line = 1 + bytes.subarray(0, first).filter((byte) => byte === 0x0a).length;
  return { byte: bytes[first], line };
}

/** Share of the bytes that may be control characters of a file that is text else, beside one. */
const mostStray = 0.02;

/** The refusal of a file that is not text. */
export function refuseKnownBinary({ name, bytes }: FileHead): InputError {
  if (isTar(bytes)) return holdsRuns(bytes) ? refuseOwn(name) : refuseTar(name);
  if (isUtf32(bytes)) {
    return new InputError('input.encoding', `${name} is text in UTF-32, which is not read.`, 'Save it as UTF-8.');
  }
  const match = known.find((kind) => kind.bytes.every((byte, index) => byte === null || bytes[index] === byte));
  const stray = match ? null : strayControl(bytes);
  if (stray) {
    return new InputError(
      'input.binary',
      `${name} is text but for a control character: the byte 0x${stray.byte.toString(16).padStart(2, '0')} in line ${stray.line}.`,
      'Remove such characters, or write the file anew: one that a power failure cut off may end in zeros.',
    );
  }
  return new InputError(
    match?.hint === picture ? 'input.picture' : 'input.binary',
    `${name} is not a table: it is ${match?.title ?? 'binary data'}.`,
    match?.hint ?? 'Choose a table as CSV, TSV, Parquet, Arrow or JSON lines; export other files to CSV first.',
  );
}
