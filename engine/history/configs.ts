// The settings of runs of earlier versions, brought to today's form.

/** Settings as JSON. Earlier versions knew networks alone, with the seed among their training settings. */
export function upgradeConfig(json: string): string {
  const config: unknown = JSON.parse(json);
  if (typeof config !== 'object' || config === null || 'learner' in config) return json;
  const { training, ...rest } = config as { readonly training?: { readonly seed?: number } };
  const { seed, ...others } = training ?? {};
  return JSON.stringify({ ...rest, learner: 'network', training: others, seed: seed ?? 0 });
}
