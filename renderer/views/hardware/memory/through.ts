// Memory through one training step, call by call: what a layer keeps is there from its last call forwards to its last call
// backwards; states, rows and work space all the time. Pure.

import type { CallCost, ModelCosts } from '../../../../engine/hardware/costs/costs.ts';
import type { Curve } from '../../../components/chart/curves.ts';
import { bytes } from '../../../lib/format.ts';
import type { Part, Stage } from './memory.ts';

export interface ThroughStep {
  /** Areas from the bottom up: what is always there, then the stages in order; x counts calls. */
  readonly areas: readonly Curve[];
  readonly calls: number;
  /** The calls that backward pass and update begin with. */
  readonly backward: number;
  readonly update: number;
  readonly peak: { readonly at: number; readonly bytes: number };
}

/** Calls as a step makes them: a published transformer lists each layer's forward and backward calls together. */
function inOrder({ calls, transformer }: ModelCosts): readonly CallCost[] {
  if (!transformer) return calls;
  const of = (wanted: CallCost['phase']) => calls.filter(({ phase }) => phase === wanted);
  return [...of('forward'), ...of('backward').toReversed(), ...of('update')];
}

const always = [
  { id: 'states', label: 'states', of: ['parameters', 'gradients', 'optimizer'], token: 'text2' },
  { id: 'rows', label: 'rows', of: ['rows'], token: 'bar2' },
  { id: 'workspace', label: 'work space', of: ['workspace'], token: 'line2' },
] as const;
/** Steps of opacity, from the first stage to the last. */
const opacities = { first: 1, last: 0.35 } as const;
const restName = 'loss and scores';

/** `parts` and `stages` are those of the same forecast: at the peak the areas add up to the parts. */
export function throughStep(costs: ModelCosts, parts: readonly Part[], stages: readonly Stage[]): ThroughStep {
  const calls = inOrder(costs);
  const count = calls.length;
  const x = Array.from({ length: count + 1 }, (_, i) => i);
  const firstOf = (phase: CallCost['phase']): number => {
    const found = calls.findIndex((call) => call.phase === phase);
    return found < 0 ? count : found;
  };
  const [backward, update] = [firstOf('backward'), firstOf('update')];
  const lastOf = (phase: CallCost['phase'], layer: string): number =>
    calls.findLastIndex((call) => call.phase === phase && call.layer === layer);
  const lastBackward = calls.findLastIndex(({ phase }) => phase === 'backward');

  const kept = parts.find(({ id }) => id === 'activations')?.bytes ?? 0;
  const told = stages.reduce((sum, { activations }) => sum + activations, 0);
  // What no layer is said to keep: scores over a vocabulary. A plan may keep less than its layers make.
  const rest = Math.max(0, kept - told);
  const scale = told > kept ? kept / told : 1;
  const living = (byLayer: Iterable<readonly [string, number]>): number[] => {
    const y = x.map(() => 0);
    for (const [layer, amount] of byLayer) {
      const made = lastOf('forward', layer);
      const read = lastOf('backward', layer);
      const freed = read < 0 ? lastBackward : read;
      // After call i stands what it has made; what a call reads is there until it is done.
      for (let i = Math.max(0, made) + 1; i <= freed; i++) y[i] += scale * amount;
    }
    return y;
  };

  const base = x.map(() => 0);
  const areas: Curve[] = [];
  const stack = (id: string, name: string, token: string, opacity: number, y: readonly number[]): void => {
    const most = Math.max(...y);
    if (most <= 0) return;
    const label = `${name} ${bytes(most)}`;
    areas.push({
      id,
      label,
      token,
      dash: [],
      line: false,
      x,
      y,
      base: [...base],
      opacity,
      inkLabel: token === 'line2',
    });
    y.forEach((value, i) => (base[i] += value));
  };
  for (const { id, label, of, token } of always) {
    const size = parts.reduce((sum, part) => ((of as readonly string[]).includes(part.id) ? sum + part.bytes : sum), 0);
    stack(
      id,
      label,
      token,
      1,
      x.map(() => size),
    );
  }
  const grown = stages.filter(({ activations }) => activations > 0);
  grown.forEach(({ name, byLayer }, i) => {
    const share = grown.length > 1 ? i / (grown.length - 1) : 0;
    stack(name, name, 'gpu', opacities.first + share * (opacities.last - opacities.first), living(byLayer));
  });
  if (rest > 0.001 * kept) stack('rest', restName, 'gpu', opacities.last, living([['loss', rest]]));
  const bytesAtPeak = Math.max(...base);
  return { areas, calls: count, backward, update, peak: { at: base.indexOf(bytesAtPeak), bytes: bytesAtPeak } };
}
