// What a person types into a field for numbers. Fields show numbers with the region's decimal sign and without thousands separators
// (`plain`), and read them so; a point or comma that is not the region's counts as one, too, unless it could stand between thousands.

import { decimalSign, plain } from './format.ts';

/** A number, or why it is none in words where there is something to say. */
export type Typed = { readonly value: number } | { readonly problem: string | null };

const numeral = /^[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d+)?$/i;
/** Of digits with one sign: what could be a thousand and more. */
const likeThousands = /^([+-]?[1-9]\d{0,2})([.,])(\d{3})$/;
/** In thousands, or as in India: `12,34,567`. */
const grouped = /^[+-]?\d{1,3}(?:(?:[.,'’\s_]\d{2,3})*[.,'’\s_]\d{3})(?:[.,]\d*)?$/;

/** `0,01` and `0.01` are both 0.01; `1.000` is 1 where a point is the decimal sign, and refused where it is not. */
export function readTyped(text: string): Typed {
  const typed = text.trim().replace(/^−/, '-').replace(/e−/i, 'e-');
  const thousands = likeThousands.exec(typed);
  if (thousands && thousands[2] !== decimalSign()) {
    const [, whole, , rest] = thousands;
    const large = plain(Number(whole + rest));
    return { problem: `“${typed}” could be ${large} or ${whole}${decimalSign()}${rest}: write it like one of these` };
  }
  if (numeral.test(typed)) return { value: Number(typed.replace(',', '.')) };
  if (grouped.test(typed)) return { problem: `“${typed}” has signs between thousands: write it without them` };
  return { problem: null };
}

/** A step up (1) or down (−1): whole numbers by one, others by a tenth of their size, as from 0.001 to 0.0011. */
export function stepped(value: number, direction: 1 | -1, whole: boolean): number {
  const size = whole ? 1 : 10 ** Math.floor(Math.log10(Math.abs(value) || 1)) / 10;
  // What sums of decimals have behind their last digit.
  return Number((value + direction * size).toPrecision(15));
}
