// Bins and trees as they are written, and read back: what is read is held to what a tree is before anyone walks it.

import { InputError } from '../../protocol/errors.ts';
import type { ColumnBins } from './bins.ts';
import type { ColumnFile, TreeFile } from './model-schema.ts';
import type { Tree } from './tree.ts';

export function columnFile(column: ColumnBins): ColumnFile {
  return column.kind === 'number'
    ? { kind: 'number', edges: [...column.edges] }
    : { kind: 'category', codes: [...column.codes] };
}

/** Throws InputError `model.weights` for edges that do not ascend. */
export function columnOf(file: ColumnFile): ColumnBins {
  if (file.kind === 'category') {
    return { kind: 'category', bins: file.codes.length, codes: Int32Array.from(file.codes) };
  }
  const edges = Float64Array.from(file.edges);
  if (edges.some((edge, i) => i > 0 && !(edge > edges[i - 1]))) throw damaged('the edges of a column do not ascend');
  return { kind: 'number', bins: edges.length + 1, edges };
}

/** Digits of what only people read. */
const digits = 6;

export function treeFile(tree: Tree): TreeFile {
  const { column, cut, missingLeft, left, right, gain, sets, value, spread, rows } = tree;
  return {
    ...{ column: [...column], cut: [...cut], missingLeft: [...missingLeft], left: [...left], right: [...right] },
    gain: Array.from(gain, (number) => Number(number.toPrecision(digits))),
    sets: sets.map((set) => [...set]),
    value: [...value],
    ...(spread === null ? {} : { spread: spreadFile(spread) }),
    rows: [...rows],
  };
}

function spreadFile({ starts, outputs }: NonNullable<Tree['spread']>): NonNullable<TreeFile['spread']> {
  return { counts: Array.from(starts.subarray(1), (end, leaf) => end - starts[leaf]), outputs: [...outputs] };
}

/** A tree; `outputs`: how many its leaves speak of, 1 for a value a leaf. Throws InputError `model.weights` where it is none. */
export function treeOf(file: TreeFile, columns: readonly ColumnBins[], outputs: number): Tree {
  const { column, cut, missingLeft, left, right, gain, sets, value, rows } = file;
  const spread = outputs > 1 ? spreadOf(file, outputs) : null;
  const nodes = column.length;
  const lengths = [cut, missingLeft, left, right, gain].map(({ length }) => length);
  const children = [...left, ...right];
  // Each node and each leaf hangs at one place, behind what it hangs at: there is no way round.
  const hangs = new Set(children).size === children.length && !children.includes(0);
  const behind = (child: number, node: number): boolean =>
    child >= 0 ? child > node && child < nodes : ~child <= nodes;
  const tests = column.every((index, node) => {
    const test = columns[index] as ColumnBins | undefined;
    if (test === undefined || !behind(left[node], node) || !behind(right[node], node)) return false;
    return cut[node] >= 0 && cut[node] < (test.kind === 'category' ? sets.length : test.bins);
  });
  const sizes = rows.length === nodes + 1 && (spread !== null || value.length === rows.length);
  if (!hangs || !tests || !sizes || lengths.some((length) => length !== nodes)) throw damaged('a tree is none');
  return {
    column: Int32Array.from(column),
    cut: Int32Array.from(cut),
    sets,
    missingLeft: Uint8Array.from(missingLeft),
    left: Int32Array.from(left),
    right: Int32Array.from(right),
    gain: Float64Array.from(gain),
    value: Float64Array.from(value),
    spread,
    rows: Float64Array.from(rows),
  };
}

function spreadOf({ spread, rows, value }: TreeFile, outputs: number): NonNullable<Tree['spread']> {
  const counts = spread?.counts ?? [];
  const starts = new Int32Array(rows.length + 1);
  for (let leaf = 0; leaf < rows.length; leaf++) starts[leaf + 1] = starts[leaf] + (counts.at(leaf) ?? 0);
  const fits =
    spread !== undefined &&
    counts.length === rows.length &&
    starts[rows.length] === value.length &&
    spread.outputs.length === value.length &&
    spread.outputs.every((output) => output < outputs);
  if (!fits) throw damaged('the values of a tree do not belong to its leaves');
  return { starts, outputs: Int32Array.from(spread.outputs) };
}

function damaged(what: string): InputError {
  return new InputError(
    'model.weights',
    `The trees of the model are damaged: ${what}.`,
    'Put a copy of the file back if you have one, or train again with the settings of the run.',
  );
}
