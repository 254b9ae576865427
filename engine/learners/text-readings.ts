// How the models behind a run cut its texts: what reads rows for them has to know it where rows hold texts as they are, of which each member of an
// ensemble makes tokens by a recipe of its own.

import type { ModelFile } from '../protocol/model-file.ts';
import type { MemberFile } from './auto/file.ts';

/** Of a feature of `preprocessing.json`, what matters here. */
interface Feature {
  readonly kind: string;
  readonly column: string;
  readonly tokenizer?: unknown;
  readonly characters?: number;
  readonly length?: number;
  readonly keepsEnd?: boolean;
}

interface Recipe {
  /** Of pictures. */
  readonly kind?: unknown;
  readonly form?: 'columns';
  readonly features: readonly Feature[];
}

type AnyModel = Partial<Pick<ModelFile, 'input'>> & {
  readonly model?: { readonly layers: readonly { readonly type: string }[] };
  readonly recipe?: object;
  readonly members?: readonly MemberFile[];
};

/** The preprocessing of a run as its rows are read by it: each text says how the models that read it cut it (`readings`). */
export function withReadings(model: object, preprocessing: object): object {
  const { features = [], ...recipe } = preprocessing as Partial<Recipe>;
  if (recipe.kind !== undefined || !features.some(({ kind }) => kind === 'text')) return preprocessing;
  const recipes = recipesOf(model as AnyModel, preprocessing);
  const read = (column: string): readonly object[] =>
    different(
      recipes.flatMap((own) =>
        (own as Recipe).features.flatMap((one) =>
          one.kind === 'text' && one.column === column && one.tokenizer !== undefined ? [readingOf(one)] : [],
        ),
      ),
    );
  return {
    ...recipe,
    features: features.map((one) => (one.kind === 'text' ? { ...one, readings: read(one.column) } : one)),
  };
}

/** The same for rows that hold columns as they are, whatever the model learned from; pictures stay what they are. */
export function asColumns(model: object, preprocessing: object): object {
  return 'kind' in preprocessing ? preprocessing : { ...withReadings(model, preprocessing), form: 'columns' };
}

/** The recipes by which models that read texts make tokens of them, each once. */
function recipesOf(model: AnyModel, preprocessing: object): readonly object[] {
  const { members } = model;
  if (members === undefined) return readsTexts(model) ? [preprocessing] : [];
  const found = members.flatMap(({ models, recipes }) =>
    models.flatMap((one, at) => (readsTexts(one) ? [recipes?.[at] ?? model.recipe ?? preprocessing] : [])),
  );
  return [...new Set(found)];
}

/** Rows of columns come without texts, and layers may look past the tokens. */
function readsTexts({ input, model }: AnyModel): boolean {
  if (input?.kind !== 'table' || input.texts === undefined) return false;
  return model?.layers.some(({ type }) => type === 'token_embedding') ?? true;
}

/** Folds of a model to begin with have all the same tokenizer. */
const different = (readings: readonly object[]): readonly object[] => [
  ...new Map(readings.map((one) => [JSON.stringify(one), one])).values(),
];

const readingOf = ({ tokenizer, characters, length, keepsEnd }: Feature): object => ({
  ...{ tokenizer, characters, length },
  ...(keepsEnd && { keepsEnd }),
});
