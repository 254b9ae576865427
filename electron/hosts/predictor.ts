// Predictions with a finished run, on the CPU, for the window: of a file window by window, and how fast it is.

import type { Backend } from '../../engine/backends/backend.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { PredictorService } from '../../engine/protocol/hosts.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import { lazyBackend } from '../../engine/learners/lazy-backend.ts';
import { readTrained, WindowedPredictions } from '../../engine/learners/predict.ts';
import { SummaryOfPredictions } from '../../engine/learners/prediction-summary.ts';
import { residentBudget } from './surroundings.ts';

/** `openBackend` opens the CPU, for one request. */
export function createPredictor(
  rows: Promise<Pick<DataService, 'readShard' | 'keepPredictions'>>,
  openBackend: () => Promise<Backend>,
): PredictorService {
  const listeners = new Listeners<{ handle: string; rows: number }>();
  return {
    async predict({ run, model, weights, data }) {
      const began = performance.now();
      const trained = readTrained(model, weights, run);
      const backend = lazyBackend(openBackend);
      const { handle } = data;
      const summary = new SummaryOfPredictions(trained.file.output);
      try {
        const link = await rows;
        const windows = new WindowedPredictions(trained, {
          data,
          readShard: (shard) => link.readShard({ handle, shard }),
          dataBudget: residentBudget(),
          backend: backend.open,
        });
        for await (const { start, predictions } of windows) {
          const { values, probabilities } = predictions;
          summary.add(predictions);
          await link.keepPredictions({ handle, values, probabilities });
          listeners.emit({ handle, rows: start + predictions.rows });
        }
        return summary.summary(windows.summary(), (performance.now() - began) / 1000);
      } finally {
        await backend.close();
      }
    },
    onPredicted: (listener) => listeners.add(listener),
  };
}
