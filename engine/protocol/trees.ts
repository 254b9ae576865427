// A tree of a run as it is looked at: its nodes in words and figures.

/** What the trees add up to: the answer itself, the logarithm of the odds of a class, a score that shares of classes are made of, the logarithm of a count. */
export type TreeScale = 'answer' | 'log odds' | 'score' | 'logarithm';

export type TreeNode =
  | {
      readonly kind: 'split';
      readonly column: string;
      /** What is asked of the column, in its own values: `≤ 206.5`, `is Dream or Torgersen`. */
      readonly condition: string;
      /** Where a missing value goes. */
      readonly missing: 'left' | 'right';
      /** Training rows. */
      readonly rows: number;
      readonly gain: number;
      /** Places among the nodes: what the condition holds for, and the rest. */
      readonly left: number;
      readonly right: number;
    }
  | { readonly kind: 'leaf'; readonly rows: number; readonly value: number };

export interface TreeLook {
  /** From 1, of how many: rounds of boosting, trees of a forest. */
  readonly tree: number;
  readonly of: number;
  /** Place of the class the values are of; null: a number. */
  readonly wanted: number | null;
  readonly classes: readonly string[] | null;
  /** What the values of leaves are: what a tree adds (boosting), or what it answers (a forest). */
  readonly adds: boolean;
  readonly scale: TreeScale;
  /** The root first, a child behind its parent. */
  readonly nodes: readonly TreeNode[];
  readonly leaves: number;
  readonly depth: number;
}
