// Numbers in the texts of a request. One value cannot tell what 1,234 means: as with the columns of a file (match.ts), all values of a column
// settle how it is written, and of several ways the one that reads most of it, or is far more like training, is taken.

import { sniffDateFormats } from '../schema/dates.ts';
import { shownDecimal } from '../schema/marks.ts';
import {
  isSpelledNumber,
  largestNumber,
  numberIn,
  otherReading,
  sniffNumberSpelling,
  spellingTitle,
  type DecimalMark,
  type NumberSpelling,
} from '../schema/numbers.ts';
import { isMissingWord } from '../schema/spelling.ts';
import type { FeatureRecipe } from './recipe.ts';

type NumberRecipe = Extract<FeatureRecipe, { kind: 'number' }>;

/** Of two ways to read numbers that may be a thousand times as large, the nearer one has to be nearer by this. */
export const nearer = 4;

/** The number that a value of the column says; undefined = none. */
export type NumberReader = (value: unknown) => number | undefined;

interface RequestColumn {
  readonly recipe: NumberRecipe;
  /** A value a row, as they were sent. */
  readonly values: readonly unknown[];
}

/** How each column of numbers of a request is read. */
export function readersOfNumbers(columns: readonly RequestColumn[]): readonly NumberReader[] {
  const texts = columns.map(textsOf);
  const decimal = decimalOf(texts);
  return columns.map((column, index) => {
    const given = column.values.filter((value) => value !== null && value !== undefined);
    // As a column of a file that holds nothing else; among numbers true says nothing.
    const truths = given.every((value) => typeof value === 'boolean');
    const spelling = spellingOf(column.recipe, texts[index], decimal);
    return (value) => {
      if (typeof value === 'boolean') return truths ? Number(value) : undefined;
      return typeof value === 'string'
        ? inText(value, spelling)
        : typeof value === 'number'
          ? usable(value)
          : undefined;
    };
  });
}

/** The different texts of a column, without what means "missing". How JSON writes its numbers tells nothing of them. */
function textsOf({ recipe, values }: RequestColumn): readonly string[] {
  const texts = values.flatMap((value) => (typeof value === 'string' ? [value.trim()] : []));
  return [...new Set(texts)].filter((text) => !isMissingWord(text) && !recipe.missing.includes(text));
}

/** The decimal mark that the columns show; a point where they do not, or not all the same. */
function decimalOf(columns: readonly (readonly string[])[]): DecimalMark {
  const unknown: DecimalMark = { mark: '.', certain: false };
  const spelled = columns.filter((texts) => texts.length > 0 && sniffNumberSpelling(texts, unknown) !== null);
  const marks = new Set(spelled.map(shownDecimal));
  marks.delete(null);
  const [mark = null, ...others] = marks;
  return mark === null || others.length > 0 ? unknown : { mark, certain: false, shown: true };
}

/** No date has a comma between its digits. Looking for dates takes a hundred times as long as looking for numbers. */
const dateless = /^[+-]?[\d.]*,[\d.,]*$/;

/** The way of writing that a column is read by; undefined = plain numbers. */
function spellingOf(recipe: NumberRecipe, texts: readonly string[], decimal: DecimalMark): NumberSpelling | undefined {
  const plain = recipe.numbers === undefined && texts.every((text) => inText(text, undefined) !== undefined);
  if (plain || texts.length === 0) return recipe.numbers;
  const dates = !texts.every((text) => dateless.test(text)) && sniffDateFormats(texts).length > 0;
  const own = (dates ? null : sniffNumberSpelling(texts, decimal)) ?? undefined;
  const ways = [recipe.numbers ?? own, own, otherReading(own) ?? own].map((spelling) => weigh(recipe, texts, spelling));
  return ways.reduce((best, other) => {
    if (other.unknown !== best.unknown) return other.unknown < best.unknown ? other : best;
    return other.far * nearer < best.far && other.title !== best.title ? other : best;
  }).spelling;
}

function weigh({ mean, deviation }: NumberRecipe, texts: readonly string[], spelling: NumberSpelling | undefined) {
  const found = texts.flatMap((text) => inText(text, spelling) ?? []);
  const distances = found.map((value) => Math.abs(value - mean) / deviation).sort((one, other) => one - other);
  const half = distances.length >> 1;
  const far = ((distances[half] ?? 0) + (distances[(distances.length - 1) >> 1] ?? 0)) / 2;
  const title = spelling === undefined ? '' : spellingTitle(spelling);
  return { spelling, title, unknown: texts.length - found.length, far };
}

const plainNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
/** As databases allow it within digits. */
const underscore = /(?<=\d)_(?=\d)/g;

function inText(text: string, spelling: NumberSpelling | undefined): number | undefined {
  if (spelling === undefined) {
    const bare = text.trim().replaceAll(underscore, '');
    return plainNumber.test(bare) ? usable(Number(bare)) : undefined;
  }
  if (!isSpelledNumber(text, spelling)) return undefined;
  const bare = spelling.mark === '' ? text : text.replaceAll(spelling.mark, '');
  return usable((/^[^0-9]*[-\u2212(]|-$/.test(bare) ? -1 : 1) * Number(numberIn(text, spelling)));
}

const usable = (value: number): number | undefined => (Math.abs(value) <= largestNumber ? value : undefined);
