// The prediction table of a run, on the CPU: for the window's evaluation and the command line's.

import type { Backend } from '../../engine/backends/backend.ts';
import type { DataService, PreparedData } from '../../engine/protocol/data.ts';
import type { EvaluatorService } from '../../engine/protocol/hosts.ts';
import { columnsOf, predictionTableOf } from '../../engine/learners/evaluated-rows.ts';
import { lazyBackend } from '../../engine/learners/lazy-backend.ts';
import type { Rows } from '../../engine/learners/learner.ts';
import { readTrained } from '../../engine/learners/predict.ts';
import { residentBudget } from './surroundings.ts';

/** `openBackend` opens the CPU, for one request. */
export function createEvaluator(
  shards: Promise<Pick<DataService, 'readShard'>>,
  openBackend: () => Promise<Backend>,
): EvaluatorService {
  const withRows = async <T>(data: PreparedData, use: (rows: Rows) => Promise<T>): Promise<T> => {
    const backend = lazyBackend(openBackend);
    try {
      const { readShard } = await shards;
      return await use({
        data,
        readShard: (shard) => readShard({ handle: data.handle, shard }),
        dataBudget: residentBudget(),
        backend: backend.open,
      });
    } finally {
      await backend.close();
    }
  };
  return {
    table: ({ data, model, weights, ...request }) =>
      withRows(data, (rows) =>
        predictionTableOf(rows, { ...request, trained: readTrained(model, weights, request.run) }),
      ),
    columns: ({ data, split }) => withRows(data, (rows) => columnsOf(rows, split)),
  };
}
