// Row-major matrices as the sources and the sink of a tiled product.

import type { WgslElement } from './gpu-contract.ts';
import type { Sink, Source } from './gpu-product.ts';
import { variableName } from './gpu-wgsl.ts';

/** The widest element whose size divides `length` values. */
export const elementFor = (length: number): WgslElement => (length % 4 === 0 ? 'vec4<f32>' : 'f32');

/**
 * A stored [outer, depth] matrix (`alongDepth`), or [depth, outer]; outer are the rows of a or the columns of b. Of several
 * matrices, one after the other, `matrix` is the WGSL expression for the number of the one to take.
 */
export function storedMatrix(operand: string, outer: number, depth: number, alongDepth: boolean, matrix = ''): Source {
  const [lines, length] = alongDepth ? [outer, depth] : [depth, outer];
  const element = elementFor(length);
  const variable = variableName(operand);
  const start = matrix === '' ? '' : `${matrix} * ${lines * length}u + `;
  const lineLimit = alongDepth ? `${lines}u` : 'end';
  const positionLimit = alongDepth ? 'end' : `${length}u`;
  const vector = `if (line >= ${lineLimit} || position >= ${positionLimit}) { return vec4<f32>(); }
  return ${variable}[(${start}line * ${length}u + position) / 4u];`;
  const scalars = `var values = vec4<f32>();
  if (line >= ${lineLimit}) { return values; }
  let at = ${start}line * ${length}u + position;
  if (position < ${positionLimit}) { values.x = ${variable}[at]; }
  if (position + 1u < ${positionLimit}) { values.y = ${variable}[at + 1u]; }
  if (position + 2u < ${positionLimit}) { values.z = ${variable}[at + 2u]; }
  if (position + 3u < ${positionLimit}) { values.w = ${variable}[at + 3u]; }
  return values;`;
  return {
    load: (name) => `fn ${name}(line: u32, position: u32, end: u32) -> vec4<f32> {
  ${element === 'f32' ? scalars : vector}
}`,
    alongDepth,
    reads: { [operand]: element },
  };
}

export interface MatrixSink {
  /** Operand for the result, [splits, m, n]. */
  readonly c: string;
  /** Columns of the result: they decide how it is written. */
  readonly n: number;
  /** The product has layers, whose results stand one after the other. */
  readonly layered?: boolean;
  /** Operand for the column sums of b, [splits, n]. */
  readonly columnSums?: string;
  /** Further operands the epilogue reads, seen as V. */
  readonly extra?: readonly string[];
  /**
   * WGSL that turns `value: V` at `at` (index of V elements in c) and `column_at` (within a row) into the result; V is
   * vec4<f32> where four divides n, else f32.
   */
  readonly epilogue?: string;
  /** Functions the epilogue calls. */
  readonly functions?: string;
}

/** A row-major result. */
export function matrixSink(sink: MatrixSink): Sink {
  const { c, n, layered = false, columnSums, extra = [], epilogue = '', functions = '' } = sink;
  const element = elementFor(n);
  const start = layered ? 'layer * (M * N) + ' : '';
  const code = `alias V = ${element};
${functions}
fn finish(product: V, at: u32, column_at: u32) -> V {
  var value = product;
  ${epilogue}
  return value;
}
${element === 'f32' ? scalarStore(c, start) : vectorStore(c, start)}
${columnSums === undefined ? '' : sumStore(columnSums, element)}`;
  return {
    code,
    reads: Object.fromEntries(extra.map((operand) => [operand, element])),
    writes: { [c]: element, ...(columnSums === undefined ? {} : { [columnSums]: element }) },
    sumsColumns: columnSums !== undefined,
  };
}

const vectorStore = (
  c: string,
  start: string,
): string => `fn store(row: u32, column: u32, split: u32, values: vec4<f32>) {
  if (row >= M || column >= N) { return; }
  let at = (${start}row * N + column) / 4u;
  ${c}[split * (M * N / 4u) + at] = finish(values, at, column / 4u);
}`;

const scalarStore = (
  c: string,
  start: string,
): string => `fn store(row: u32, column: u32, split: u32, values: vec4<f32>) {
  if (row >= M) { return; }
  let at = ${start}row * N + column;
  for (var i = 0u; i < 4u; i++) {
    if (column + i < N) { ${c}[split * (M * N) + at + i] = finish(values[i], at + i, column + i); }
  }
}`;

/** `store_sum` into an [splits, N] operand. */
export function sumStore(operand: string, element: WgslElement): string {
  if (element === 'vec4<f32>') {
    return `fn store_sum(column: u32, split: u32, values: vec4<f32>) {
  if (column < N) { ${operand}[(split * N + column) / 4u] = values; }
}`;
  }
  return `fn store_sum(column: u32, split: u32, values: vec4<f32>) {
  for (var i = 0u; i < 4u; i++) {
    if (column + i < N) { ${operand}[split * N + column + i] = values[i]; }
  }
}`;
}
