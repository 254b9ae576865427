// One model laid over several devices of a kind, layer by layer, on paper: which would sit where, what would cross between them in a step, and
// what a pipeline of parts of the batch would take. From the plan's calls and the shapes of the layers.

import { outputWidth, resolveModel } from '../model/resolve.ts';
import type { CallCost } from './costs/costs.ts';
import type { Subject } from './costs/familiar.ts';
import type { ModelAtHand } from './costs/from-model.ts';
import type { Link } from './several.ts';

/** A layer as it is laid out. */
export interface PlacedLayer {
  readonly id: string;
  /** Seconds of its calls in a step, forward and backward. */
  readonly seconds: number;
  /** Of them those to start its calls, which a part of the batch takes as the whole does. */
  readonly starts: number;
  readonly parameterBytes: number;
  /** Bytes kept for the backward pass, of the whole batch. */
  readonly keptBytes: number;
  /** Of its output, of the whole batch. */
  readonly outputBytes: number;
  /** Positions of the layers that it reads; −1: the model's input. */
  readonly inputs: readonly number[];
}

export interface Stage extends Pick<PlacedLayer, 'seconds' | 'starts' | 'parameterBytes' | 'keptBytes'> {
  /** Its first layer, and its last. */
  readonly from: string;
  readonly to: string;
  readonly layers: number;
  /** To the next device in a step: outputs forward, as many bytes of gradients back. 0: the last. */
  readonly crossing: number;
}

export interface Stages {
  readonly stages: readonly Stage[];
  /** Seconds of a step: the batch at once, one device at work at a time; and in so many parts, one behind the other (GPipe, arXiv 1811.06965). */
  readonly atOnce: number;
  readonly parts: number;
  readonly piped: number;
  /** Of the device that has most, while the parts are in flight: the share of its time that it waits for the pipeline to fill and drain. */
  readonly waiting: number;
}

/** Bytes that cross behind each layer: outputs that a later layer reads, each once, there and (its gradient) back. */
export function crossings(layers: readonly PlacedLayer[], inputBytes: number): readonly number[] {
  return layers.map((_, cut) => {
    const read = new Set(layers.slice(cut + 1).flatMap(({ inputs }) => inputs.filter((at) => at <= cut)));
    // The model's input has no gradient.
    return [...read].reduce((bytes, at) => bytes + (at < 0 ? inputBytes : 2 * layers[at].outputBytes), 0);
  });
}

/** The cut into `count` rows of layers whose slowest is quickest; of those with equal slowest, the one that sends least. */
export function cutInto(layers: readonly PlacedLayer[], crossing: readonly number[], count: number): readonly number[] {
  const sums = [0];
  for (const { seconds } of layers) sums.push(sums[sums.length - 1] + seconds);
  type Best = { readonly slowest: number; readonly sent: number; readonly ends: readonly number[] };
  let best: readonly (Best | null)[] = [{ slowest: 0, sent: 0, ends: [] }, ...layers.map(() => null)];
  for (let stage = 1; stage <= count; stage++) {
    const next: (Best | null)[] = [null];
    for (let end = 1; end <= layers.length; end++) {
      let found: Best | null = null;
      for (let start = stage - 1; start < end; start++) {
        const before = best[start];
        if (before === null) continue;
        const slowest = Math.max(before.slowest, sums[end] - sums[start]);
        const sent = before.sent + (end < layers.length ? crossing[end - 1] : 0);
        if (!found || slowest < found.slowest || (slowest === found.slowest && sent < found.sent))
          found = { slowest, sent, ends: [...before.ends, end] };
      }
      next.push(found);
    }
    best = next;
  }
  return best[layers.length]!.ends;
}

