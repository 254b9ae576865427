// What an ensemble says of rows that its models did not learn from: of each part of its training rows what the models say in whose fold it
// validated. N training rows.

import type { OutOfFoldOutputs, Rows } from '../learner.ts';
import type { AutoModelFile } from './file.ts';
import { PartRows } from './part-rows.ts';
import { meaningOf, rawOf, valuesPerRow, type Weighted } from './trained.ts';

/** `rows`: all splits, with their parts. Throws as `PartRows.read`. */
export async function outOfFoldOf(
  { members, output, recipe }: AutoModelFile,
  models: readonly Weighted[],
  rows: Rows,
): Promise<OutOfFoldOutputs> {
  const { dataBudget, backend } = rows;
  const held = await PartRows.read({ ...rows, data: { ...rows.data, preprocessing: recipe } });
  // Folds that time left out have no models: their rows are predicted by none.
  const folds = Math.min(held.count, ...members.map(({ models: own }) => own.length));
  const values = valuesPerRow(output);
  const sum = new Float64Array(held.targets.length * values);
  const parts = new Uint8Array(held.targets.length);
  for (let part = 1; part <= folds; part++) {
    const own = held.rowsOf(part);
    for (const row of own) parts[row] = part;
    for (const { trained, fold, weight } of models) {
      if (fold !== part) continue;
      const form = trained.file.input.kind === 'columns' ? 'columns' : 'matrix';
      const said = await trained.outputs({ ...(await held.only(part, form)), dataBudget, backend });
      const meaning = meaningOf(output, said.outputs, own.length);
      own.forEach((row, at) => {
        for (let k = 0; k < values; k++) sum[row * values + k] += weight * meaning[at * values + k];
      });
    }
  }
  const places = Uint32Array.from([...parts.keys()].filter((row) => parts[row] > 0));
  const picked = new Float64Array(places.length * values);
  places.forEach((row, at) => picked.set(sum.subarray(row * values, (row + 1) * values), at * values));
  return {
    outputs: rawOf(output, picked),
    targets: Float32Array.from(places, (row) => held.targets[row]),
    places,
    folds: Uint8Array.from(places, (row) => parts[row]),
  };
}
