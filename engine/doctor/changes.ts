// What is to be tried, as data: made in the settings of a run one after the other, so that several can be made at once and a person sees
// each.

import { declarationOf } from '../learners/declared/registry.ts';
import { isNetwork, type NetworkConfig } from '../learners/network/declaration.ts';
import { layers as registry } from '../model/registry.ts';
import type { LayerSpec } from '../model/spec.ts';
import type { CheckAction, CheckFinding, ConfigChange } from '../protocol/checking.ts';
import type { RunConfig } from '../protocol/runs.ts';
import { withChosen } from '../settings/values.ts';

/** The settings with a change; whoever has no layers has none changed. */
export function changed<C extends RunConfig>(config: C, change: ConfigChange): C {
  const { own } = declarationOf(config);
  const settings = (config as unknown as Readonly<Record<string, object>>)[own];
  const chosen = change.settings ? { ...config, [own]: withChosen(settings, change.settings) } : config;
  return isNetwork(chosen) ? (withLayers(chosen, change) as RunConfig as C) : chosen;
}

function withLayers(config: NetworkConfig, { batchNorm, activation, hidden }: ConfigChange): NetworkConfig {
  if (batchNorm === undefined && activation === undefined && hidden === undefined) return config;
  let layers: readonly LayerSpec[] = config.model.layers;
  if (hidden !== undefined) layers = shortened(layers, hidden);
  if (activation) layers = layers.map((layer) => (bends(layer) ? { ...layer, activation } : layer));
  if (batchNorm && !byPlace(layers)) layers = layers.flatMap((layer, i) => normalised(layer, layers[i + 1]));
  // A preset that is changed is the person's own model.
  return { ...config, model: { version: 1, layers } };
}

/** Layers that sum their inputs up. */
const sums = new Set(['dense', 'conv2d', 'conv_transpose2d']);
const activationOf = (layer: LayerSpec): unknown =>
  layer['activation'] ?? registry.get(layer.type)?.fields['activation']?.default ?? 'none';
const bends = (layer: LayerSpec): boolean => activationOf(layer) !== 'none';

/** The first hidden layers and what follows each, and the outputs; as they are where layers are other than a stack of dense ones. */
function shortened(layers: readonly LayerSpec[], hidden: number): readonly LayerSpec[] {
  const plain = layers.every(({ type, from }) => from === undefined && stacked.test(type));
  const end = layers.map(({ type }, place) => (type === 'dense' ? place : -1)).filter((place) => place >= 0)[hidden];
  return plain && end !== undefined ? [...layers.slice(0, end), ...layers.slice(-1)] : layers;
}
const stacked = /^(dense|activation|dropout|output|.*_norm)$/;

/** The layer, a batch norm and its activation; as it is where one follows already. */
function normalised(layer: LayerSpec, next: LayerSpec | undefined): readonly LayerSpec[] {
  if (!sums.has(layer.type) || next?.type.endsWith('_norm')) return [layer];
  const { activation: _, slope, id, ...rest } = layer;
  const named = id === undefined ? {} : { id };
  const norm = { type: 'batch_norm' };
  if (!bends(layer))
    return [
      { ...rest, type: layer.type },
      { ...norm, ...named },
    ];
  const bent = { type: 'activation', activation: activationOf(layer), ...(slope === undefined ? {} : { slope }) };
  // Whoever names the layer means what came out of it.
  return [{ ...rest, type: layer.type, activation: 'none' }, norm, { ...bent, ...named }];
}

/** Whether layers are referred to by their places, which another layer between them would move. */
const byPlace = (layers: readonly LayerSpec[]): boolean =>
  layers.some(({ from }) => [from ?? []].flat().some((name) => /^\d+$/.test(name)));

/** `config` with this change alone. */
export function actionOf(config: RunConfig, label: string, change: string, changes: ConfigChange): CheckAction {
  return { label, change, changes, continues: false, config: changed(config, changes) };
}

/** All that findings would try, each once and in their order; null: nothing. */
export function allChanges(
  config: RunConfig,
  findings: readonly CheckFinding[],
): { readonly config: RunConfig; readonly count: number; readonly words: string } | null {
  const actions = new Map<string, CheckAction>();
  const spoken = new Set<string>();
  for (const { action } of findings) {
    if (!action) continue;
    // What the first finding that speaks of a setting says, holds: it is the worst.
    const settings = Object.keys(action.changes.settings ?? {});
    if (settings.length > 0 && settings.every((name) => spoken.has(name))) continue;
    settings.forEach((name) => spoken.add(name));
    actions.set(JSON.stringify(action.changes), action);
  }
  if (actions.size === 0) return null;
  const chosen = [...actions.values()];
  const together = chosen.toReversed().reduce((before, { changes }) => changed(before, changes), config);
  return { config: together, count: actions.size, words: chosen.map(({ change }) => change).join(', ') };
}
