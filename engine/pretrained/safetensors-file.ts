// Safetensors files that others wrote: the header is read and checked, then each tensor by its range when it is asked for, so that
// a file may be larger than memory. Numbers of other types become float32.

import { fromHalf } from '../../kernels/half.ts';
import { InputError, TrainyardError } from '../protocol/errors.ts';
import { parseSafetensorsHeader, safetensorsHeaderLength, type TensorPlace } from '../train/safetensors.ts';

/** A file, read a range at a time. */
export interface ByteSource {
  /** As messages call it. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** The bytes from `start` to before `end`; fewer only where the file ends. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** The tensors of a file, or of several. */
export interface TensorSource {
  readonly name: string;
  readonly shapes: ReadonlyMap<string, readonly number[]>;
  /** Values of a tensor as float32. Throws InputError `input.weights` for an element type that is none of numbers that weights have. */
  read(tensor: string): Promise<Float32Array>;
}

/** Bytes an element of all types of the format; sizes alone are known of most. */
const elementBytes: Readonly<Record<string, number>> = {
  ...{ F32: 4, F16: 2, BF16: 2, F64: 8, I64: 8 },
  ...{ BOOL: 1, U8: 1, I8: 1, F8_E4M3: 1, F8_E5M2: 1, I16: 2, U16: 2, I32: 4, U32: 4, U64: 8 },
};

type Reader = (view: DataView, offset: number) => number;

/** Types whose values are taken. */
const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['F32', (view, offset) => view.getFloat32(offset, true)],
  ['F16', (view, offset) => halves[view.getUint16(offset, true)]],
  ['BF16', (view, offset) => upperHalf(view.getUint16(offset, true))],
  ['F64', (view, offset) => view.getFloat64(offset, true)],
  ['I64', (view, offset) => Number(view.getBigInt64(offset, true))],
]);

const bits = new DataView(new ArrayBuffer(4));

/** A float32 of which the upper 16 bits are given. */
function upperHalf(half: number): number {
  bits.setUint16(0, half);
  return bits.getFloat32(0);
}

const halves = Float32Array.from({ length: 2 ** 16 }, (_, half) => fromHalf(half));

/** Bytes read at a time. */
const pieceBytes = 2 ** 22;

/** Throws InputError `data.safetensors` where the file is damaged. */
export async function openSafetensors(source: ByteSource): Promise<TensorSource> {
  const reading = { file: source.name, elementBytes };
  const length = safetensorsHeaderLength(await source.read(0, Math.min(8, source.size)), source.size, reading);
  const header = await source.read(8, 8 + length);
  const places = new Map(parseSafetensorsHeader(header, source.size, reading).places.map((at) => [at.name, at]));
  return {
    name: source.name,
    shapes: new Map([...places].map(([name, { shape }]) => [name, shape])),
    read: (tensor) => readTensor(source, places.get(tensor)!),
  };
}

async function readTensor(source: ByteSource, { name, dtype, start, end }: TensorPlace): Promise<Float32Array> {
  const valueOf = readers.get(dtype);
  if (!valueOf) {
    throw new InputError(
      'input.weights',
      `${source.name}: tensor ${name} is ${dtype}, which no weights are read from.`,
      `Save it as one of ${[...readers.keys()].join(', ')}.`,
    );
  }
  const bytes = elementBytes[dtype];
  const values = new Float32Array((end - start) / bytes);
  for (let at = start, i = 0; at < end; at += pieceBytes) {
    const piece = await source.read(at, Math.min(end, at + pieceBytes));
    if (piece.byteLength < Math.min(end - at, pieceBytes)) throw endedEarly(source.name, name);
    const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let offset = 0; offset < piece.byteLength; offset += bytes) values[i++] = valueOf(view, offset);
  }
  return values;
}

function endedEarly(file: string, tensor: string): TrainyardError {
  return new TrainyardError(
    'data.safetensors',
    `${file} ended within tensor ${tensor} while it was read.`,
    'Somebody changes it: wait until it is whole.',
  );
}
