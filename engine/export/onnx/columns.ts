// The columns of a file as they are, made into the numbers a model is fed, by the fitted preprocessing (engine/data/preprocess):
// the same steps in the same precision, float64 until the last. N rows; every input but texts is [N,1].
//
// number    double, NaN (or anything infinite) = missing
// datetime  double, milliseconds since 1970, NaN = missing
// boolean   string: true, false, yes, no, …; anything else = missing
// category  string, with or without spaces around it; empty = missing; one that training did not see counts as unknown
// text      int64 [N,length]: ids of its tokens (texts/tokens.ts), -1 behind the last one

import { falseWords, trueWords } from '../../data/schema/stored.ts';
import { largestNumber } from '../../data/schema/numbers.ts';
import { outputNames, textFeatures, type FeatureRecipe, type Preprocessing } from '../../data/preprocess/recipe.ts';
import { anyRows, type OnnxBuilder, type ValueName } from './builder.ts';
import { lookUp } from './texts.ts';

/** What a column is to be given as. */
export type ColumnKind = 'number' | 'boolean' | 'category' | 'datetime' | 'text';

export interface ColumnInput {
  /** Of the column and of the input. */
  readonly name: string;
  readonly kind: ColumnKind;
}

const day = 86_400_000;

export function columnInputs({ features }: Preprocessing): readonly ColumnInput[] {
  return features.map(({ column, kind }) => ({ name: column, kind: kindOf(kind) }));
}

function kindOf(kind: FeatureRecipe['kind']): ColumnKind {
  return kind === 'one_hot' || kind === 'embedding' ? 'category' : kind;
}

const about: Readonly<Record<Exclude<ColumnKind, 'text'>, string>> = {
  number: 'a number; NaN = missing',
  datetime: 'milliseconds since 1970 (UTC); NaN = missing',
  boolean: 'true, false, yes, no, 1, 0; empty = missing',
  category: 'the text as it stands in the file, spelled as in training; empty = missing',
};

const aboutTokens = 'ids of its first tokens by the tokenizer of the run; -1 behind the last, and for a missing text';

/** Adds an input a column, by its name. Tokens stand behind all others. */
export function addColumnInputs(onnx: OnnxBuilder, preprocessing: Preprocessing): void {
  for (const { name, kind } of columnInputs(preprocessing)) {
    if (kind === 'text') continue;
    const type = kind === 'number' || kind === 'datetime' ? 'double' : 'string';
    onnx.input({ name, type, shape: [anyRows, 1], about: about[kind] });
  }
  for (const { column: name, length } of textFeatures(preprocessing)) {
    onnx.input({ name, type: 'int64', shape: [anyRows, length], about: aboutTokens });
  }
}

/** What is made of the inputs; returns the features [N,width]. */
export function exportColumns(onnx: OnnxBuilder, { features }: Preprocessing): ValueName {
  const numbers = features.filter((feature) => outputNames(feature).length > 0);
  const codes = features.filter(({ kind }) => kind === 'embedding');
  const texts = features.filter(({ kind }) => kind === 'text');
  const parts = [...numbers, ...codes, ...texts].flatMap((feature) => exportFeature(onnx, feature));
  return parts.length === 1 ? parts[0] : onnx.one('Concat', parts, { axis: { int: 1 } });
}

/** Values [N,n] of type float, in the order of `outputNames`; of an embedding its codes [N,1], of a text [N,length]. */
function exportFeature(onnx: OnnxBuilder, feature: FeatureRecipe): readonly ValueName[] {
  const { column } = feature;
  switch (feature.kind) {
    case 'number': {
      const { value, missing } = present(onnx, column, feature);
      return [standardised(onnx, value, feature), ...missing];
    }
    case 'boolean': {
      const { there, yes } = truth(onnx, feature);
      const value = onnx.one('Where', [there, onnx.cast(yes, 'float'), onnx.float([feature.impute])]);
      return [value, ...(feature.indicator ? [negated(onnx, there)] : [])];
    }
    case 'one_hot': {
      const { categories, indicator } = feature;
      const places = categories.map((_, index) => index + 1);
      const wanted = onnx.int64(indicator ? [...places, 0] : places);
      return [onnx.cast(onnx.one('Equal', [codeOf(onnx, feature), wanted]), 'float')];
    }
    case 'embedding':
      return [onnx.cast(codeOf(onnx, feature), 'float')];
    case 'datetime': {
      const { value, missing } = present(onnx, column, feature);
      const parts = feature.parts.flatMap((part) => {
        const angle = onnx.one('Mul', [datePart(onnx, value, part), onnx.double([2 * Math.PI])]);
        // A cosine is a sine a quarter ahead: not every runtime has the cosine of a double.
        const ahead = onnx.one('Add', [angle, onnx.double([Math.PI / 2])]);
        return [angle, ahead].map((one) => onnx.cast(onnx.one('Sin', [one]), 'float'));
      });
      return [standardised(onnx, value, feature), ...parts, ...missing];
    }
    case 'text': {
      const code = onnx.one('Max', [onnx.one('Add', [column, onnx.int64([1])]), onnx.int64([0])]);
      return [onnx.cast(code, 'float')];
    }
    default:
      return feature satisfies never;
  }
}

/** Whether a number is there. No comparison with NaN is true. */
export function known(onnx: OnnxBuilder, x: ValueName): ValueName {
  return onnx.one('LessOrEqual', [onnx.one('Abs', [x]), onnx.double([largestNumber])]);
}