/** Throws RangeError for fewer than 1 device, or more than there are layers. */
export function stagesOf(
  layers: readonly PlacedLayer[],
  inputBytes: number,
  { devices, batch, link }: { readonly devices: number; readonly batch: number; readonly link: Link },
): Stages {
  if (!(devices >= 1 && devices <= layers.length))
    throw new RangeError(`${devices} devices for ${layers.length} layers: each needs one at least.`);
  const crossing = crossings(layers, inputBytes);
  const ends = cutInto(layers, crossing, devices);
  const stages = ends.map((end, index): Stage => {
    const own = layers.slice(ends[index - 1] ?? 0, end);
    const sum = (of: (layer: PlacedLayer) => number): number => own.reduce((total, layer) => total + of(layer), 0);
    return {
      ...{ from: own[0].id, to: own[own.length - 1].id, layers: own.length },
      seconds: sum(({ seconds }) => seconds),
      starts: sum(({ starts }) => starts),
      parameterBytes: sum(({ parameterBytes }) => parameterBytes),
      keptBytes: sum(({ keptBytes }) => keptBytes),
      crossing: end < layers.length ? crossing[end - 1] : 0,
    };
  });
  const latency = link.latency ?? 0;
  const over = ({ crossing: bytes }: Stage, parts: number): number =>
    bytes === 0 ? 0 : bytes / parts / link.bandwidth + 2 * latency;
  const atOnce = stages.reduce((sum, stage) => sum + stage.seconds + over(stage, 1), 0);
  // Four parts a device leave a fifth of the time for filling and draining; no part is less than an example.
  const parts = Math.min(batch, devices === 1 ? 1 : 4 * devices);
  const slowest = Math.max(
    ...stages.map((stage) => Math.max(stage.starts + (stage.seconds - stage.starts) / parts, over(stage, parts))),
  );
  const rounds = parts + devices - 1;
  return { stages, atOnce, parts, piped: rounds * slowest, waiting: (devices - 1) / rounds };
}

/** The layers of a model this program builds; `time` of calls on the device, and of that to start them. Null: it is known by its sizes alone. */
export function placedLayers(
  { model, costs: costsAt, batch }: Subject,
  time: (calls: readonly CallCost[]) => Pick<PlacedLayer, 'seconds' | 'starts'>,
): { readonly layers: readonly PlacedLayer[]; readonly inputBytes: number } | null {
  if (!model) return null;
  const { layers, inputShape } = resolvedOf(model);
  const { calls, activations } = costsAt(batch);
  const size = (shape: readonly number[]): number => shape.reduce((product, side) => product * side, 1);
  const weightsOf = ({ parameters }: (typeof layers)[number]): number =>
    parameters.reduce((sum, { shape }) => sum + size(shape), 0);
  // Frozen layers lie on a device as the others do, but are not updated.
  const updatedOf = (layer: (typeof layers)[number]): number =>
    layer.index < (model.training.frozenLayers ?? 0) ? 0 : weightsOf(layer);
  const total = layers.reduce((sum, layer) => sum + updatedOf(layer), 0);
  const ids = new Set(layers.map(({ id }) => id));
  const [first, last] = [layers[0].id, layers[layers.length - 1].id];
  // What stands before the layers goes with the first, the loss with the last, the update by the weights.
  const placeOf = (layer: string): string => (ids.has(layer) ? layer : layer === 'loss' ? last : first);
  const worked = calls.filter(({ phase }) => phase !== 'update');
  const update = time(calls.filter(({ phase }) => phase === 'update')).seconds;
  return {
    inputBytes: 4 * batch * size(inputShape),
    layers: layers.map((layer) => {
      const { id, inputs, outputShape } = layer;
      const { seconds, starts } = time(worked.filter(({ layer }) => placeOf(layer) === id));
      const kept = activations.filter(({ layer }) => placeOf(layer) === id);
      return {
        ...{ id, inputs },
        starts,
        seconds: seconds + (total > 0 ? (update * updatedOf(layer)) / total : 0),
        parameterBytes: 4 * weightsOf(layer),
        keptBytes: kept.reduce((bytes, { values, indexBytes }) => bytes + 4 * values + indexBytes, 0),
        outputBytes: 4 * batch * size(outputShape),
      };
    }),
  };
}

const resolvedOf = ({ spec, input, output, training }: ModelAtHand) =>
  resolveModel(spec, input, outputWidth(output, training.loss));
