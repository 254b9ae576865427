// Memory: what the tab shows of engine/hardware/memory-forecast.ts. Pure: parts and stages, the largest batch by card and way,
// remedies that add up, past runs against their forecast.

import type { DeviceInfo } from '../../../../engine/protocol/app.ts';
import type { ModelCosts } from '../../../../engine/hardware/costs/costs.ts';
import type { Subject } from '../../../../engine/hardware/costs/familiar.ts';
import { memoryLimits } from '../../../../engine/hardware/formulas/memory.ts';
import {
  largestTextbookBatch,
  planMemory,
  textbookMemory,
  withOverheads,
  type PlanDevice,
  type PlanMemory,
  type Remedy,
  type TextbookMemory,
  type TextbookOptions,
} from '../../../../engine/hardware/memory-forecast.ts';
import { outputWidth, resolveModel } from '../../../../engine/model/resolve.ts';

export type Program = 'trainyard' | 'pytorch';

export interface Part {
  readonly id: 'parameters' | 'gradients' | 'optimizer' | 'activations' | 'workspace' | 'rows';
  readonly label: string;
  readonly bytes: number;
}

/** A forecast by part; what PyTorch has beside the model, its context and gaps, stands as its work space. */
export function partsOf(memory: PlanMemory | TextbookMemory): readonly Part[] {
  const { parameters, gradients, optimizer, activations, total } = memory;
  const rest: readonly Part[] =
    'workspace' in memory
      ? [
          { id: 'workspace', label: 'work space', bytes: memory.workspace },
          { id: 'rows', label: 'rows', bytes: memory.rows },
        ]
      : [{ id: 'workspace', label: 'context and gaps', bytes: withOverheads(total).low - total }];
  return [
    { id: 'parameters', label: 'parameters', bytes: parameters },
    { id: 'gradients', label: 'gradients', bytes: gradients },
    { id: 'optimizer', label: 'optimizer', bytes: optimizer },
    { id: 'activations', label: 'activations', bytes: activations },
    ...rest,
  ];
}

export const totalOf = (parts: readonly Part[]): number => parts.reduce((sum, { bytes }) => sum + bytes, 0);

export const textbookOptions = (
  { optimizer }: Pick<Subject, 'optimizer'>,
  precision: 'float32' | 'mixed16',
): TextbookOptions => ({ precision, optimizer: optimizer.startsWith('adam') ? 'adam' : 'momentum' });

/** Where this program trains: the first GPU that is not software, else all cores. */
export function planDevice(devices: readonly DeviceInfo[]): PlanDevice {
  const gpu = devices.find(({ kind, available, software }) => kind === 'gpu' && available && !software);
  return gpu ? { kind: 'gpu' } : { kind: 'cpu', cores: navigator.hardwareConcurrency };
}

/** Exact, of this program on a device; null for models it does not build. Throws for one too large to plan. */
export function ownMemory({ model, rows }: Subject, device: PlanDevice): PlanMemory | null {
  if (!model) return null;
  return planMemory(model, { train: rows, validation: 0, test: 0 }, device).memory;
}

export interface Stage {
  readonly name: string;
  /** Trained numbers; null where the costs do not say. */
  readonly parameters: number | null;
  /** Bytes of what is kept for the backward pass. */
  readonly activations: number;
  /** Of each of its layers that keeps something. */
  readonly byLayer: ReadonlyMap<string, number>;
}

/** Stages beyond this many are told as one. */
const mostStages = 14;

const inStage = /^s(\d+)b/;

/** Layers in order, those of one stage of a deep network together. `indexes`: whole numbers beside them count as well. */
export function stagesOf(
  subject: Subject,
  costs: ModelCosts,
  bytesPerValue: 2 | 4,
  indexes: boolean,
): readonly Stage[] {
  const kept = new Map(costs.activations.map((entry) => [entry.layer, entry]));
  const take = (layer: string): number => {
    const entry = kept.get(layer);
    kept.delete(layer);
    return entry ? bytesPerValue * entry.values + (indexes ? entry.indexBytes : 0) : 0;
  };
  const stages = new Map<string, Stage>();
  const add = (name: string, parameters: number | null, layer: string): void => {
    const before = stages.get(name);
    const activations = take(layer);
    stages.set(name, {
      name,
      parameters: parameters === null ? (before?.parameters ?? null) : (before?.parameters ?? 0) + parameters,
      activations: (before?.activations ?? 0) + activations,
      byLayer: new Map([...(before?.byLayer ?? []), ...(activations > 0 ? [[layer, activations] as const] : [])]),
    });
  };
  if (subject.model) {
    const { spec, input, output, training } = subject.model;
    const { layers } = resolveModel(spec, input, outputWidth(output, training.loss));
    let stage = layers.some(({ id }) => inStage.test(id)) ? 'stem' : '';
    for (const { id, index, def, parameters } of layers) {
      // `s2b1.3.conv` works in the second stage; what has no name of its own between two such layers does too.
      const found = inStage.exec(id)?.[1];
      if (found !== undefined) stage = `stage ${found}`;
      else if (def.type === 'dense' || def.type === 'output') stage = '';
      const own = /^\d+$/.test(id) ? `${index + 1} ${def.type.replaceAll('_', ' ')}` : id.split('.')[0];
      const numbers = parameters.reduce((sum, { shape }) => sum + shape.reduce((all, size) => all * size, 1), 0);
      add(stage || own, numbers, id);
    }
  }
  // What no layer of the model made: the data and the loss; of a transformer, all its layers.
  for (const layer of [...kept.keys()]) add(layer, null, layer);
  return shortened(
    [...stages.values()].filter(({ parameters, activations }) => activations > 0 || (parameters ?? 0) > 0),
  );
}

