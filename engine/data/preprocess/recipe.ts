// Fitted preprocessing: plain JSON that turns raw columns into the rows a model sees. It is fitted on the training split
// alone, belongs to the run, and travels with every export; docs/data.md explains it to those who read it elsewhere.

import { z } from 'zod';
import type { CellValue } from '../../protocol/data.ts';
import { InputError } from '../../protocol/errors.ts';
import type { InputSpec, OutputSpec, RawColumn } from '../../model/spec.ts';
import { packedWidth } from '../../text/packed.ts';
import { textCodes } from '../../text/tokenizer.ts';
import type { StoredColumn } from '../schema/stored.ts';

const source = {
  column: z.string(),
  /** Spellings read as missing, besides the empty text. */
  missing: z.array(z.string()),
  /** Share of the training rows without a usable value; runs of earlier versions do not say. */
  missingShare: z.number().min(0).max(1).optional(),
};

/** How a model cuts a text: see the feature `text`. */
const reading = {
  /** Read at most: of the training texts none is longer, or the rest of it was not read either. */
  characters: z.number().int().positive(),
  length: z.number().int().positive(),
  /** Of a longer text the end is read, not the beginning. */
  keepsEnd: z.boolean().optional(),
};

/** How the column's numbers are written in texts, other than plainly. */
const numbers = z
  .object({
    decimal: z.enum(['.', ',']),
    thousands: z.enum(['', ',', '.', ' ', "'"]),
    mark: z.string(),
  })
  .optional();

const featureRecipe = z.discriminatedUnion('kind', [
  /** (value − mean) / deviation, a missing value counting as `impute`; then 1 for missing, if `indicator`. */
  z.object({
    kind: z.literal('number'),
    ...source,
    numbers,
    impute: z.number(),
    mean: z.number(),
    deviation: z.number().positive(),
    indicator: z.boolean(),
  }),
  /** 0 or 1, a missing value counting as `impute`; then 1 for missing, if `indicator`. */
  z.object({ kind: z.literal('boolean'), ...source, impute: z.number(), indicator: z.boolean() }),
  /** One column a category, 1 for the row's own; with `indicator` one more for missing and unknown ones. */
  z.object({ kind: z.literal('one_hot'), ...source, categories: z.array(z.string()).min(1), indicator: z.boolean() }),
  /** Position of the category in `categories`, from 1; 0 = missing or unknown. */
  z.object({
    kind: z.literal('embedding'),
    ...source,
    categories: z.array(z.string()).min(1),
    dimensions: z.number().int().positive(),
  }),
  /** Standardised time in milliseconds since 1970, sine and cosine of each part; then 1 for missing, if `indicator`. */
  z.object({
    kind: z.literal('datetime'),
    ...source,
    dateFormat: z.string().optional(),
    impute: z.number(),
    mean: z.number(),
    deviation: z.number().positive(),
    parts: z.array(z.enum(['month', 'weekday', 'hour'])),
    indicator: z.boolean(),
  }),
  /**
   * The first `length` tokens of the text's first `characters` UTF-16 units, or the last of its last, as id + 1; 0 behind the last one, and all
   * of them where the text is missing. Such features stand behind all others.
   */
  z.object({
    kind: z.literal('text'),
    ...source,
    ...reading,
    /** As `tokenizerOf` of engine/text reads it; absent: rows hold texts as they are, and who reads them makes the tokens. */
    tokenizer: z.unknown().optional(),
    /** Ids are below it. */
    vocabulary: z.number().int().positive(),
    /** A token as it is written in a text, which has no place of its own where the model comes from; here it takes one. */
    placeless: z.string().min(1).optional(),
    /** No word stands for a missing text, "NULL" and "?" are texts like any other: a model of others knows no missing ones. */
    exact: z.boolean().optional(),
    /** How each of the models that read it cuts it; no run keeps it, engine/learners/text-readings.ts tells. Absent: as is said above. */
    readings: z.array(z.object({ ...reading, tokenizer: z.unknown() })).optional(),
  }),
]);

const targetRecipe = z.discriminatedUnion('kind', [
  /** Position in `classes`, from 0. */
  z.object({ kind: z.literal('classes'), ...source, classes: z.array(z.string()).min(2) }),
  /** (value − offset) / scale */
  z.object({ kind: z.literal('value'), ...source, numbers, offset: z.number(), scale: z.number().positive() }),
]);

const preprocessingSchema = z.object({
  version: z.literal(1),
  /** Numeric features in this order, then the codes of the embedded ones, then those of texts. */
  features: z.array(featureRecipe).min(1),
  target: targetRecipe,
  /** Columns not used, and why. */
  leftOut: z.array(z.object({ column: z.string(), reason: z.string() })),
  /** Rows hold the columns as they are, in the order of `features`; absent: what the features say. */
  form: z.literal('columns').optional(),
  /** It is a language model's: its one text tells each of its tokens by those before it, and the classes of the target are its tokens. */
  language: z.literal(true).optional(),
  /** The file had a row of units below its header. */
  unitsRow: z.boolean().optional(),
});

export type FeatureRecipe = Readonly<z.infer<typeof featureRecipe>>;
export type TargetRecipe = Readonly<z.infer<typeof targetRecipe>>;
export type Preprocessing = Readonly<z.infer<typeof preprocessingSchema>>;

