// Predictions with a finished run, on the CPU, for the window: of a file window by window, and how fast it is.

import type { Backend } from '../../engine/backends/backend.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { PredictorService } from '../../engine/protocol/hosts.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import { readTrained, WindowedPredictions } from '../../engine/learners/predict.ts';
import { SummaryOfPredictions } from '../../engine/learners/prediction-summary.ts';
import { withRows } from './with-rows.ts';

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
      const { handle } = data;
      const summary = new SummaryOfPredictions(trained.file.output);
      return withRows(rows, openBackend, data, async (prepared) => {
        const { keepPredictions } = await rows;
        const windows = new WindowedPredictions(trained, prepared);
        for await (const { start, predictions } of windows) {
          const { values, probabilities } = predictions;
          summary.add(predictions);
          await keepPredictions({ handle, values, probabilities });
          listeners.emit({ handle, rows: start + predictions.rows });
        }
        return summary.summary(windows.summary(), (performance.now() - began) / 1000);
      });
    },
    onPredicted: (listener) => listeners.add(listener),
  };
}
