// The safetensors file format (github.com/huggingface/safetensors): 8 bytes little-endian header length, a JSON header
// (name → dtype, shape, data_offsets), then the data. Used for weights, checkpoints and exports; holds no code.

import { TrainyardError } from '../protocol/errors.ts';

export interface SafeTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export interface SafeTensorFile {
  readonly tensors: Readonly<Record<string, SafeTensor>>;
  readonly metadata: Readonly<Record<string, string>>;
}

interface HeaderEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

const maximumHeader = 100_000_000;

/** All tensors as float32, in the order given, data aligned to 8 bytes. */
export function encodeSafetensors({ tensors, metadata }: SafeTensorFile): Uint8Array {
  let offset = 0;
  const header: Record<string, unknown> = { __metadata__: metadata };
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  const text = encodeText(JSON.stringify(header));
  const head = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(0x20);
  head.set(text);
  const file = new Uint8Array(8 + head.length + offset);
  new DataView(file.buffer).setBigUint64(0, BigInt(head.length), true);
  file.set(head, 8);
  let position = 8 + head.length;
  for (const { data } of Object.values(tensors)) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), position);
    position += data.byteLength;
  }
  return file;
}

/** Throws TrainyardError `data.safetensors` when the file is damaged or holds another element type than float32. */
export function decodeSafetensors(file: Uint8Array): SafeTensorFile {
  const broken = (what: string): never => {
    throw new TrainyardError('data.safetensors', `The weights file is damaged: ${what}.`, 'Use another copy of it.');
  };
  if (file.length < 8) return broken(`${file.length} bytes`);
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  if (length > maximumHeader || 8 + length > file.length) return broken(`header of ${length} bytes`);
  let header: Record<string, unknown>;
  try {
    header = JSON.parse(fromUtf8(file.subarray(8, 8 + length))) as Record<string, unknown>;
  } catch {
    return broken('the header is not JSON');
  }
  const { __metadata__: metadata = {}, ...entries } = header;
  const start = 8 + length;
  const tensors: Record<string, SafeTensor> = {};
  for (const [name, entry] of Object.entries(entries as Record<string, HeaderEntry>)) {
    const [from, to] = entry.data_offsets;
    const elements = entry.shape.reduce((product, size) => product * size, 1);
    if (entry.dtype !== 'F32') return broken(`tensor ${name} is ${entry.dtype}, only F32 is read`);
    if (to - from !== 4 * elements || start + to > file.length) return broken(`tensor ${name} is cut short`);
    tensors[name] = { shape: entry.shape, data: new Float32Array(file.slice(start + from, start + to).buffer) };
  }
  return { tensors, metadata: metadata as Record<string, string> };
}

/** JSON as ASCII bytes: everything else is escaped, so that bytes and characters are the same. */
export function encodeText(text: string): Uint8Array {
  const escaped = text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return Uint8Array.from(escaped, (character) => character.charCodeAt(0));
}

/** UTF-8, as other writers may have used it, without TextDecoder, which is not part of the language. */
function fromUtf8(bytes: Uint8Array): string {
  let encoded = '';
  for (const byte of bytes)
    encoded += byte === 0x25 || byte > 0x7f ? `%${byte.toString(16)}` : String.fromCharCode(byte);
  return decodeURIComponent(encoded);
}
