// Named tensors and the slots they live in. All parameters share one slot, their gradients a second one of the same
// layout, and each optimizer state another, so that the optimizer is one call over everything.

import type { Shape } from '../graph/graph.ts';
import { sizeOf } from '../graph/op.ts';
import type { ResolvedModel } from '../model/resolve.ts';
import type { Slot, TensorPlace } from './plan.ts';

/** Tensors start at multiples of 64 elements: 256 bytes, WebGPU's binding alignment and whole cache lines. */
export const alignment = 64;
export const align = (elements: number): number => Math.ceil(elements / alignment) * alignment;

/** Slots and tensors while a plan is made. */
export class Layout {
  readonly slots: Slot[] = [];
  readonly tensors: Record<string, TensorPlace> = {};

  /** Adds a slot that is one tensor. */
  add(name: string, shape: Shape, kind: Slot['kind'], type: Slot['type'] = 'f32'): void {
    const slot = this.slot(name, Math.max(1, sizeOf(shape)), kind, type);
    this.tensors[name] = { slot, offset: 0, shape, type };
  }

  slot(label: string, elements: number, kind: Slot['kind'], type: Slot['type'] = 'f32'): number {
    const id = this.slots.length;
    this.slots.push({ id, label, elements, kind, type });
    return id;
  }
}

/** Where parameters stand inside the parameter slot (and gradients inside theirs). */
export interface ParameterLayout {
  readonly offsets: ReadonlyMap<string, number>;
  /** Elements of the slot, gaps included. */
  readonly count: number;
  /** Elements at the front that weight decay acts on. */
  readonly decayCount: number;
}

export function layOutParameters(model: ResolvedModel): ParameterLayout {
  const offsets = new Map<string, number>();
  let count = 0;
  let decayCount = 0;
  for (const decay of [true, false]) {
    for (const parameter of model.parameters) {
      if (parameter.decay !== decay) continue;
      offsets.set(parameter.name, count);
      count += align(sizeOf(parameter.shape));
    }
    if (decay) decayCount = count;
  }
  return { offsets, count: Math.max(count, alignment), decayCount };
}
