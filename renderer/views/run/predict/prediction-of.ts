// The predicted file of a run's page, while the run has these weights.

import { ofWeights } from '../of-weights.ts';
import { PredictState } from './predict.svelte.ts';

export const predictionOf = ofWeights((service, run, page) => {
  page.predicted?.close();
  page.predicted = new PredictState(service, run.id);
  return page.predicted;
});
