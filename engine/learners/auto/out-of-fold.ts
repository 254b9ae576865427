// What an ensemble says of rows that its models did not learn from: of each part of its training rows what the models say in whose fold it
// validated. N training rows.

import type { OutOfFoldOutputs, Rows } from '../learner.ts';
import { foldsOfMember, type AutoModelFile } from './file.ts';
import { PartRows } from './part-rows.ts';
import { meaningOf, rawOf, RowsForMembers, valuesPerRow, type Weighted } from './trained.ts';

/** `rows`: all splits, with their parts. Throws as `PartRows.read`. */
export async function outOfFoldOf(
  { members, output, recipe }: AutoModelFile,
  models: readonly Weighted[],
  rows: Rows,
): Promise<OutOfFoldOutputs> {
  const { dataBudget, backend } = rows;
  const held = await PartRows.read(rows);
  // Folds that time left out, or that do not stand, have no models: their rows are predicted by none.
  const standing = foldsOfMember(members[0]).filter(
    (fold) => fold <= held.count && members.every((member) => foldsOfMember(member).includes(fold)),
  );
  const values = valuesPerRow(output);
  const sum = new Float64Array(held.targets.length * values);
  const parts = new Uint8Array(held.targets.length);
  for (const part of standing) {
    const own = held.rowsOf(part);
    for (const row of own) parts[row] = part;
    const forMembers = new RowsForMembers({ ...(await held.only(part, 'columns')), dataBudget, backend }, recipe);
    for (const { trained, fold, weight, recipe: fitted } of models) {
      if (fold !== part) continue;
      const said = await trained.outputs(forMembers.of(trained.file.input, fitted));
      const meaning = meaningOf(output, said.outputs, own.length, trained.file.output);
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
