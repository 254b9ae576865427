// What a tab has made of a run's weights. It stays while tabs change, and goes when the run has gone on: it is of other weights then.

import type { AppService } from '../../../engine/protocol/app.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { weightsKey } from '../../lib/run-words.ts';
import type { RunPage } from './run.svelte.ts';

/** The one of a page, made anew for other weights. */
export function ofWeights<T>(
  make: (service: AppService, run: RunRecord, page: RunPage) => T,
): (page: RunPage, service: AppService, run: RunRecord) => T {
  const kept = new WeakMap<RunPage, { readonly weights: string; readonly made: T }>();
  return (page, service, run) => {
    const weights = weightsKey(run);
    const known = kept.get(page);
    if (known?.weights === weights) return known.made;
    const made = make(service, run, page);
    kept.set(page, { weights, made });
    return made;
  };
}