function shortened(stages: readonly Stage[]): readonly Stage[] {
  if (stages.length <= mostStages) return stages;
  const largest = new Set(stages.toSorted((a, b) => b.activations - a.activations).slice(0, mostStages - 1));
  const others = stages.filter((stage) => !largest.has(stage));
  const told = others.flatMap(({ parameters }) => parameters ?? []);
  return [
    ...stages.filter((stage) => largest.has(stage)),
    {
      name: `${others.length} others`,
      parameters: told.length > 0 ? told.reduce((sum, count) => sum + count, 0) : null,
      activations: others.reduce((sum, { activations }) => sum + activations, 0),
      byLayer: new Map(others.flatMap(({ byLayer }) => [...byLayer])),
    },
  ];
}

export interface BatchWay {
  readonly id: string;
  readonly label: string;
  /** By the bytes of each card; null: not of this program. */
  readonly batches: readonly (number | null)[];
  /** Times as long an epoch takes. */
  readonly time: number;
}

const recomputeTime = 4 / 3;
const ways = [
  { id: 'float32', label: 'float32', precision: 'float32', recompute: 'kept' },
  { id: 'float32-recompute', label: 'float32, recomputed', precision: 'float32', recompute: 'full' },
  { id: 'mixed16', label: '16 bits', precision: 'mixed16', recompute: 'kept' },
  { id: 'mixed16-recompute', label: '16 bits, recomputed', precision: 'mixed16', recompute: 'full' },
] as const;

/**
 * The largest batch four ways, by the textbook. `own`: this program trains the model on the processor here, at most in such batches
 * (null: being looked for): a way of its own, and the only one in the memory of this machine.
 */
export function batchWays(
  subject: Subject,
  cards: readonly number[],
  own?: { readonly bytes: number; readonly batch: number | null },
): readonly BatchWay[] {
  const here = cards.map((bytes) => (bytes === own?.bytes ? own.batch : null));
  const first = own ? [{ id: 'trainyard', label: 'Trainyard, float32', time: 1, batches: here }] : [];
  const others = ways.map(({ id, label, precision, recompute }) => {
    const options = { ...textbookOptions(subject, precision), recompute };
    return {
      id,
      label,
      time: recompute === 'full' ? recomputeTime : 1,
      batches: cards.map((bytes) =>
        bytes === own?.bytes ? null : largestTextbookBatch(subject.costs, options, bytes),
      ),
    };
  });
  return [...first, ...others];
}

export type RemedyName = Remedy['name'];

export interface Together {
  /** Bytes a card has to have free. */
  readonly needed: number;
  /** Times as long an epoch takes. */
  readonly time: number;
}

/** What is needed with all of these remedies at once. */
export function together(subject: Subject, options: TextbookOptions, ticked: readonly Remedy[]): Together {
  const has = (name: RemedyName): boolean => ticked.some((remedy) => remedy.name === name);
  const halvings = Number(has('accumulation')) + Number(has('smaller batch'));
  const changed: TextbookOptions = {
    ...options,
    ...(has('recomputation') ? { recompute: 'full' } : {}),
    ...(has('16 bits') ? { precision: 'mixed16' } : {}),
    ...(has('8-bit Adam') ? { optimizer: 'adam8bit' } : {}),
  };
  const costs = subject.costs(Math.max(1, subject.batch >> halvings));
  return {
    needed: withOverheads(textbookMemory(costs, changed).total).low,
    time: ticked.reduce((product, { time }) => product * time, 1),
  };
}

/** The fewest parts of a batch, a power of two, that fit a card one after the other; null = not even single rows do. */
export function partsThatFit(subject: Subject, options: TextbookOptions, card: number): number | null {
  const largest = largestTextbookBatch(subject.costs, options, card);
  if (largest < 1) return null;
  let parts = 1;
  while (Math.ceil(subject.batch / parts) > largest) parts *= 2;
  return parts;
}

/** What may be filled of a card. */
export const usable = (card: number): number => memoryLimits.refuse * card;

export interface RunMemory {
  readonly id: number;
  readonly name: string;
  readonly device: 'cpu' | 'gpu';
  readonly forecast: number;
  readonly measured: number;
  /** Measured against the forecast: 0.02 is 2 % more than forecast. */
  readonly off: number;
}

/** How far off forecasts were: median and worst. */
export function offBy(runs: readonly RunMemory[]): { readonly median: number; readonly worst: number } | null {
  if (runs.length === 0) return null;
  const sorted = runs.map(({ off }) => Math.abs(off)).toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, worst: sorted[sorted.length - 1] };
}
