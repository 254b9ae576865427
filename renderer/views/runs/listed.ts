// What the table of runs asks of each run: with it a list is a quarter of what it is with everything.

import { metrics } from '../../../engine/model/metrics.ts';
import type { RecordField } from '../../../engine/protocol/store.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';

/** What the table asks of each run: what its columns and the actions on its rows read. */
export const listedFields = [
  'id',
  'name',
  'state',
  'dataset',
  'datasetName',
  'config',
  'device',
  'parameters',
  'createdAt',
  'progress',
  'last',
  'best',
  'result',
  'error',
  'tags',
  'notes',
  'starred',
  'group',
  'parent',
  'relation',
] as const satisfies readonly RecordField[];
export type ListedRun = Pick<RunRecord, (typeof listedFields)[number]>;

/** Series of which the table shows one, and the loss. */
export const listedSeries: readonly string[] = Object.keys(metrics).map((name) => `val_${name}`);
