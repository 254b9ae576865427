// What kernels over tensors of any rank share: up to six sizes among the parameters, of which an operand has some (its mask, a
// bit a dimension) and repeats along the others. Callers join neighbouring dimensions first, so that six are plenty.

import { elementCount } from './contract.ts';

export const mostDimensions = 6;
export const sizeNames = ['d0', 'd1', 'd2', 'd3', 'd4', 'd5'] as const;
export type SizeName = (typeof sizeNames)[number];

/** Sizes among the parameters of a contract. */
export const sizeParams = { d0: 'i32', d1: 'i32', d2: 'i32', d3: 'i32', d4: 'i32', d5: 'i32' } as const;

/** All bits: the operand has every dimension. */
export const wholeMask = 2 ** mostDimensions - 1;

export const sizesOf = (p: Readonly<Record<SizeName, number>>): readonly number[] => sizeNames.map((name) => p[name]);

/** Sizes of an operand that has the dimensions of `mask`: 1 along those that it repeats along. */
export function maskedSizes(sizes: readonly number[], mask: number): readonly number[] {
  return sizes.map((size, k) => (mask & (1 << k) ? size : 1));
}

/** Elements between neighbours along each dimension; 0 where the operand repeats. */
export function maskedStrides(sizes: readonly number[], mask: number): readonly number[] {
  const strides = sizes.map(() => 0);
  let step = 1;
  for (let k = sizes.length - 1; k >= 0; k--) {
    if (!(mask & (1 << k))) continue;
    strides[k] = step;
    step *= sizes[k];
  }
  return strides;
}

/** Calls `visit` for each element in row-major order with its number and its offsets by each of the strides. */
export function forEachElement(
  sizes: readonly number[],
  strides: readonly (readonly number[])[],
  visit: (element: number, offsets: readonly number[]) => void,
): void {
  const count = elementCount(sizes);
  for (let element = 0; element < count; element++) {
    const offsets = strides.map(() => 0);
    let left = element;
    for (let k = sizes.length - 1; k >= 0; k--) {
      const index = left % sizes[k];
      left = Math.floor(left / sizes[k]);
      strides.forEach((stride, i) => (offsets[i] += index * stride[k]));
    }
    visit(element, offsets);
  }
}

/** `{ d0, …, d5 }` of up to six sizes, ones in front. */
export function sizesAsParams(sizes: readonly number[]): Readonly<Record<SizeName, number>> {
  const padded = [...Array<number>(mostDimensions - sizes.length).fill(1), ...sizes];
  return Object.fromEntries(sizeNames.map((name, k) => [name, padded[k]])) as Record<SizeName, number>;
}

/** The mask of an operand from what it has of up to six dimensions, the last of which is the last bit. */
export function maskOf(has: readonly boolean[]): number {
  const first = mostDimensions - has.length;
  return has.reduce((mask, own, k) => (own ? mask | (1 << (first + k)) : mask), 0);
}
