// IDX files, as MNIST comes in (Y. LeCun, "The MNIST database"): two zero bytes, the element type, the number of
// dimensions, each dimension as a big-endian 32-bit number, then the elements. Often with gzip around it.

import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InputError } from '../../../protocol/errors.ts';
import { dropStart, takeStart } from './stored.ts';
import type { ElementType, StoredArray } from './stored.ts';

const elementTypes: Readonly<Record<number, Pick<ElementType, 'kind' | 'bytes'>>> = {
  0x08: { kind: 'uint', bytes: 1 },
  0x09: { kind: 'int', bytes: 1 },
  0x0b: { kind: 'int', bytes: 2 },
  0x0c: { kind: 'int', bytes: 4 },
  0x0d: { kind: 'float', bytes: 4 },
  0x0e: { kind: 'float', bytes: 8 },
};
const mostDimensions = 4;

/** @throws InputError if the file is no IDX file. */
export async function readIdx(path: string): Promise<StoredArray> {
  const name = basename(path);
  const head = await takeStart(openFile(path), 4 + 4 * mostDimensions);
  const dimensions = head[3] ?? 0;
  const element = elementTypes[head[2] ?? 0];
  const headBytes = 4 + 4 * dimensions;
  if (
    head[0] !== 0 ||
    head[1] !== 0 ||
    element === undefined ||
    dimensions < 1 ||
    dimensions > mostDimensions ||
    head.length < headBytes
  ) {
    throw new InputError('input.idx', `${name} is not an IDX file, or its beginning is broken.`, 'Download it again.');
  }
  const shape = Array.from({ length: dimensions }, (_, index) => head.readUInt32BE(4 + 4 * index));
  return {
    name,
    path,
    shape,
    element: { ...element, littleEndian: false },
    open: () => dropStart(openFile(path), headBytes),
  };
}

/** The file's bytes, unpacked. */
async function* openFile(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: 2 ** 20 });
  if (!/\.gz$/i.test(path)) return yield* file as AsyncIterable<Buffer>;
  try {
    yield* pipeline(file, createGunzip(), () => undefined) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new InputError('input.idx', `${basename(path)} cannot be unpacked.`, 'Download it again.', { cause: error });
  }
}
