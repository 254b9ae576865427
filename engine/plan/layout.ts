// Named tensors and the slots they live in. All parameters of an element type share one slot, their gradients a second one of
// the same layout, and each optimizer state another, so that the optimizer is one call over everything.

import { elementBytes, type ElementType } from '../../kernels/contract.ts';
import type { Shape } from '../graph/graph.ts';
import { sizeOf } from '../graph/op.ts';
import { bandName, gradientName, type ReservedTensor, slotName } from '../graph/tensors.ts';
import type { ParameterDef } from '../model/layer.ts';
import type { Slot, TensorPlace } from './plan.ts';

/** Tensors start at multiples of 256 bytes: WebGPU's binding alignment and whole cache lines. */
export const alignmentBytes = 256;

/** The elements a tensor takes in a slot of its type, the gap behind it included. */
export function align(elements: number, type: ElementType = 'f32'): number {
  const alignment = alignmentBytes / elementBytes[type];
  return Math.ceil(elements / alignment) * alignment;
}

/** Slots and tensors while a plan is made. */
export class Layout {
  readonly slots: Slot[] = [];
  readonly tensors: Record<string, TensorPlace> = {};

  /** Adds a slot that is one tensor. */
  add(name: ReservedTensor, shape: Shape, kind: Slot['kind'], type: ElementType = 'f32'): void {
    this.#add(name, shape, kind, type);
  }

  /** Adds a slot that is one state of the model. */
  addState(name: string, shape: Shape, type: ElementType = 'f32'): void {
    this.#add(name, shape, 'persistent', type);
  }

  /** Adds the slots of all parameters. */
  addParameters(parameters: readonly ParameterDef[], slots: ParameterSlots): void {
    this.#addPieces('parameters', parameters, slots, (name) => name);
  }

  /** Adds the slots of their gradients. */
  addGradients(parameters: readonly ParameterDef[], slots: ParameterSlots): void {
    this.#addPieces('gradients', parameters, slots, gradientName);
  }

  /** Names the bands of a tensor that its groups of parameters have. */
  addBands(of: ReservedTensor, { groups }: ParameterLayout): void {
    const { slot, type } = this.tensors[of];
    groups.forEach(({ offset, count }, group) => {
      if (count > 0) this.tensors[bandName(of, group)] = { slot, offset, shape: [count], type };
    });
  }

  slot(label: string, elements: number, kind: Slot['kind'], type: ElementType = 'f32'): number {
    const id = this.slots.length;
    this.slots.push({ id, label, elements, kind, type });
    return id;
  }

  #addPieces(
    kind: 'parameters' | 'gradients',
    parameters: readonly ParameterDef[],
    slots: ParameterSlots,
    pieceName: (parameter: string) => string,
  ): void {
    for (const [type, { count, offsets }] of slots) {
      const whole = slotName(kind, type);
      this.add(whole, [count], 'persistent', type);
      const { slot } = this.tensors[whole];
      for (const { name, shape } of parameters) {
        const offset = offsets.get(name);
        if (offset !== undefined) this.tensors[pieceName(name)] = { slot, offset, shape, type };
      }
    }
  }

  #add(name: string, shape: Shape, kind: Slot['kind'], type: ElementType): void {
    const slot = this.slot(name, Math.max(1, sizeOf(shape)), kind, type);
    this.tensors[name] = { slot, offset: 0, shape, type };
  }
}

/** Where the parameters of one element type stand inside their slot (and gradients inside theirs). */
export interface ParameterLayout {
  readonly offsets: ReadonlyMap<string, number>;
  /** Elements of the slot, gaps included. */
  readonly count: number;
  /** Bands of the slot, one a factor of the learning rate: that of 1 first, if only an empty one. */
  readonly groups: readonly ParameterGroup[];
}

/** Parameters side by side that the optimizer moves alike. */
export interface ParameterGroup {
  /** Factor of the learning rate. */
  readonly rate: number;
  readonly offset: number;
  readonly count: number;
  /** Elements at its front that weight decay acts on. */
  readonly decayCount: number;
}

/** Factors of the learning rate among parameters: 1, then the others as they come. */
export function ratesOf(parameters: readonly ParameterDef[]): readonly number[] {
  return [...new Set([1, ...parameters.map(({ rate = 1 }) => rate)])];
}

/** A layout for each element type of parameters; there is always one for f32, if only an empty one. */
export type ParameterSlots = ReadonlyMap<ElementType, ParameterLayout>;

export function layOutParameters(parameters: readonly ParameterDef[]): ParameterSlots {
  const types = new Set<ElementType>(['f32', ...parameters.map(({ type = 'f32' }) => type)]);
  return new Map(
    [...types].map((type) => [
      type,
      layOut(
        parameters.filter((parameter) => (parameter.type ?? 'f32') === type),
        type,
      ),
    ]),
  );
}

function layOut(parameters: readonly ParameterDef[], type: ElementType): ParameterLayout {
  const offsets = new Map<string, number>();
  let end = 0;
  const groups = ratesOf(parameters).map((rate): ParameterGroup => {
    const offset = end;
    let decayCount = 0;
    for (const decay of [true, false]) {
      for (const parameter of parameters) {
        if (parameter.decay !== decay || (parameter.rate ?? 1) !== rate) continue;
        offsets.set(parameter.name, end);
        end += align(sizeOf(parameter.shape), type);
      }
      if (decay) decayCount = end - offset;
    }
    return { rate, offset, count: end - offset, decayCount };
  });
  return { offsets, count: Math.max(end, align(1, type)), groups };
}
