// Predictions with a finished run, on the CPU, for the window's "predict a file".

import type { Backend } from '../../engine/backends/backend.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { PredictorService } from '../../engine/protocol/hosts.ts';
import { lazyBackend } from '../../engine/learners/lazy-backend.ts';
import { predictRows, readTrained } from '../../engine/learners/predict.ts';
import { predictionTable } from '../../engine/learners/prediction-table.ts';
import { residentBudget } from './surroundings.ts';

/** `openBackend` opens the CPU, for one request. */
export function createPredictor(
  rows: Promise<Pick<DataService, 'readShard'>>,
  openBackend: () => Promise<Backend>,
): PredictorService {
  return {
    async predict({ run, model, weights, data }) {
      const trained = readTrained(model, weights, run);
      const backend = lazyBackend(openBackend);
      try {
        const { readShard } = await rows;
        const predictions = await predictRows(trained, {
          data,
          readShard: (shard) => readShard({ handle: data.handle, shard }),
          dataBudget: residentBudget(),
          backend: backend.open,
        });
        return {
          rows: predictions.rows,
          csv: [...predictionTable(trained.file.output, predictions, data.files).csv()].join(''),
        };
      } finally {
        await backend.close();
      }
    },
  };
}
