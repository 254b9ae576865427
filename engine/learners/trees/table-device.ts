// A table on its way to bins, on a device: columns of numbers sorted, and numbers put between edges. What is few is done by the host.

import { mostEdges, noNumber } from '../../../kernels/tree_bins/kernel.ts';
import type { Backend } from '../../backends/backend.ts';
import { binnerOf, type ColumnBins } from './bins.ts';
import { kernelPlan, type PlannedCall } from './kernel-plan.ts';

/** Values from which a device is worth its opening. */
const leastValues = 500_000;
/** Values there at a time, about: enough for all threads, in parts small enough to find out how many pay. */
const valuesAtOnce = 500_000;

/** Whether so many values are a device's work. */
export const paysOnDevice = (values: number): boolean => values >= leastValues;

/** Sorts columns in place; no value may be NaN. */
export async function* sortColumns(
  backend: Backend,
  columns: readonly Float64Array[],
): AsyncGenerator<void, void, void> {
  const rows = columns.reduce((most, { length }) => Math.max(most, length), 1);
  const several = Math.min(columns.length, Math.max(4, backend.device.threads ?? 1));
  const executable = await backend.compile(
    kernelPlan(
      {
        counts: { type: 'u32', elements: several },
        job: { type: 'u32', elements: 1 },
        values: { type: 'f64', elements: several * rows },
        spare: { type: 'f64', elements: several * rows },
      },
      { sort: [{ kernel: 'tree_sort', params: { rows, columns: several } }] },
    ),
  );
  try {
    for (let first = 0; first < columns.length; first += several) {
      const own = columns.slice(first, first + several);
      executable.write(
        'counts',
        Uint32Array.from(own, ({ length }) => length),
      );
      executable.write('job', Uint32Array.of(own.length));
      own.forEach((column, i) => executable.write('values', column, i * rows));
      await executable.run('sort', 1);
      for (const [i, column] of own.entries()) {
        column.set((await executable.read('values', i * rows, column.length)) as Float64Array);
      }
      yield;
    }
  } finally {
    executable.dispose();
  }
}

/** Rows that are put into bins at a time. */
export const rowsAtOnce = (width: number, most: number): number =>
  Math.max(1, Math.min(most, Math.ceil(valuesAtOnce / Math.max(1, width))));

/** The tensors that rows and their bins lie in. */
export const binTensors = (rows: number, width: number) =>
  ({
    x: { type: 'f64', elements: rows * width },
    edges: { type: 'f64', elements: width * mostEdges },
    missing: { type: 'u32', elements: width },
    rows: { type: 'u32', elements: 1 },
    bins: { type: 'u8', elements: rows * width },
  }) as const;

export const binCall = (rows: number, width: number): PlannedCall => ({
  ...{ kernel: 'tree_bins', params: { rows, width }, others: { job: 'rows' } },
});

/** Where tensors are written. */
interface Writable {
  write(tensor: string, data: Float64Array | Uint32Array | Uint8Array): void;
}

/** Hands over what numbers are put between; categories have their own table, on the host. */
export function writeEdges(device: Writable, columns: readonly ColumnBins[]): void {
  const edges = new Float64Array(columns.length * mostEdges).fill(Infinity);
  columns.forEach((column, i) => {
    if (column.kind === 'number') edges.set(column.edges, i * mostEdges);
  });
  device.write('edges', edges);
  device.write(
    'missing',
    Uint32Array.from(columns, ({ kind, bins }) => (kind === 'number' ? bins : noNumber)),
  );
}

/** Writes `count` rows of `x` [count, width], and the bins of their categories. */
export function rowWriter(
  device: Writable,
  columns: readonly ColumnBins[],
  most: number,
): (x: ArrayLike<number>, count: number) => void {
  const width = columns.length;
  const categories = [...columns.entries()].filter(([, { kind }]) => kind === 'category');
  const binners = categories.map(([at, column]) => [at, binnerOf(column)] as const);
  const bins = new Uint8Array(binners.length > 0 ? most * width : 0);
  return (x, count) => {
    device.write('x', x instanceof Float64Array ? x : Float64Array.from(x));
    device.write('rows', Uint32Array.of(count));
    for (const [at, binner] of binners) binner(x, count, width, at, bins, 0);
    if (binners.length > 0) device.write('bins', bins.subarray(0, count * width));
  };
}

export interface TableBinner {
  /** Writes the bins of `count` rows of `x` [count, width] into `bins`; between two parts others may have their turn. */
  put(x: ArrayLike<number>, count: number, bins: Uint8Array): AsyncGenerator<void, void, void>;
  close(): void;
}

/** Rows to bins right here, column by column. */
export function hostBinner(columns: readonly ColumnBins[]): TableBinner {
  const width = columns.length;
  const binners = columns.map(binnerOf);
  return {
    async *put(x, count, bins) {
      for (const [at, binner] of binners.entries()) {
        binner(x, count, width, at, bins, 0);
        yield;
      }
    },
    close: () => undefined,
  };
}

/** Rows to bins on a device, `most` at once. */
export async function openBinner(backend: Backend, columns: readonly ColumnBins[], most: number): Promise<TableBinner> {
  const width = columns.length;
  const rows = rowsAtOnce(width, most);
  const plan = kernelPlan(binTensors(rows, width), { bins: [binCall(rows, width)] });
  const executable = await backend.compile(plan);
  writeEdges(executable, columns);
  const write = rowWriter(executable, columns, rows);
  return {
    async *put(x, count, bins) {
      for (let from = 0; from < count; from += rows) {
        const to = Math.min(count, from + rows);
        write(part(x, from * width, to * width), to - from);
        await executable.run('bins', 1);
        bins.set((await executable.read('bins', 0, (to - from) * width)) as Uint8Array, from * width);
        yield;
      }
    },
    close: () => executable.dispose(),
  };
}

/** Some of the values, without a copy where that can be. */
export const part = (x: ArrayLike<number>, from: number, to: number): ArrayLike<number> =>
  x instanceof Float64Array ? x.subarray(from, to) : Array.prototype.slice.call(x, from, to);
