// Texts as categories of which each row may have its own: what explains a model exchanges the values of columns, and need not know that some of
// them are texts.

import { rawCodes, type RawColumn } from '../../model/spec.ts';
import { unpackText } from '../../text/packed.ts';
import type { PreparedData, Shard } from '../../protocol/data.ts';
import type { TextCells } from './values.ts';

/** The texts that have been seen, by their codes (`rawCodes`): it grows with the rows that are read. */
export class TextCodes {
  readonly texts: string[] = [];
  readonly #codes = new Map<string, number>();

  codeOf(text: string | null): number {
    if (text === null) return rawCodes.missing;
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    this.texts.push(text);
    const code = this.texts.length - 1 + rawCodes.first;
    this.#codes.set(text, code);
    return code;
  }

  /** A column of codes as its texts. */
  cells(codes: Float64Array): TextCells {
    return { getItem: (row) => this.texts[codes[row] - rawCodes.first] ?? null };
  }
}

interface CodedRows {
  readonly data: PreparedData;
  readonly readShard: (index: number) => Promise<Shard>;
}

/** Columns as they are, with a column of codes for each text behind them. */
export function withTextCodes<R extends CodedRows>(rows: R, codes: TextCodes): R {
  const { data, readShard } = rows;
  if (data.input.kind !== 'columns' || data.input.texts === undefined) return rows;
  const { columns, texts } = data.input;
  const named = texts.map(({ name }): RawColumn => ({ name, kind: 'category', categories: codes.texts, texts: true }));
  const width = columns.length + texts.length;
  return {
    ...rows,
    data: { ...data, input: { kind: 'columns', columns: [...columns, ...named] }, width },
    readShard: async (index) => {
      const { x, y, rows: count } = await readShard(index);
      const own = new Float64Array(count * width);
      for (let row = 0; row < count; row++) {
        const from = row * data.width;
        for (let i = 0; i < columns.length; i++) own[row * width + i] = x[from + i];
        let at = from + columns.length;
        texts.forEach((text, i) => {
          own[row * width + columns.length + i] = codes.codeOf(unpackText(x, at));
          at += text.width;
        });
      }
      return { rows: count, x: own, y };
    },
  };
}
