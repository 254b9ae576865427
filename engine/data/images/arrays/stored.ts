// An array on disk as the NumPy and IDX formats have it: its shape, what its elements are, and its bytes as a stream. Large
// arrays are never held whole.

import { InputError } from '../../../protocol/errors.ts';

export type ElementKind = 'uint' | 'int' | 'float' | 'bool' | 'text' | 'unicode';

export interface StoredArray {
  /** For people, and to tell which arrays belong together: "x_train" or "train-images-idx3-ubyte". */
  readonly name: string;
  /** The file it stands in. */
  readonly path: string;
  readonly shape: readonly number[];
  readonly element: ElementType;
  /** The elements' bytes, row by row. */
  readonly open: () => AsyncIterable<Buffer>;
}

export interface ElementType {
  readonly kind: ElementKind;
  /** Bytes of one element. */
  readonly bytes: number;
  readonly littleEndian: boolean;
}

/** Reads one number of an array's bytes. */
export function numberReader({ kind, bytes, littleEndian }: ElementType): (view: DataView, at: number) => number {
  switch (`${kind}${8 * bytes}`) {
    case 'uint8':
    case 'bool8':
      return (view, at) => view.getUint8(at);
    case 'int8':
      return (view, at) => view.getInt8(at);
    case 'uint16':
      return (view, at) => view.getUint16(at, littleEndian);
    case 'int16':
      return (view, at) => view.getInt16(at, littleEndian);
    case 'uint32':
      return (view, at) => view.getUint32(at, littleEndian);
    case 'int32':
      return (view, at) => view.getInt32(at, littleEndian);
    case 'uint64':
      return (view, at) => Number(view.getBigUint64(at, littleEndian));
    case 'int64':
      return (view, at) => Number(view.getBigInt64(at, littleEndian));
    case 'float16':
      return (view, at) => halfFloat(view.getUint16(at, littleEndian));
    case 'float32':
      return (view, at) => view.getFloat32(at, littleEndian);
    case 'float64':
      return (view, at) => view.getFloat64(at, littleEndian);
    default:
      throw new InputError(
        'input.array',
        `Arrays of ${kind}${8 * bytes} cannot be read.`,
        'Save it as uint8 or float32.',
      );
  }
}

/** IEEE 754 binary16. */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** A stream of bytes without its first ones. */
export async function* dropStart(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const chunk of chunks) {
    const dropped = Math.min(left, chunk.length);
    left -= dropped;
    if (dropped < chunk.length) yield chunk.subarray(dropped);
  }
}

/** The first bytes of a stream; it is closed then. */
export async function takeStart(chunks: AsyncIterable<Buffer>, bytes: number): Promise<Buffer> {
  const taken: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    taken.push(chunk);
    size += chunk.length;
    if (size >= bytes) break;
  }
  return Buffer.concat(taken).subarray(0, bytes);
}

/** Elements of all dimensions but the first. */
export function elementsPerRow({ shape }: StoredArray): number {
  return shape.slice(1).reduce((product, size) => product * size, 1);
}

/**
 * An array's bytes in pieces of whole rows, `rows` at most each.
 * @throws InputError if the array ends early.
 */
export async function* readRows(array: StoredArray, rows: number): AsyncGenerator<Uint8Array> {
  const rowBytes = elementsPerRow(array) * array.element.bytes;
  const total = (array.shape[0] ?? 0) * rowBytes;
  const most = rows * rowBytes;
  let piece = new Uint8Array(Math.min(most, total));
  let filled = 0;
  let done = 0;
  for await (const chunk of array.open()) {
    for (let from = 0; from < chunk.length && done + filled < total;) {
      const taken = Math.min(chunk.length - from, piece.length - filled);
      piece.set(chunk.subarray(from, from + taken), filled);
      filled += taken;
      from += taken;
      if (filled < piece.length) continue;
      yield piece;
      done += filled;
      filled = 0;
      piece = new Uint8Array(Math.min(most, total - done));
    }
    if (done === total) return;
  }
  if (done + filled < total) {
    throw new InputError(
      'input.array_short',
      `${array.name} ends early: ${done + filled} of ${total} bytes are there.`,
      'Download or save it again.',
    );
  }
}

/** Classes by name: all elements of an array with one element a row. */
export async function readLabels(array: StoredArray): Promise<string[]> {
  const { element } = array;
  const labels: string[] = [];
  for await (const piece of readRows(array, 2 ** 16)) {
    const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
    const read = element.kind === 'text' || element.kind === 'unicode' ? textReader(element) : numericLabel(element);
    for (let at = 0; at < piece.length; at += element.bytes) labels.push(read(view, at));
  }
  return labels;
}

function numericLabel(element: ElementType): (view: DataView, at: number) => string {
  const read = numberReader(element);
  return (view, at) => String(read(view, at));
}

/** Texts of fixed length, filled up with zeros: bytes, or UTF-32. */
function textReader({ kind, bytes, littleEndian }: ElementType): (view: DataView, at: number) => string {
  const step = kind === 'unicode' ? 4 : 1;
  return (view, at) => {
    let text = '';
    for (let offset = 0; offset < bytes; offset += step) {
      const code = step === 4 ? view.getUint32(at + offset, littleEndian) : view.getUint8(at + offset);
      if (code === 0) break;
      text += String.fromCodePoint(code);
    }
    return text.trim().normalize('NFC');
  };
}
