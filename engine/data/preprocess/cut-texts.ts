// Texts of a file of which a model does not read all, counted while rows are made of them: only where every place of a row is taken is a text
// looked at again.

import type { DataWarning } from '../../protocol/data.ts';
import type { Preprocessing, TextRecipe } from './recipe.ts';
import { tokenizerFor } from './texts.ts';
import type { RawCells, TextCells, Values } from './values.ts';

interface Counted {
  readonly recipe: TextRecipe;
  /** Which of the features it is, and where its codes end, counted from the end of a row. */
  readonly index: number;
  readonly behind: number;
  cut: number;
}

export class CutTexts {
  readonly #texts: readonly Counted[];
  #rows = 0;

  constructor({ features, form, language }: Preprocessing) {
    let behind = 0;
    const texts = features.flatMap((recipe, index) => (recipe.kind === 'text' ? [{ recipe, index, cut: 0 }] : []));
    const counted = texts.toReversed().map((text) => {
      const place = { ...text, behind };
      behind += text.recipe.length;
      return place;
    });
    this.#texts = form === 'columns' || language ? [] : counted.reverse();
  }

  /** `columns` in the order of the features, and what was made of them: x [rows, width]. */
  watch(columns: readonly RawCells[], rows: number, x: Values, width: number): void {
    this.#rows += rows;
    for (const text of this.#texts) {
      const cells = columns[text.index] as TextCells;
      for (let row = 0; row < rows; row++) {
        if (x[(row + 1) * width - text.behind - 1] !== 0 && isCut(text.recipe, cells.getItem(row) ?? '')) text.cut++;
      }
    }
  }

  get warnings(): readonly DataWarning[] {
    return this.#texts.flatMap(({ recipe: { column, length, keepsEnd }, cut }): readonly DataWarning[] => {
      if (cut === 0) return [];
      const [some, all, most] = [cut, this.#rows, length].map((count) => count.toLocaleString('en'));
      const many = `${some} of ${all} texts ${cut === 1 ? 'is' : 'are'} longer`;
      const what = keepsEnd ? 'the beginning' : 'the rest';
      const message = `${column}: ${many} than the ${most} tokens that the model reads; ${what} of them is not read.`;
      return [{ code: 'cut_texts', message, columns: [column] }];
    });
  }
}

/** A text beyond `characters` has been cut there already. */
const isCut = (recipe: TextRecipe, text: string): boolean =>
  text.length > recipe.characters ||
  tokenizerFor(recipe).encode(text, { most: recipe.length + 1 }).length > recipe.length;
