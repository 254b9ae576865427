// Texts within rows of numbers, as they are: three UTF-16 units to a float64, which holds whole numbers up to 2^53. So rows that hold columns as
// they are can carry their texts as well, and every model makes tokens of them in its own way.

const perNumber = 3;
const unit = 2 ** 16;

/** Numbers that a text of so many UTF-16 units takes: its length, then its units. */
export const packedWidth = (characters: number): number => 1 + Math.ceil(characters / perNumber);

/** Writes a text, or null, into `width` numbers of `out` from `at` on; what does not fit is cut. */
export function packText(text: string | null, out: Float64Array, at: number, width: number): void {
  out.fill(0, at, at + width);
  const units = text === null ? 0 : Math.min(text.length, (width - 1) * perNumber);
  out[at] = text === null ? NaN : units;
  for (let i = 0; i < units; i++) {
    out[at + 1 + Math.floor(i / perNumber)] += (text as string).charCodeAt(i) * unit ** (i % perNumber);
  }
}

/** The text that stands in `x` from `at` on. */
export function unpackText(x: ArrayLike<number>, at: number): string | null {
  const units = x[at];
  if (Number.isNaN(units)) return null;
  const codes = new Uint16Array(units);
  for (let i = 0; i < units; i++)
    codes[i] = Math.floor(x[at + 1 + Math.floor(i / perNumber)] / unit ** (i % perNumber)) % unit;
  let text = '';
  for (let from = 0; from < units; from += 4096) text += String.fromCharCode(...codes.subarray(from, from + 4096));
  return text;
}
