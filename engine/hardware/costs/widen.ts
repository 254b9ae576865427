// A model made wider or narrower, its shape kept: units and filters of every layer but the output by the same factor.

import type { LayerSpec, ModelSpec } from '../../model/spec.ts';

const widthOf = ({ units, filters }: LayerSpec): number | null => {
  const width = units ?? filters;
  return typeof width === 'number' ? width : null;
};

/** Units or filters of its widest layer; 0 where it has none but the output. */
export const widestOf = ({ layers }: ModelSpec): number => Math.max(0, ...layers.map((layer) => widthOf(layer) ?? 0));

/** `factor` times as wide, at least one unit a layer. Groups of depthwise convolutions go along. */
export function widened(spec: ModelSpec, factor: number): ModelSpec {
  const scaled = (width: number): number => Math.max(1, Math.round(width * factor));
  const layers = spec.layers.map((layer): LayerSpec => {
    const { units, filters, groups } = layer;
    return {
      ...layer,
      ...(typeof units === 'number' ? { units: scaled(units) } : {}),
      ...(typeof filters === 'number' ? { filters: scaled(filters) } : {}),
      ...(typeof groups === 'number' && groups > 1 ? { groups: scaled(groups) } : {}),
    };
  });
  return { ...spec, layers };
}
