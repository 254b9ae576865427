// Predictions with a finished run, on the CPU, for the window's "predict a file".

import type { Backend } from '../../engine/backends/backend.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { PredictorService } from '../../engine/protocol/hosts.ts';
import { predictRows, readTrainedModel } from '../../engine/train/predict.ts';
import { predictionTable } from '../cli/prediction-table.ts';
import { residentBudget } from './surroundings.ts';

/** `openBackend` opens the CPU, for one request. */
export function createPredictor(
  rows: Promise<Pick<DataService, 'readShard'>>,
  openBackend: () => Promise<Backend>,
): PredictorService {
  return {
    async predict({ run, model, weights, data }) {
      const trained = readTrainedModel(model, weights, run);
      const backend = await openBackend();
      try {
        const { readShard } = await rows;
        const read = (shard: number) => readShard({ handle: data.handle, shard });
        const predictions = await predictRows(trained, backend, data, read, residentBudget());
        return {
          rows: predictions.rows,
          csv: [...predictionTable(trained.output, predictions, data.files).csv()].join(''),
        };
      } finally {
        await backend.close();
      }
    },
  };
}
