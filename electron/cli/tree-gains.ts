// What a run of trees goes by, in a line: the columns its splits gained most by.

import { declarationOf } from '../../engine/learners/declared/registry.ts';
import { columnGains } from '../../engine/learners/trees/explained.ts';
import { isCrossValidation } from '../../engine/protocol/folds.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { readModelFiles } from '../../engine/runs/model-files.ts';
import { treesOfRun } from '../../engine/runs/trees.ts';
import { counted } from './output.ts';

/** Columns named by what the splits on them gained. */
const mostGains = 6;

/** `bill 41.2 %, mass 30.0 %`: what the splits on each column gained, of a finished run of trees. */
export async function gainText(store: StoreService, run: RunRecord): Promise<string | null> {
  if (!declarationOf(run.config).trees || !run.result || isCrossValidation(run.config)) return null;
  // It has a model for each fold, whatever it is of.
  if (run.relation === 'member') return null;
  const { trees, file } = await readModelFiles(store, run.id).then(
    ({ model, weights }) => treesOfRun(model, weights, run.id),
    () => ({ trees: null, file: null }),
  );
  if (trees === null || file.input.kind !== 'columns') return null;
  const { gain } = columnGains(trees);
  const all = gain.reduce((sum, value) => sum + value, 0);
  const order = [...gain.keys()].filter((column) => gain[column] > 0).sort((a, b) => gain[b] - gain[a]);
  const { columns } = file.input;
  const said = order
    .slice(0, mostGains)
    .map((column) => `${columns[column].name} ${((100 * gain[column]) / all).toFixed(1)} %`);
  const more = order.length - said.length;
  if (said.length === 0) return null;
  return `${said.join(', ')}${more > 0 ? ` and ${counted(more, 'column')} more` : ''} (of what all splits gained)`;
}
