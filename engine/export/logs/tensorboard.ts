// The curves as TensorBoard reads them: one file of records (tensorflow/core/lib/io/record_writer), each an Event
// (tensorflow/core/util/event.proto): length, its masked CRC-32C, the message, its masked CRC-32C; all little-endian.

import type { ExportedFile } from '../../protocol/exports.ts';
import { utf8 } from '../onnx/proto.ts';
import type { OpenedRun } from '../opened.ts';

export function exportTensorboard(
  name: string,
  { record, points }: Pick<OpenedRun, 'record' | 'points'>,
): readonly ExportedFile[] {
  const start = (record.startedAt ?? record.createdAt) / 1000;
  const records = [event(start, 0, [...text(3, 'brain.Event:2')])];
  for (const { series, step, seconds, value } of points) {
    const summary = [...text(1, series), ...float(2, value)];
    records.push(event(start + seconds, step, message(5, message(1, summary))));
  }
  const data = joined(records.map(framed));
  return [{ path: `events.out.tfevents.${Math.floor(start)}.${name.replace(/[^\w-]/g, '-')}`, data }];
}

/** An Event: wall time (double, 1), step (int64, 2), and what it holds. */
function event(time: number, step: number, rest: readonly number[]): Uint8Array {
  return Uint8Array.from([...double(1, time), 2 << 3, ...varint(step), ...rest]);
}

const varint = (value: number): number[] => {
  const bytes: number[] = [];
  let left = Math.max(0, Math.floor(value));
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return [...bytes, left];
};

const message = (field: number, bytes: readonly number[]): number[] => [
  (field << 3) | 2,
  ...varint(bytes.length),
  ...bytes,
];

const text = (field: number, value: string): number[] => message(field, [...utf8(value)]);

const bytesOf = (values: Float32Array | Float64Array): number[] => [...new Uint8Array(values.buffer)];

const double = (field: number, value: number): number[] => [(field << 3) | 1, ...bytesOf(Float64Array.of(value))];

const float = (field: number, value: number): number[] => [(field << 3) | 5, ...bytesOf(Float32Array.of(value))];

/** A record with its lengths and checksums. */
export function framed(data: Uint8Array): Uint8Array {
  const record = new Uint8Array(16 + data.length);
  const view = new DataView(record.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, masked(crc32c(record.subarray(0, 8))), true);
  record.set(data, 12);
  view.setUint32(12 + data.length, masked(crc32c(data)), true);
  return record;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Rotated right by 15 bits and moved, so that a checksum of checksums is none. */
const masked = (crc: number): number => (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** CRC-32C (Castagnoli), RFC 3720. */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ table[(crc ^ byte) & 255];
  return (crc ^ 0xffffffff) >>> 0;
}
