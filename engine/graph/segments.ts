// Cuts the layers of a training step into segments for gradient checkpointing (T. Chen et al., "Training deep nets with
// sublinear memory cost", arXiv 1604.06174): what one segment gives to a later one is kept, what it makes for itself is computed
// again. Blocks need no names: a cut inside one has to keep its shortcut too, so it costs more than one between two.

import { consumersOf, type Graph, type ValueId } from './graph.ts';
import { sizeOf } from './op.ts';
import { ops } from './ops.ts';

/** The segments of a graph, and which of its values belong to one alone. */
export interface Segments {
  /** First and last layer of each. */
  readonly segments: readonly (readonly [first: number, last: number])[];
  /** Segment of a value that nobody but this segment and the backward pass reads; null: the value is kept. */
  readonly of: (value: ValueId) => number | null;
}

/** What a layer makes: until which layer it is read, and how much of it the backward pass reads. */
interface Made {
  /** Position of the layer that makes it. */
  readonly layer: number;
  lastReader: number;
  readonly elements: number;
  read: boolean;
}

/** Positions of more layers than this are joined: the work grows with their square. */
const mostPositions = 300;

/** The segments for which least is alive at once, by the sizes of what the backward pass reads. */
export function segmentsOf(graph: Graph): Segments {
  const stored = storageOf(graph);
  const made = valuesMade(graph, stored);
  const layers = 1 + Math.max(-1, ...[...made.values()].map(({ layer }) => layer));
  const joined = Math.max(1, Math.ceil(layers / mostPositions));
  const position = (layer: number): number => Math.floor(layer / joined);
  const positions = layers === 0 ? 0 : position(layers - 1) + 1;
  const { within, across } = sizesOf([...made.values()], positions, position);
  const cuts = cheapestCuts(positions, within, across);
  const segments = cuts.map((first, i) => [first * joined, (cuts[i + 1] ?? positions) * joined - 1] as const);
  const segmentAt = (layer: number): number => segments.findIndex(([, last]) => layer <= last);
  const of = new Map([...made].map(([value, { layer }]) => [value, segmentAt(layer)]));
  return {
    segments,
    of: (value) => {
      const root = stored(value);
      const segment = of.get(root);
      if (segment === undefined) return null;
      return made.get(root)!.lastReader > segments[segment][1] ? null : segment;
    },
  };
}

/** The value that views of it share their memory with. */
export function storageOf(graph: Graph): (value: ValueId) => ValueId {
  const storage = new Map<ValueId, ValueId>();
  for (const { op, inputs, outputs } of graph.nodes) {
    const [first] = inputs;
    if (ops[op].alias && typeof first === 'number') storage.set(outputs[0], storage.get(first) ?? first);
  }
  return (value) => storage.get(value) ?? value;
}

/** What the layers make, by value; what stands before them (rows, parameters) is there in any case. */
function valuesMade(graph: Graph, stored: (value: ValueId) => ValueId): ReadonlyMap<ValueId, Made> {
  const made = new Map<ValueId, Made>();
  const positions = new Map<string, number>();
  for (const { op, origin, outputs } of graph.nodes) {
    if (origin.phase !== 'forward' || outside.has(op) || beforeLayers.has(origin.layer) || ops[op].alias) continue;
    if (!positions.has(origin.layer)) positions.set(origin.layer, positions.size);
    const layer = positions.get(origin.layer)!;
    for (const id of outputs)
      made.set(id, { layer, lastReader: layer, elements: sizeOf(graph.values[id].shape), read: false });
  }
  const consumers = consumersOf(graph);
  graph.values.forEach(({ id }) => {
    const value = made.get(stored(id));
    if (!value) return;
    for (const index of consumers[id]) {
      const { op, origin } = graph.nodes[index];
      if (origin.phase === 'backward') value.read = true;
      else if (!ops[op].alias) value.lastReader = Math.max(value.lastReader, positions.get(origin.layer) ?? 0);
    }
  });
  return made;
}

const outside: ReadonlySet<string> = new Set(['parameter', 'state']);
const beforeLayers: ReadonlySet<string> = new Set(['data', 'input']);

/** Elements by the segment from position a to position i: what stays within it, and what later ones read. */
function sizesOf(
  made: readonly Made[],
  positions: number,
  position: (layer: number) => number,
): { readonly within: readonly Float64Array[]; readonly across: readonly Float64Array[] } {
  const at: Made[][] = Array.from({ length: positions }, () => []);
  for (const value of made) at[position(value.layer)].push(value);
  const table = (): Float64Array[] => Array.from({ length: positions }, () => new Float64Array(positions));
  const [within, across] = [table(), table()];
  for (let last = 0; last < positions; last++) {
    for (let first = last; first >= 0; first--) {
      let [inside, beyond] = first === last ? [0, 0] : [within[first + 1][last], across[first + 1][last]];
      for (const { elements, lastReader, read } of at[first]) {
        if (position(lastReader) > last) beyond += elements;
        else if (read) inside += elements;
      }
      within[first][last] = inside;
      across[first][last] = beyond;
    }
  }
  return { within, across };
}

/** First positions of the segments for which the most that is alive, kept values and those of one segment, is least. */
function cheapestCuts(
  positions: number,
  within: readonly Float64Array[],
  across: readonly Float64Array[],
): readonly number[] {
  if (positions === 0) return [];
  /** First positions of segments none of which exceeds the limit, with the fewest values kept; null: there are none. */
  const cutsWithin = (limit: number): readonly number[] | null => {
    const kept = new Float64Array(positions + 1).fill(Infinity);
    const from = new Int32Array(positions + 1);
    kept[0] = 0;
    for (let end = 1; end <= positions; end++) {
      for (let first = 0; first < end; first++) {
        if (kept[first] + within[first][end - 1] > limit) continue;
        const sum = kept[first] + across[first][end - 1];
        if (sum < kept[end]) {
          kept[end] = sum;
          from[end] = first;
        }
      }
    }
    if (kept[positions] === Infinity) return null;
    const cuts: number[] = [];
    for (let end = positions; end > 0; end = from[end]) cuts.unshift(from[end]);
    return cuts;
  };
  let [low, high] = [0, within[0][positions - 1]];
  let best: readonly number[] = [0];
  while (high - low > Math.max(1, high / 1000)) {
    const middle = (low + high) / 2;
    const cuts = cutsWithin(middle);
    if (cuts) [best, high] = [cuts, middle];
    else low = middle;
  }
  return best;
}
