// The file format of numpy, version 1.0 (numpy/lib/format.py): a header in Python's words, then the values, row by row.

import { utf8 } from '../onnx/proto.ts';

export function npy(values: Float32Array | Uint8Array | Uint32Array, shape: readonly number[]): Uint8Array {
  const kind = values instanceof Float32Array ? '<f4' : values instanceof Uint32Array ? '<u4' : '|u1';
  const about = `{'descr': '${kind}', 'fortran_order': False, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`;
  const start = 10;
  // Padded with spaces, so that the values begin at a multiple of 64.
  const length = Math.ceil((start + about.length + 1) / 64) * 64 - start;
  const head = Uint8Array.from([
    0x93,
    ...utf8('NUMPY'),
    1,
    0,
    length & 255,
    length >> 8,
    ...utf8(`${about.padEnd(length - 1)}\n`),
  ]);
  const file = new Uint8Array(head.length + values.byteLength);
  file.set(head);
  file.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), head.length);
  return file;
}
