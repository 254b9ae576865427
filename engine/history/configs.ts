// The settings of runs of earlier versions, brought to today's form.

import { declarationOf } from '../learners/declared/registry.ts';
import type { RunConfig } from '../protocol/runs.ts';

/** A run's settings with those that were not there yet when it was recorded: they are as they were without saying so. */
export function completeConfig(config: RunConfig): RunConfig {
  return declarationOf(config).complete(config);
}

/** Settings as JSON. Earlier versions knew networks alone, with the seed among their training settings. */
export function upgradeConfig(json: string): string {
  const config: unknown = JSON.parse(json);
  if (typeof config !== 'object' || config === null || 'learner' in config) return json;
  const { training, ...rest } = config as { readonly training?: { readonly seed?: number } };
  const { seed, ...others } = training ?? {};
  return JSON.stringify({ ...rest, learner: 'network', training: others, seed: seed ?? 0 });
}
