// NumPy's NPY format (NEP 1): a magic word, a version, the length of a header, the header as a Python dictionary, then the
// elements.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, parse } from 'node:path';
import { InputError } from '../../../protocol/errors.ts';
import type { ElementKind, ElementType, StoredArray } from './stored.ts';
import { ownValue } from '../../../protocol/own.ts';

/** What a header says. */
export interface NpyHeader {
  readonly shape: readonly number[];
  readonly element: ElementType;
  /** Bytes before the first element. */
  readonly bytes: number;
}

/** Bytes that hold any header we can read. */
export const npyHeadBytes = 2 ** 14;

const kinds: Readonly<Record<string, ElementKind>> = {
  u: 'uint',
  i: 'int',
  f: 'float',
  b: 'bool',
  S: 'text',
  U: 'unicode',
};

/** @throws InputError if the file is no NPY file of numbers or texts. */
export async function readNpy(path: string): Promise<StoredArray> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(npyHeadBytes), 0, npyHeadBytes, 0);
    const { shape, element, bytes } = parseNpyHeader(buffer.subarray(0, bytesRead), basename(path));
    return {
      name: parse(path).name,
      path,
      shape,
      element,
      open: () => createReadStream(path, { start: bytes, highWaterMark: 2 ** 20 }),
    };
  } finally {
    await file.close();
  }
}

/** @throws InputError if these are not the first bytes of an NPY file of numbers or texts. */
export function parseNpyHeader(head: Buffer, name: string): NpyHeader {
  if (head.length < 12 || head.toString('latin1', 0, 6) !== '\x93NUMPY') {
    throw new InputError('input.npy', `${name} is not a NumPy array.`, 'Save it with numpy.save or numpy.savez.');
  }
  const [start, length] = head[6] === 1 ? [10, head.readUInt16LE(8)] : [12, head.readUInt32LE(8)];
  const header = head.toString('utf8', start, start + length);
  const [, order = '', kind = '', size = ''] = /'descr':\s*'([<>|=])([a-zA-Z])(\d*)'/.exec(header) ?? [];
  const fortran = /'fortran_order':\s*True/.test(header);
  const dimensions = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1]?.match(/\d+/g)?.map(Number);
  const known = ownValue(kinds, kind);
  if (known === undefined || dimensions === undefined || start + length > head.length) {
    const what = kind === 'O' || header.includes("'|O'") ? 'holds Python objects' : 'holds elements of an unknown type';
    throw new InputError('input.npy', `${name} ${what}.`, 'Save numbers (uint8 or float32), or texts as labels.');
  }
  if (fortran && dimensions.length > 1) {
    throw new InputError(
      'input.npy',
      `${name} is stored column by column (Fortran order).`,
      'Save numpy.ascontiguousarray(array) instead.',
    );
  }
  const bytes = Number(size) * (known === 'unicode' ? 4 : 1);
  return { shape: dimensions, element: { kind: known, bytes, littleEndian: order !== '>' }, bytes: start + length };
}
