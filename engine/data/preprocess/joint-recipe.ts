// One recipe for models that were each fitted on rows of their own, as the folds of a cross-validation are: every column that one of them knows,
// as it is, with every category. `modelledRows` makes of such rows what each of them learned from.

import type { InputSpec, OutputSpec } from '../../model/spec.ts';
import { isImagePreprocessing, parseImagePreprocessing } from '../images/recipe.ts';
import {
  inputSpec,
  outputSpec,
  parsePreprocessing,
  type FeatureRecipe,
  type Preprocessing,
  type TargetRecipe,
} from './recipe.ts';

/** What rows for all of them are read by, and what they are. `all`: as runs keep them; pictures are the same for all but for their scales. */
export function jointPreprocessing(all: readonly unknown[]): {
  readonly recipe: object;
  readonly input: InputSpec;
  readonly output: OutputSpec;
} {
  if (isImagePreprocessing(all[0])) {
    const recipe = parseImagePreprocessing(all[0]);
    const { channels, height, width, classes } = recipe;
    return { recipe, input: { kind: 'image', channels, height, width }, output: { kind: 'classes', classes } };
  }
  const recipe = jointRecipe(all.map(parsePreprocessing));
  return { recipe, input: inputSpec(recipe), output: outputSpec(recipe) };
}

/** Rows hold columns as they are. `recipes`: of the same columns of one dataset, one at least. */
export function jointRecipe(recipes: readonly Preprocessing[]): Preprocessing {
  const [first] = recipes;
  const features = recipes.flatMap((one) => one.features);
  const columns = [...new Set(features.map(({ column }) => column))];
  return {
    ...first,
    features: columns.map((name) => jointFeature(features.filter(({ column }) => column === name))),
    target: jointTarget(recipes.map(({ target }) => target)),
    leftOut: first.leftOut.filter(({ column }) => !columns.includes(column)),
    form: 'columns',
  };
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const allOf = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())];

/** Of what several say of a column; what is typical of it, for forms and for files that are held against it, is their mean. */
function jointFeature(all: readonly FeatureRecipe[]): FeatureRecipe {
  const [first] = all;
  const shares = all.flatMap(({ missingShare }) => (missingShare === undefined ? [] : [missingShare]));
  const common = {
    missing: allOf(all.map(({ missing }) => missing)),
    ...(shares.length > 0 && { missingShare: meanOf(shares) }),
  };
  const mean = (name: 'impute' | 'mean' | 'deviation'): number =>
    meanOf(
      all.flatMap((one) => (name in one ? [(one as unknown as Readonly<Record<typeof name, number>>)[name]] : [])),
    );
  switch (first.kind) {
    case 'number':
    case 'datetime':
      return { ...first, ...common, impute: mean('impute'), mean: mean('mean'), deviation: mean('deviation') };
    case 'boolean':
      return { ...first, ...common, impute: mean('impute') >= 0.5 ? 1 : 0 };
    case 'one_hot':
    case 'embedding':
      return { ...first, ...common, categories: allOf(all.map((one) => ('categories' in one ? one.categories : []))) };
    case 'text': {
      const texts = all.flatMap((one) => (one.kind === 'text' ? [one] : []));
      const characters = Math.max(...texts.map((one) => one.characters));
      return { ...first, ...common, tokenizer: undefined, characters };
    }
    default:
      return first satisfies never;
  }
}

function jointTarget(all: readonly TargetRecipe[]): TargetRecipe {
  const [first] = all;
  if (first.kind === 'classes') return first;
  const values = all.flatMap((one) => (one.kind === 'value' ? [one] : []));
  return {
    ...first,
    offset: meanOf(values.map(({ offset }) => offset)),
    scale: meanOf(values.map(({ scale }) => scale)),
  };
}
