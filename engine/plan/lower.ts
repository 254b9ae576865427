// From a graph to kernel calls whose operands are values or named tensors. Views (aliases such as reshape) need no call: a
// value seen through them keeps their shape, while it is stored as the value they rename.

import type { Graph, ValueId } from '../graph/graph.ts';
import { sizeOf, type LoweredCall, type LoweredOperand, type LowerContext } from '../graph/op.ts';
import { ops } from '../graph/ops.ts';
import { gradientName } from '../graph/tensors.ts';

/** A program's calls before slots are known. */
export interface LoweredProgram {
  readonly name: string;
  /** Rows a step of this program takes. */
  readonly batch: number;
  readonly graph: Graph;
  readonly calls: readonly LoweredCall[];
  /** The value each view is stored as; values that are no views are missing. */
  readonly storage: ReadonlyMap<ValueId, ValueId>;
  /** Stored values that live in a named tensor instead of scratch memory. */
  readonly named: ReadonlyMap<ValueId, string>;
  /** Stored values that take 16 bits; absent: none. */
  readonly halves?: ReadonlySet<ValueId>;
  /** Parameters that are read from their copies in 16 bits; absent: none. */
  readonly copied?: ReadonlySet<ValueId>;
}

export const isValue = (operand: LoweredOperand): operand is ValueId => typeof operand === 'number';

/** Lowers a graph as it is: its results are what its effects write. */
export function lowerProgram(name: string, batch: number, graph: Graph): LoweredProgram {
  const storage = new Map<ValueId, ValueId>();
  const named = new Map<ValueId, string>();
  const calls = graph.nodes.flatMap((node) => {
    const definition = ops[node.op];
    if (definition.alias) {
      const source = node.inputs[0]!;
      storage.set(node.outputs[0], storage.get(source) ?? source);
      return [];
    }
    if (node.op === 'parameter' || node.op === 'state') named.set(node.outputs[0], node.attributes.name);
    const context: LowerContext<never> = {
      attributes: node.attributes as never,
      inputs: node.inputs,
      outputs: node.outputs,
      shapes: node.inputs.map((id) => (id === null ? null : graph.values[id].shape)),
      outputShapes: node.outputs.map((id) => graph.values[id].shape),
    };
    return definition.lower(context).map((call) => ({ ...call, origin: node.origin }));
  });
  return { name, batch, graph, calls, storage, named };
}

/**
 * Sees to it that the gradients end up in `gradient:NAME`. A gradient is made there if it is the gradient of this parameter
 * alone and no call reads it to write another one, since a call never reads and writes one slot. Otherwise it is copied
 * there in the end; where the loss does not depend on a parameter, its gradient is 0.
 */
export function placeGradients(
  program: LoweredProgram,
  parameters: readonly { readonly name: string; readonly shape: readonly number[] }[],
  gradients: ReadonlyMap<string, ValueId>,
): LoweredProgram {
  const stored = (value: ValueId): ValueId => program.storage.get(value) ?? value;
  const owners = new Map<ValueId, readonly string[]>();
  for (const [name, value] of gradients) owners.set(stored(value), [...(owners.get(stored(value)) ?? []), name]);
  const places = new Map<ValueId, string>();
  for (const [value, names] of owners) {
    if (names.length === 1 && !program.named.has(value)) places.set(value, gradientName(names[0]));
  }
  const isPlaced = (operand: LoweredOperand): boolean => isValue(operand) && places.has(stored(operand));
  for (const { inputs, outputs } of program.calls) {
    if (!outputs.some(isPlaced)) continue;
    for (const input of inputs) if (isValue(input)) places.delete(stored(input));
  }
  const copies = parameters.flatMap(({ name, shape }): readonly LoweredCall[] => {
    const target = { tensor: gradientName(name) };
    const value = gradients.get(name);
    const count = sizeOf(shape);
    const origin = { layer: name.slice(0, name.lastIndexOf('.')), phase: 'backward' } as const;
    if (value === undefined) {
      return [{ kernel: 'fill', origin, inputs: [], outputs: [target], params: { count, value: 0 } }];
    }
    return places.has(stored(value)) ? [] : [{ ...copyWhole(value, target, count), origin }];
  });
  return { ...program, calls: [...program.calls, ...copies], named: new Map([...program.named, ...places]) };
}

/** Copies values to named tensors once all is done; origins of the copies are those of their layers. */
export function keepValues(
  program: LoweredProgram,
  kept: readonly { readonly value: ValueId; readonly tensor: string; readonly layer: string }[],
): LoweredProgram {
  const copies = kept.map(({ value, tensor, layer }): LoweredCall => {
    const count = sizeOf(program.graph.values[value].shape);
    return { ...copyWhole(value, { state: tensor }, count), origin: { layer, phase: 'forward' } };
  });
  return { ...program, calls: [...program.calls, ...copies] };
}

function copyWhole(value: ValueId, target: LoweredOperand, count: number): LoweredCall {
  const params = { rows: 1, columns: count, sourceWidth: count, sourceOffset: 0, targetWidth: count, targetOffset: 0 };
  return { kernel: 'copy_columns', inputs: [value], outputs: [target], params };
}
