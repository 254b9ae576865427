// Raw features → the float32 rows a model sees, by a fitted recipe. Training data and new files go through this same code.

import { outputNames } from './recipe.ts';
import type { FeatureRecipe, Preprocessing, TargetRecipe, TextRecipe } from './recipe.ts';
import { packedWidth, packText } from '../../text/packed.ts';
import { cutText, encodeText } from './texts.ts';
import type { Element, NumberColumn, RawCells, TextCells, Values } from './values.ts';

/** Milliseconds of a day. */
const day = 86_400_000;

export type DatePart = 'month' | 'weekday' | 'hour';

/** How far a time is through its year, week or day: 0 … 1. */
export function datePart(milliseconds: number, part: DatePart): number {
  const days = Math.floor(milliseconds / day);
  switch (part) {
    case 'month': {
      const date = new Date(milliseconds);
      return (date.getUTCMonth() + (date.getUTCDate() - 1) / 31) / 12;
    }
    case 'weekday':
      // 1970 began on a Thursday; Monday is 0.
      return ((((days + 3) % 7) + 7) % 7) / 7;
    case 'hour':
      return (milliseconds - days * day) / day;
    default:
      return part satisfies never;
  }
}

/** Writes `rows` values of one feature into `x` [rows, width], from column `at` on. */
type FeatureEncoder<Cells = NumberColumn> = (cells: Cells, rows: number, x: Values, width: number, at: number) => void;

/** Encodes whole chunks of rows: x [rows, width] and y [rows, 1]. */
export class RowEncoder {
  readonly width: number;
  readonly element: Element;
  readonly #features: readonly { readonly encode: FeatureEncoder<RawCells>; readonly at: number }[];
  readonly #target: TargetRecipe;

  constructor({ features, target, form }: Preprocessing) {
    this.#target = target;
    const columns = features.filter(({ kind }) => kind !== 'text').length;
    if (form === 'columns') {
      let nextColumn = 0;
      let nextText = columns;
      this.#features = features.map((feature) => {
        if (feature.kind !== 'text') return { encode: encodeAsIs as FeatureEncoder<RawCells>, at: nextColumn++ };
        const at = nextText;
        nextText += packedWidth(feature.characters);
        return { encode: packTexts(feature) as FeatureEncoder<RawCells>, at };
      });
      this.width = nextText;
      this.element = 'f64';
      return;
    }
    const numeric = features.reduce((sum, feature) => sum + outputNames(feature).length, 0);
    let nextNumber = 0;
    let nextCode = numeric;
    let nextText = numeric + features.filter(({ kind }) => kind === 'embedding').length;
    this.#features = features.map((feature) => {
      const at = feature.kind === 'text' ? nextText : feature.kind === 'embedding' ? nextCode++ : nextNumber;
      nextNumber += outputNames(feature).length;
      if (feature.kind === 'text') nextText += feature.length;
      return { encode: encoderOf(feature) as FeatureEncoder<RawCells>, at };
    });
    this.width = nextText;
    this.element = 'f32';
  }

  /** `columns` in the order of the recipe's features. Every element of the first `rows` rows of `x` is written. */
  encode(columns: readonly RawCells[], rows: number, x: Values): void {
    this.#features.forEach(({ encode, at }, index) => encode(columns[index] as RawCells, rows, x, this.width, at));
  }

  /** The target's column → class numbers or standardised values; NaN where there is none. */
  encodeTarget(column: NumberColumn | null, rows: number, y: Float32Array): void {
    const target = this.#target;
    for (let row = 0; row < rows; row++) {
      const value = column?.getItem(row) ?? NaN;
      if (target.kind === 'classes') y[row] = value >= 1 ? value - 1 : NaN;
      else y[row] = (value - target.offset) / target.scale;
    }
  }
}

function encoderOf(feature: FeatureRecipe): FeatureEncoder | FeatureEncoder<TextCells> {
  switch (feature.kind) {
    case 'number':
      return encodeNumber(feature);
    case 'boolean':
      return encodeNumber({ ...feature, mean: 0, deviation: 1 });
    case 'one_hot':
      return encodeOneHot(feature);
    case 'embedding':
      return encodeCode;
    case 'datetime':
      return encodeTime(feature);
    case 'text':
      return encodeTexts(feature);
    default:
      return feature satisfies never;
  }
}

const encodeCode: FeatureEncoder = (values, rows, x, width, at) => {
  for (let row = 0; row < rows; row++) x[row * width + at] = values.getItem(row) ?? 0;
};

const encodeTexts =
  (feature: TextRecipe): FeatureEncoder<TextCells> =>
  (texts, rows, x, width, at) => {
    for (let row = 0; row < rows; row++) encodeText(feature, texts.getItem(row), x, row * width + at);
  };

const encodeAsIs: FeatureEncoder = (values, rows, x, width, at) => {
  for (let row = 0; row < rows; row++) x[row * width + at] = values.getItem(row) ?? NaN;
};

const packTexts =
  ({ characters, keepsEnd }: TextRecipe): FeatureEncoder<TextCells> =>
  (texts, rows, x, width, at) => {
    for (let row = 0; row < rows; row++) {
      const text = texts.getItem(row);
      const read = text === null || keepsEnd !== true ? text : cutText(text, characters, true);
      packText(read, x as Float64Array, row * width + at, packedWidth(characters));
    }
  };

function encodeNumber(recipe: { impute: number; mean: number; deviation: number; indicator: boolean }): FeatureEncoder {
  const { impute, mean, deviation, indicator } = recipe;
  return (values, rows, x, width, at) => {
    for (let row = 0; row < rows; row++) {
      const value = values.getItem(row);
      x[row * width + at] = ((value ?? impute) - mean) / deviation;
      if (indicator) x[row * width + at + 1] = value === null ? 1 : 0;
    }
  };
}

function encodeOneHot(recipe: { categories: readonly string[]; indicator: boolean }): FeatureEncoder {
  const { categories, indicator } = recipe;
  return (values, rows, x, width, at) => {
    for (let row = 0; row < rows; row++) {
      const start = row * width + at;
      const code = values.getItem(row) ?? 0;
      for (let index = 0; index < categories.length; index++) x[start + index] = 0;
      if (indicator) x[start + categories.length] = code === 0 ? 1 : 0;
      if (code > 0) x[start + code - 1] = 1;
    }
  };
}

function encodeTime(recipe: FeatureRecipe & { kind: 'datetime' }): FeatureEncoder {
  const { impute, mean, deviation, parts, indicator } = recipe;
  return (values, rows, x, width, at) => {
    for (let row = 0; row < rows; row++) {
      const value = values.getItem(row);
      const time = value ?? impute;
      let next = row * width + at;
      x[next++] = (time - mean) / deviation;
      for (const part of parts) {
        const angle = 2 * Math.PI * datePart(time, part);
        x[next++] = Math.sin(angle);
        x[next++] = Math.cos(angle);
      }
      if (indicator) x[next] = value === null ? 1 : 0;
    }
  };
}
