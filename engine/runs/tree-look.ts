// A trained tree in words: conditions in the columns' own values, rows, gains, and what a leaf says in what is explained.

import { cellText } from '../model/cell-text.ts';
import { InputError } from '../protocol/errors.ts';
import type { ModelFile } from '../protocol/model-file.ts';
import type { TreeLook, TreeNode } from '../protocol/trees.ts';
import { rawCodes, type RawColumn } from '../model/spec.ts';
import type { ColumnBins } from '../learners/trees/bins.ts';
import type { GrownTrees } from '../learners/trees/explained.ts';
import { nodeRows, shapTree } from '../learners/trees/shap.ts';
import type { Tree } from '../learners/trees/tree.ts';

/** Categories of a condition that are named. */
const named = 6;

/** Trees in all: of boosting with several outputs, rounds. */
export function treesIn({ trees, first }: GrownTrees): number {
  return trees.some(({ spread }) => spread !== null) ? trees.length : trees.length / first.length;
}

/** `tree` from 1. Throws InputError `usage.tree` where there is none of this number. */
export function lookAtTree(
  grown: GrownTrees,
  { input, output }: Pick<ModelFile, 'input' | 'output'>,
  tree: number,
  wanted: number | null,
): TreeLook {
  const { columns, trees, first, adds } = grown;
  const of = treesIn(grown);
  if (!Number.isInteger(tree) || tree < 1 || tree > of) {
    throw new InputError(
      'usage.tree',
      `There is no tree ${tree}.`,
      of > 0 ? `Choose one of 1 … ${of}.` : 'It has none.',
    );
  }
  const sum = grown.sumOf(wanted);
  const chosen = trees.length === of ? trees[tree - 1] : trees[(tree - 1) * first.length + sum.output];
  const names = input.kind === 'columns' ? input.columns : [];
  // What a forest answers is a mean of its trees: each is shown as if it were alone.
  const alone = grown.alone(wanted);
  const { value, depth } = shapTree(chosen, sum.output);
  const rows = nodeRows(chosen);
  const inner = chosen.column.length;
  const place = (child: number): number => (child >= 0 ? child : inner + ~child);
  const nodes: TreeNode[] = Array.from(chosen.column, (column, node) => ({
    kind: 'split',
    column: names[column].name,
    ...testWords(chosen, node, columns[column], names[column]),
    rows: rows[node],
    gain: chosen.gain[node],
    left: place(chosen.left[node]),
    right: place(chosen.right[node]),
  }));
  chosen.rows.forEach((count, leaf) => {
    nodes.push({ kind: 'leaf', rows: count, value: alone.factor * value[leaf] + alone.offset });
  });
  const classes = output.kind === 'classes' ? output.classes : null;
  return { tree, of, wanted, classes, adds, scale: sum.scale, nodes, leaves: chosen.rows.length, depth };
}

function testWords(
  { cut, sets, missingLeft }: Tree,
  node: number,
  bins: ColumnBins,
  column: RawColumn,
): { readonly condition: string; readonly missing: 'left' | 'right' } {
  const text = (value: number): string => cellText(column, value);
  if (bins.kind === 'number') {
    const missing = missingLeft[node] === 1 ? 'left' : 'right';
    const edge = bins.edges.at(cut[node]);
    if (edge === undefined) return { condition: 'is there', missing };
    if (column.kind === 'boolean') return { condition: `is ${text(0)}`, missing };
    return {
      condition: `≤ ${text(column.kind === 'number' ? Number(edge.toPrecision(6)) : Math.floor(edge))}`,
      missing,
    };
  }
  const set = new Set(sets[cut[node]]);
  const ofMissing = bins.codes.indexOf(rawCodes.missing);
  const missing = set.has(ofMissing < 0 ? bins.bins : ofMissing) ? 'left' : 'right';
  const known = [...set].filter((bin) => bin !== ofMissing);
  const words = known.map((bin) => (bin < bins.bins ? text(bins.codes[bin]) : 'any other'));
  const more = words.length - named;
  const shown = more > 0 ? [...words.slice(0, named), `${more} more`] : words;
  return { condition: shown.length === 0 ? 'is missing' : `is ${orList(shown)}`, missing };
}

const orList = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
