// The values of prepared rows: float32 for networks, float64 for columns as they are.

/** A column of one chunk of rows; null = nothing there. */
export interface NumberColumn {
  getItem(index: number): number | null;
}

/** A column of texts. */
export interface TextCells {
  getItem(index: number): string | null;
}

export type RawCells = NumberColumn | TextCells;

/** What the values of x are; those of y are float32. */
export type Element = 'f32' | 'f64';
export type Values = Float32Array | Float64Array;

export function makeValues(element: Element, count: number): Values {
  return element === 'f32' ? new Float32Array(count) : new Float64Array(count);
}
