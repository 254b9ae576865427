// Tensors on the host: the typed array of each element type. Numbers of 16 bits are seen as their bits.

import { elementBytes, type ElementType } from '../../kernels/contract.ts';
import { fromHalf, toHalf } from '../../kernels/half.ts';

/** Typed contents of a tensor on the host side. */
export type HostArray = Float32Array | Float64Array | Uint32Array | Int32Array | Uint16Array | Uint8Array;

/** The type's array over part of a buffer; `length` in elements, `start` in bytes. */
export function hostView(type: ElementType, buffer: ArrayBufferLike, start: number, length: number): HostArray {
  switch (type) {
    case 'f32':
      return new Float32Array(buffer, start, length);
    case 'f64':
      return new Float64Array(buffer, start, length);
    case 'f16':
      return new Uint16Array(buffer, start, length);
    case 'u32':
      return new Uint32Array(buffer, start, length);
    case 'i32':
      return new Int32Array(buffer, start, length);
    case 'u8':
      return new Uint8Array(buffer, start, length);
  }
}

/** The values in the form that a tensor of the type takes. */
export function toHost(type: ElementType, values: ArrayLike<number>): HostArray {
  const array = hostView(type, new ArrayBuffer(values.length * elementBytes[type]), 0, values.length);
  for (let i = 0; i < values.length; i++) array[i] = type === 'f16' ? toHalf(values[i]) : values[i];
  return array;
}

/** The numbers that a tensor's contents stand for. */
export function fromHost(type: ElementType, data: HostArray): Float64Array {
  return type === 'f16' ? Float64Array.from(data, fromHalf) : Float64Array.from(data);
}