/** Whether a word for yes or no is there, and whether it is one for yes. */
export function truth(
  onnx: OnnxBuilder,
  feature: FeatureRecipe & { kind: 'boolean' },
): { readonly there: ValueName; readonly yes: ValueName } {
  const word = lookUp(onnx, feature.column, words(feature));
  const there = onnx.one('Greater', [word, onnx.int64([0])]);
  return { there, yes: onnx.one('Equal', [word, onnx.int64([yes])]) };
}

/** The value, or what stands for it where there is none; and 1 there, if the recipe wants that. */
function present(
  onnx: OnnxBuilder,
  x: ValueName,
  { impute, indicator }: { readonly impute: number; readonly indicator: boolean },
): { readonly value: ValueName; readonly missing: readonly ValueName[] } {
  const there = known(onnx, x);
  const value = onnx.one('Where', [there, x, onnx.double([impute])]);
  return { value, missing: indicator ? [negated(onnx, there)] : [] };
}

const negated = (onnx: OnnxBuilder, truth: ValueName): ValueName => onnx.cast(onnx.one('Not', [truth]), 'float');

function standardised(
  onnx: OnnxBuilder,
  value: ValueName,
  { mean, deviation }: { readonly mean: number; readonly deviation: number },
): ValueName {
  const centred = onnx.one('Sub', [value, onnx.double([mean])]);
  return onnx.cast(onnx.one('Div', [centred, onnx.double([deviation])]), 'float');
}

/** Position of the category from 1; 0 = missing or unknown. */
function codeOf(onnx: OnnxBuilder, feature: FeatureRecipe & { kind: 'one_hot' | 'embedding' }): ValueName {
  return lookUp(onnx, feature.column, categoryNumbers(feature));
}

/** Positions of the categories from 1, by their spellings. Whole numbers may be written 3 or 3.0. */
export function categoryNumbers(
  feature: FeatureRecipe & { kind: 'one_hot' | 'embedding' },
): ReadonlyMap<string, number> {
  const codes = new Map(feature.categories.map((category, index) => [category, index + 1]));
  for (const [category, code] of [...codes]) {
    const spelled = `${category}.0`;
    if (/^-?\d{1,15}$/.test(category) && !codes.has(spelled)) codes.set(spelled, code);
  }
  return codes;
}

const [no, yes] = [1, 2];

/** Words for yes and no in the usual three spellings; what meant "missing" in training still does. */
function words({ missing }: FeatureRecipe): ReadonlyMap<string, number> {
  const spelled = (word: string): readonly string[] => [
    word,
    word[0].toUpperCase() + word.slice(1),
    word.toUpperCase(),
  ];
  const values = new Map<string, number>();
  for (const word of trueWords.flatMap(spelled)) values.set(word, yes);
  for (const word of falseWords.flatMap(spelled)) values.set(word, no);
  for (const word of missing) values.delete(word);
  return values;
}

/** How far a time (double, milliseconds) is through its year, week or day: `datePart` of engine/data/preprocess/encode.ts. */
function datePart(onnx: OnnxBuilder, milliseconds: ValueName, part: 'month' | 'weekday' | 'hour'): ValueName {
  const days = onnx.one('Floor', [onnx.one('Div', [milliseconds, onnx.double([day])])]);
  switch (part) {
    case 'month':
      return monthShare(onnx, onnx.cast(days, 'int64'));
    case 'weekday': {
      // 1970 began on a Thursday; Monday is 0. Mod of whole numbers has the sign of the divisor.
      const since = onnx.one('Add', [onnx.cast(days, 'int64'), onnx.int64([3], [])]);
      const weekday = onnx.cast(onnx.one('Mod', [since, onnx.int64([7], [])]), 'double');
      return onnx.one('Div', [weekday, onnx.double([7])]);
    }
    case 'hour': {
      const midnight = onnx.one('Mul', [days, onnx.double([day])]);
      return onnx.one('Div', [onnx.one('Sub', [milliseconds, midnight]), onnx.double([day])]);
    }
    default:
      return part satisfies never;
  }
}

/**
 * (month + (day of the month − 1) / 31) / 12, month from 0, of days since 1970 (int64). H. Hinnant, "chrono-Compatible
 * Low-Level Date Algorithms", civil_from_days: years begin in March there, so that a leap day is the last of its year.
 */
function monthShare(onnx: OnnxBuilder, days: ValueName): ValueName {
  const int = (value: number): ValueName => onnx.int64([value], []);
  const op = (name: 'Add' | 'Sub' | 'Mul' | 'Div' | 'Mod', a: ValueName, b: number | ValueName): ValueName =>
    onnx.one(name, [a, typeof b === 'number' ? int(b) : b]);
  // Of an era of 400 years: Mod gives the positive rest, and all that is divided below is positive.
  const dayOfEra = op('Mod', op('Add', days, 719_468), 146_097);
  const leaps = op(
    'Sub',
    op('Add', op('Sub', dayOfEra, op('Div', dayOfEra, 1_460)), op('Div', dayOfEra, 36_524)),
    op('Div', dayOfEra, 146_096),
  );
  const yearOfEra = op('Div', leaps, 365);
  const before = op('Sub', op('Add', op('Mul', yearOfEra, 365), op('Div', yearOfEra, 4)), op('Div', yearOfEra, 100));
  const dayOfYear = op('Sub', dayOfEra, before);
  const fromMarch = op('Div', op('Add', op('Mul', dayOfYear, 5), 2), 153);
  const dayOfMonth = op('Sub', dayOfYear, op('Div', op('Add', op('Mul', fromMarch, 153), 2), 5));
  const month = onnx.cast(op('Mod', op('Add', fromMarch, 2), 12), 'double');
  const through = onnx.one('Div', [onnx.cast(dayOfMonth, 'double'), onnx.double([31])]);
  return onnx.one('Div', [onnx.one('Add', [month, through]), onnx.double([12])]);
}
