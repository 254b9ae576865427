// Tokens that have no place of their own where a model of others comes from and take one here, such as RoBERTa's padding written out in a
// text: what is told of texts that have one, as they get other answers than there. Of a file and of a request alike.

import type { DataWarning } from '../../protocol/data.ts';
import type { FeatureRecipe, TargetRecipe } from './recipe.ts';

export const placelessOf = (recipe: FeatureRecipe | TargetRecipe): string | undefined =>
  recipe.kind === 'text' ? recipe.placeless : undefined;

/** Of a column of which so many texts have the token. */
export function placelessWarning(recipe: FeatureRecipe | TargetRecipe, texts: number): readonly DataWarning[] {
  if (texts === 0) return [];
  const have = texts === 1 ? '1 text has' : `${texts.toLocaleString('en')} texts have`;
  const message = `${recipe.column}: ${have} “${placelessOf(recipe)}” in it, the padding of this model: it takes a place here, and none in transformers, which answers otherwise.`;
  return [{ code: 'placeless_token', message, columns: [recipe.column] }];
}
