// What a recipe of docs/adding.md leads to, as somebody would write it.

export interface Recipe {
  /** As in the page: `**A layer.**`. */
  readonly what: string;
  /** New files. */
  readonly files: Readonly<Record<string, string>>;
  /** Lines put before the first line that holds `before`. */
  readonly lines: readonly { readonly file: string; readonly before: string; readonly text: string }[];
  /** Stands for NAME in the proof. */
  readonly name?: string;
  /** Files it takes where that is more than `fewFiles`: those of one folder that each say something else. */
  readonly takes?: number;
  /** What the proof prints because of this recipe. */
  readonly proves: RegExp;
}
