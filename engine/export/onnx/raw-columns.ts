// The columns of a file as learners take them that want them as they are (engine/data/preprocess/features.ts): numbers and times as such,
// true and false as 1 and 0, NaN where there is nothing, categories by their codes (`rawCodes`). N rows; every input is [N,1].

import { missingWords } from '../../data/schema/spelling.ts';
import { rawCodes } from '../../model/spec.ts';
import type { FeatureRecipe, Preprocessing } from '../../data/preprocess/recipe.ts';
import type { OnnxBuilder, ValueName } from './builder.ts';
import { categoryNumbers, known, truth } from './columns.ts';
import { lookUp } from './texts.ts';

/** The values of the inputs but texts [N,columns] of type double. `read`: the recipe that the inputs are read by, which knows more categories. */
export function exportRawColumns(onnx: OnnxBuilder, { features }: Preprocessing, read: Preprocessing): ValueName {
  const known = new Map(read.features.map((feature) => [feature.column, feature]));
  const parts = features.flatMap((feature) =>
    feature.kind === 'text' ? [] : [rawColumn(onnx, feature, known.get(feature.column) ?? feature)],
  );
  return parts.length === 1 ? parts[0] : onnx.one('Concat', parts, { axis: { int: 1 } });
}

function rawColumn(
  onnx: OnnxBuilder,
  feature: Exclude<FeatureRecipe, { kind: 'text' }>,
  read: FeatureRecipe,
): ValueName {
  const { column } = feature;
  const nothing = onnx.double([NaN]);
  switch (feature.kind) {
    case 'number':
    case 'datetime':
      return onnx.one('Where', [known(onnx, column), column, nothing]);
    case 'boolean': {
      const { there, yes } = truth(onnx, feature);
      return onnx.one('Where', [there, onnx.cast(yes, 'double'), nothing]);
    }
    case 'one_hot':
    case 'embedding':
      return onnx.cast(rawCode(onnx, feature, 'categories' in read ? read : feature), 'double');
    default:
      return feature satisfies never;
  }
}

/** What another file may write for "missing", as it is read there: the usual words beside these categories, in three spellings. */
function missingTexts({ categories }: { readonly categories: readonly string[] }): readonly string[] {
  const missing = missingWords(categories);
  const spelled = missing.flatMap((word) => [word, word.toUpperCase(), word[0].toUpperCase() + word.slice(1)]);
  return [...new Set(['', '\u00a0', 'NaN', '<Na>', ...spelled])];
}

type CategoryRecipe = FeatureRecipe & { kind: 'one_hot' | 'embedding' };

/** A text that is none of the categories is found as 0, what means "missing" as 1: the codes are the other way round. */
function rawCode(onnx: OnnxBuilder, feature: CategoryRecipe, read: CategoryRecipe): ValueName {
  const { missing, unseen, first } = rawCodes;
  const numbers = new Map([...categoryNumbers(feature)].map(([text, number]) => [text, number - 1 + first]));
  for (const text of missingTexts(read)) if (!numbers.has(text)) numbers.set(text, unseen - missing);
  for (const text of feature.missing) numbers.set(text, unseen - missing);
  const found = lookUp(onnx, feature.column, numbers);
  const turned = onnx.one('Sub', [onnx.int64([unseen]), found]);
  return onnx.one('Where', [onnx.one('Less', [found, onnx.int64([first])]), turned, found]);
}