/** Checks preprocessing that comes from a file. @throws InputError if it is none, or of a later version. */
export function parsePreprocessing(value: unknown): Preprocessing {
  const parsed = preprocessingSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0];
  throw new InputError(
    'input.preprocessing',
    `The run's preprocessing cannot be used: ${where?.path.join('.') ?? ''} ${where?.message ?? ''}`.trim(),
    'It may come from a later version: update Trainyard, or train again.',
  );
}

/** What a raw value (features.ts) says, as a person would: a time in milliseconds, a category by its name; null = nothing, or none that is known. */
export function valueOfRaw(recipe: FeatureRecipe, raw: number | string | null | undefined): CellValue {
  if (raw === null || raw === undefined) return null;
  if (recipe.kind === 'text' || typeof raw === 'string') return String(raw);
  if (recipe.kind === 'boolean') return raw === 1;
  return 'categories' in recipe ? (recipe.categories[raw - 1] ?? null) : raw;
}

/** The numbers a feature becomes, by name; embedded features and texts become none (their codes stand behind all numbers). */
export function outputNames(feature: FeatureRecipe): string[] {
  const { column } = feature;
  switch (feature.kind) {
    case 'number':
    case 'boolean':
      return [column, ...(feature.indicator ? [`${column} missing`] : [])];
    case 'one_hot':
      return [
        ...feature.categories.map((category) => `${column}=${category}`),
        ...(feature.indicator ? [`${column} missing`] : []),
      ];
    case 'embedding':
    case 'text':
      return [];
    case 'datetime':
      return [
        column,
        ...feature.parts.flatMap((part) => [`${column} ${part} sine`, `${column} ${part} cosine`]),
        ...(feature.indicator ? [`${column} missing`] : []),
      ];
    default:
      return feature satisfies never;
  }
}

/** What rows made by this preprocessing feed to a model. */
export function inputSpec(recipe: Preprocessing): InputSpec {
  const { features, form } = recipe;
  if (form === 'columns') {
    const texts = textFeatures(recipe).map(({ column: name, characters }) => ({
      name,
      width: packedWidth(characters),
    }));
    return { kind: 'columns', columns: rawColumns(recipe), ...(texts.length > 0 && { texts }) };
  }
  const numeric = features.reduce((sum, feature) => sum + outputNames(feature).length, 0);
  const embeddings = features.flatMap((feature) =>
    feature.kind === 'embedding'
      ? [{ name: feature.column, vocabulary: feature.categories.length + 1, dimensions: feature.dimensions }]
      : [],
  );
  const texts = textFeatures(recipe).map(({ column: name, vocabulary, length }) => ({
    name,
    vocabulary: vocabulary + textCodes.first,
    length,
    ...(recipe.language && { predicted: true as const }),
  }));
  const numbers = features.flatMap(areNumbers).flatMap((number, column) => (number ? [column] : []));
  const marks = numbers.length < numeric ? { numbers } : {};
  const width = numeric + embeddings.length + texts.reduce((sum, { length }) => sum + length, 0);
  return { kind: 'table', width, numeric, embeddings, ...marks, ...(texts.length > 0 && { texts }) };
}

/** Of the numbers a feature becomes: whether each is a number, not a mark of 0 and 1. */
function areNumbers(feature: FeatureRecipe): readonly boolean[] {
  const names = outputNames(feature);
  const { kind } = feature;
  if (kind !== 'number' && kind !== 'datetime') return names.map(() => false);
  return names.map((_, at) => !(feature.indicator && at === names.length - 1));
}

export type TextRecipe = Extract<FeatureRecipe, { readonly kind: 'text' }>;

/** How a model cuts a text. */
export type TextReading = Pick<TextRecipe, 'characters' | 'length' | 'keepsEnd' | 'tokenizer'>;

export const textFeatures = ({ features }: Preprocessing): readonly TextRecipe[] =>
  features.flatMap((feature) => (feature.kind === 'text' ? [feature] : []));

/** The columns as they are, whatever form the rows have; texts, which stand behind them, are not among them. */
export const rawColumns = ({ features }: Preprocessing): readonly RawColumn[] =>
  features.flatMap((feature) => (feature.kind === 'text' ? [] : [rawColumn(feature)]));

function rawColumn(feature: Exclude<FeatureRecipe, TextRecipe>): RawColumn {
  const { column: name, kind } = feature;
  if (kind !== 'one_hot' && kind !== 'embedding') return { name, kind };
  return { name, kind: 'category', categories: feature.categories };
}

export function outputSpec({ target }: Preprocessing): OutputSpec {
  return target.kind === 'classes'
    ? { kind: 'classes', classes: target.classes }
    : { kind: 'value', name: target.column, offset: target.offset, scale: target.scale };
}

/** A column of a file as a recipe wants it read: what meant "missing" while fitting still does. */
export function asFitted(column: StoredColumn, recipe: FeatureRecipe | TargetRecipe): StoredColumn {
  const exact = recipe.kind === 'text' && recipe.exact === true;
  const missing = exact ? recipe.missing : [...new Set([...column.missing, ...recipe.missing])];
  const { dateFormat = column.dateFormat } = 'dateFormat' in recipe ? recipe : {};
  const { numbers: spelling = column.numbers } = 'numbers' in recipe ? recipe : {};
  return {
    ...column,
    missing,
    ...(dateFormat === undefined ? {} : { dateFormat }),
    ...(spelling === undefined ? {} : { numbers: spelling }),
  };
}
