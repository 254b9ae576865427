// How large a model may be that leaves as ONNX: what its certificate is made with has to hold all of it at once.

import { crossedMember } from '../../learners/auto/file.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import { countText } from '../../protocol/words.ts';
import { cannotExport } from '../refusal.ts';

/** Nodes of trees, leaves counted: 31 bytes each in the file, ten times that in onnxruntime. */
export const mostNodes = 4_000_000;

/** What files of trees and of ensembles have. */
interface Sized {
  readonly trees?: readonly { readonly column: readonly unknown[]; readonly rows: readonly unknown[] }[];
  readonly members?: readonly { readonly models: readonly object[] }[];
}

/** Nodes of the trees of a model, or of those of an ensemble. */
export function treeNodes(file: object): number {
  const { trees = [], members = [] } = file as Sized;
  const own = trees.reduce((sum, { column, rows }) => sum + column.length + rows.length, 0);
  return members.reduce((sum, { models }) => sum + models.reduce((all, model) => all + treeNodes(model), 0), own);
}

export const fitsOnnx = (file: ModelFile): boolean => treeNodes(file) <= mostNodes;

/** Throws `run.export` for one that is too large. */
export function refuseTooLarge(file: ModelFile): void {
  if (fitsOnnx(file)) return;
  throw cannotExport(
    `Its trees have ${countText(treeNodes(file), 'node')}; an ONNX file may have ${mostNodes.toLocaleString('en')}.`,
    file.learner === 'auto'
      ? `Export one of its ${crossedMember(file) ? 'folds' : 'members'}, a run of its own, or the whole as JSON.`
      : 'Train fewer trees, or smaller ones, or export it as JSON.',
  );
}
