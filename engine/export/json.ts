// A run as one JSON file: its record, its model, its preprocessing and its weights as numbers. Enough to run it again, or to predict
// with it by hand (docs/table_recipe.py).

import type { ExportedFile } from '../protocol/exports.ts';
import { encodeText } from '../train/safetensors.ts';
import type { OpenedRun } from './opened.ts';
import { outward } from './outward.ts';

export function exportJson(name: string, { record, file, recipe, tensors }: OpenedRun): ExportedFile {
  const { id, name: title, datasetName, config, result, createdAt } = record;
  const weights = Object.entries(outward(file, tensors)).map(([key, { shape, data }]) => [
    key,
    { shape, values: [...data] },
  ]);
  const text = JSON.stringify({
    version: 1,
    run: { id, name: title, dataset: datasetName, createdAt, config, result },
    ...file,
    preprocessing: recipe,
    weights: Object.fromEntries(weights),
  });
  return { path: `${name}.json`, data: encodeText(text) };
}
