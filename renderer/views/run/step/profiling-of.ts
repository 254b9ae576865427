// The measured step of a run's page: what was measured stays while tabs change.

import { ofWeights } from '../of-weights.ts';
import { Profiling } from './profiling.svelte.ts';

export const profilingOf = ofWeights((service, run, page) => {
  page.profiling?.close();
  page.profiling = new Profiling(run.id, service);
  return page.profiling;
});
