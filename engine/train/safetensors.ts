// The safetensors file format (github.com/huggingface/safetensors): 8 bytes little-endian header length, a JSON header
// (name → dtype, shape, data_offsets), then the data. Used for weights, checkpoints and exports; holds no code.

import { InputError, TrainyardError } from '../protocol/errors.ts';
import { ownValue } from '../protocol/own.ts';

export interface SafeTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export interface SafeTensorFile {
  readonly tensors: Readonly<Record<string, SafeTensor>>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Where a tensor of a file lies: bytes within the file. */
export interface TensorPlace {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly start: number;
  readonly end: number;
}

/** What a file says of itself before its data. */
export interface SafetensorsHeader {
  readonly metadata: Readonly<Record<string, string>>;
  readonly places: readonly TensorPlace[];
}

/** A file as messages call it, and the element types that are read, with their bytes. */
interface HeaderReading {
  readonly file: string;
  readonly elementBytes: Readonly<Record<string, number>>;
}

/** Our own files. */
const ownFiles: HeaderReading = { file: 'The weights file', elementBytes: { F32: 4 } };

/** Bytes; a header has some 100 a tensor. */
const maximumHeader = 2 ** 25;
/** Dimensions of a tensor. */
const maximumRank = 16;

/** All tensors as float32, in the order given, data aligned to 8 bytes. */
export function encodeSafetensors({ tensors, metadata }: SafeTensorFile): Uint8Array {
  const { file, places } = layOutSafetensors(tensors, metadata);
  for (const [name, { data }] of Object.entries(tensors)) places[name].set(data);
  return file;
}

/** A file whose values are still to be put into their places, which are parts of it. */
export interface LaidOutFile {
  readonly file: Uint8Array;
  readonly places: Readonly<Record<string, Float32Array>>;
}

/** The file of such tensors, without their values. `memory` finds room for so many bytes or more. */
export function layOutSafetensors(
  tensors: Readonly<Record<string, { readonly shape: readonly number[] }>>,
  metadata: SafeTensorFile['metadata'],
  memory = (bytes: number): ArrayBuffer => new ArrayBuffer(bytes),
): LaidOutFile {
  let offset = 0;
  const header: Record<string, unknown> = { __metadata__: metadata };
  const ranges = Object.entries(tensors).map(([name, { shape }]) => {
    const from = offset;
    offset += 4 * shape.reduce((product, size) => product * size, 1);
    header[name] = { dtype: 'F32', shape, data_offsets: [from, offset] };
    return { name, from, length: (offset - from) / 4 };
  });
  const text = encodeText(JSON.stringify(header));
  const head = Math.ceil(text.length / 8) * 8;
  const size = 8 + head + offset;
  const file = new Uint8Array(memory(size), 0, size);
  new DataView(file.buffer).setBigUint64(0, BigInt(head), true);
  file.fill(0x20, 8 + text.length, 8 + head).set(text, 8);
  const places = ranges.map(({ name, from, length }) => [name, new Float32Array(file.buffer, 8 + head + from, length)]);
  return { file, places: Object.fromEntries(places) as Record<string, Float32Array> };
}

/**
 * Throws TrainyardError `data.safetensors` when the file is damaged or holds another element type than float32. The tensors
 * have to fill the file without gaps and overlaps, as the format demands. Nothing is copied before all that is known.
 */
export function decodeSafetensors(file: Uint8Array): SafeTensorFile {
  const { metadata, places } = readHeader(file);
  const tensors = places.map(({ name, shape, start, end }) => [
    name,
    { shape, data: new Float32Array(file.slice(start, end).buffer) },
  ]);
  return { tensors: Object.fromEntries(tensors) as Record<string, SafeTensor>, metadata };
}

/** The metadata of a file whose tensors are all in their places. Throws like `decodeSafetensors`. */
export function checkSafetensors(file: Uint8Array): Readonly<Record<string, string>> {
  return readHeader(file).metadata;
}

/** The shape of each tensor, without a look at the values. Throws like `decodeSafetensors`. */
export function shapesInSafetensors(file: Uint8Array): Readonly<Record<string, readonly number[]>> {
  return Object.fromEntries(readHeader(file).places.map(({ name, shape }) => [name, shape]));
}

function readHeader(file: Uint8Array): SafetensorsHeader {
  const length = safetensorsHeaderLength(file.subarray(0, 8), file.length);
  return parseSafetensorsHeader(file.subarray(8, 8 + length), file.length);
}

/** Bytes of the header, of the first 8 of a file of `size` bytes. Throws TrainyardError `data.safetensors`. */
export function safetensorsHeaderLength(first: Uint8Array, size: number, { file } = ownFiles): number {
  if (first.length < 8) throw damaged(file, `it has ${size} bytes`);
  const length = Number(new DataView(first.buffer, first.byteOffset).getBigUint64(0, true));
  if (length > maximumHeader || 8 + length > size) throw damaged(file, `its header has ${length} bytes`);
  return length;
}

/**
 * What the header of a file of `size` bytes says: tensors without gaps and overlaps, each as long as its shape and element type
 * ask for. Throws TrainyardError `data.safetensors`.
 */
export function parseSafetensorsHeader(
  bytes: Uint8Array,
  size: number,
  reading: HeaderReading = ownFiles,
): SafetensorsHeader {
  const { file } = reading;
  const { __metadata__: metadata = {}, ...entries } = parseHeader(bytes, file);
  if (!isObject(metadata) || Object.values(metadata).some((value) => typeof value !== 'string')) {
    throw damaged(file, 'its metadata is no text');
  }
  const data = 8 + bytes.length;
  const places = Object.entries(entries).map(([name, entry]) => placeOf(name, entry, data, reading));
  let end = data;
  for (const place of [...places].sort((first, second) => first.start - second.start || first.end - second.end)) {
    if (place.start !== end)
      throw damaged(file, `tensor ${place.name} begins at byte ${place.start} instead of ${end}`);
    end = place.end;
  }
  if (end !== size) throw damaged(file, `it has ${size} bytes, its tensors end at ${end}`);
  return { metadata: metadata as Record<string, string>, places };
}

function parseHeader(bytes: Uint8Array, file: string): Readonly<Record<string, unknown>> {
  try {
    const header: unknown = JSON.parse(decodeText(bytes));
    if (isObject(header)) return header;
  } catch {
    // As below.
  }
  throw damaged(file, 'its header is not JSON');
}

/** `from`: where the data begins. */
function placeOf(name: string, entry: unknown, from: number, { file, elementBytes }: HeaderReading): TensorPlace {
  if (!isObject(entry)) throw damaged(file, `tensor ${name} has no description`);
  const { dtype, shape, data_offsets: offsets } = entry;
  const bytes = ownValue(elementBytes, String(dtype));
  if (typeof dtype !== 'string' || bytes === undefined) {
    throw damaged(file, `tensor ${name} is ${String(dtype)}, only ${Object.keys(elementBytes).join(', ')} is read`);
  }
  if (!isCounts(shape) || shape.length > maximumRank) throw damaged(file, `tensor ${name} has no shape`);
  if (!isCounts(offsets) || offsets.length !== 2) throw damaged(file, `tensor ${name} has no place`);
  const [start, end] = offsets;
  const elements = shape.reduce((product, size) => product * size, 1);
  if (end - start !== bytes * elements) {
    throw damaged(file, `tensor ${name} has ${end - start} bytes for ${elements} values`);
  }
  return { name, dtype, shape, start: from + start, end: from + end };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCounts(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((count) => Number.isSafeInteger(count) && (count as number) >= 0);
}

/** A file of others is what a person has given. */
function damaged(file: string, what: string): TrainyardError {
  const Kind = file === ownFiles.file ? TrainyardError : InputError;
  return new Kind('data.safetensors', `${file} is damaged: ${what}.`, 'Use another copy of it.');
}

/** JSON as ASCII bytes: everything else is escaped, so that bytes and characters are the same. */
export function encodeText(text: string): Uint8Array {
  const escaped = text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const bytes = new Uint8Array(escaped.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = escaped.charCodeAt(i);
  return bytes;
}

/** Characters that become a piece of text at a time. */
const pieceLength = 8192;

/** UTF-8, as other writers may have used it, without TextDecoder, which is not part of the language. */
export function decodeText(bytes: Uint8Array): string {
  // A plain loop: a search reads models of a hundred kilobytes, five a trial.
  let bits = 0;
  for (let at = 0; at < bytes.length; at++) bits |= bytes[at];
  const ascii = bits <= 0x7f;
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length; start += pieceLength) {
    const piece = bytes.subarray(start, start + pieceLength);
    // Spread, the bytes would be an array of numbers first: six times as long.
    if (ascii) pieces.push(Reflect.apply(String.fromCharCode, null, piece));
    else pieces.push(Array.from(piece, percentEncoded).join(''));
  }
  return ascii ? pieces.join('') : decodeURIComponent(pieces.join(''));
}

function percentEncoded(byte: number): string {
  return byte === 0x25 || byte > 0x7f ? `%${byte.toString(16)}` : String.fromCharCode(byte);
}
