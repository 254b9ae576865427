// A layer in words: what a model is compared by, and a run's page lists.

import { completed, fieldsOf, matters, valueAt, valueWord } from '../settings/values.ts';
import { layers as registry } from './registry.ts';
import type { LayerSpec } from './spec.ts';

/** `Conv 2D 32 × 3×3 ReLU, stride 2`: what a layer is known by, then by name whatever is not as usual. `spelled`: a number as a text. */
export function layerText(layer: LayerSpec, spelled: (number: number) => string): string {
  const { fields, title } = registry.get(layer.type) ?? { fields: {}, title: layer.type };
  if (layer.type === 'output') return 'Output';
  const args = completed(fields, layer);
  const shown = fieldsOf(fields).flatMap(([name, field]) => {
    const value = valueAt(args, name);
    return value !== undefined && matters(field, args) ? [{ name, field, value }] : [];
  });
  const words = new Map(
    shown.map(({ name, field, value }) => [name, valueWord(field, value, (number) => spelled(number))]),
  );
  const say = (name: string): string => words.get(name) ?? '–';
  const known = new Map([
    ['filters', `${say('filters')} × ${say('kernel')}×${say('kernel')}`],
    ['channels', `${say('channels')} × ${say('height')}×${say('width')}`],
    ['size', `${say('size')}×${say('size')}`],
    ['factor', `×${say('factor')}`],
    ['units', say('units')],
    ['rate', say('rate')],
    ['activation', valueAt(args, 'activation') === 'none' ? '' : say('activation')],
  ]);
  const start = shown.flatMap(({ name }) => known.get(name) || []);
  const rest = shown
    .filter(({ name, field, value }) => !known.has(name) && !saidAlong.has(name) && value !== field.default)
    .map(({ name, field, value }) => {
      const label = field.label.toLowerCase();
      return typeof value === 'boolean' ? `${value ? '' : 'no '}${label}` : `${label} ${say(name)}`;
    });
  return [[title, ...start].join(' '), ...rest].join(', ');
}

/** Arguments that stand behind another. */
const saidAlong = new Set(['kernel', 'height', 'width']);
