// Turns the operands a pass names into bindings: which range of which buffer, and whether it is declared read-only.
// WebGPU tracks a whole buffer within a dispatch: one that is written may not also be bound read-only, so every operand in
// such a buffer is declared read_write; their ranges must not overlap.

import type { ElementType, Operand } from '../../../kernels/contract.ts';
import { elementBytes, elementCount } from '../../../kernels/contract.ts';
import type { GpuPass, WgslElement } from '../../../kernels/gpu-contract.ts';
import { variableName } from '../../../kernels/gpu-wgsl.ts';
import { bytes } from './adapter.ts';
import { limitError, validationError } from './failure.ts';

/** A range of a buffer that an operand or a temporary stands for. */
export interface Range {
  readonly buffer: GPUBuffer;
  /** Bytes; a multiple of 256. */
  readonly offset: number;
  readonly size: number;
}

export interface Binding extends Range {
  readonly name: string;
  readonly element: WgslElement;
  readonly access: 'read' | 'read_write';
}

/** The size an operand's binding needs, in bytes; an empty one still needs a word. */
export function operandSize(operand: Operand, params: Readonly<Record<string, number>>, type: ElementType): number {
  const size = elementCount(operand.shape(params)) * elementBytes[type];
  return Math.max(4, Math.ceil(size / 4) * 4);
}

/** The bindings of a pass in the order of its declarations. `where` names the call in messages. */
export function bindingsOf(pass: GpuPass, ranges: ReadonlyMap<string, Range>, where: string): readonly Binding[] {
  const rangeOf = (name: string): Range => {
    const range = ranges.get(name);
    if (!range) throw new Error(`${where}: pass “${pass.label}” names ${name}, which the call does not have`);
    return range;
  };
  const written = new Set(Object.keys(pass.writes).map((name) => rangeOf(name).buffer));
  const bindings = Object.entries({ ...pass.reads, ...pass.writes }).map(([name, element]): Binding => {
    const range = rangeOf(name);
    return { ...range, name, element, access: written.has(range.buffer) ? 'read_write' : 'read' };
  });
  checkOverlap(bindings, where);
  return bindings;
}

function checkOverlap(bindings: readonly Binding[], where: string): void {
  const shared = bindings.filter((binding) => binding.access === 'read_write');
  for (const [index, one] of shared.entries()) {
    const other = shared
      .slice(index + 1)
      .find((candidate) => candidate.buffer === one.buffer && overlaps(candidate, one));
    if (!other) continue;
    throw validationError(
      'plan',
      `${where}: ${one.name} and ${other.name} overlap in buffer “${one.buffer.label}”, and one of them is written`,
    );
  }
}

const overlaps = (a: Range, b: Range): boolean => a.offset < b.offset + b.size && b.offset < a.offset + a.size;

/** Throws `device.limit` if a pass binds more, or larger ranges, than the device can. */
export function checkBindings(bindings: readonly Binding[], limits: GPUSupportedLimits, where: string): void {
  if (bindings.length > limits.maxStorageBuffersPerShaderStage) {
    throw limitError(
      `${where} binds ${bindings.length} buffers; this GPU allows ${limits.maxStorageBuffersPerShaderStage}.`,
      'Update the graphics driver, or train on the CPU.',
    );
  }
  const large = bindings.find((binding) => binding.size > limits.maxStorageBufferBindingSize);
  if (!large) return;
  throw limitError(
    `${where}: ${large.name} (“${large.buffer.label}”) takes ${bytes(large.size)}; a kernel on this GPU sees ` +
      `${bytes(limits.maxStorageBufferBindingSize)} of a buffer at most.`,
    'Choose a smaller model, batch or dataset, or train on the CPU.',
  );
}

/** WGSL of the declarations, then the pass's own code. */
export function sourceOf(pass: GpuPass, bindings: readonly Binding[]): string {
  const lines = bindings.map(
    ({ name, element, access }, index) =>
      `@group(0) @binding(${index}) var<storage, ${access}> ${variableName(name)}: array<${element}>;`,
  );
  if (pass.usesStep) lines.push(`@group(0) @binding(${bindings.length}) var<uniform> step: u32;`);
  const subgroups = pass.usesSubgroups ? 'enable subgroups;\nrequires subgroup_id;\n' : '';
  const directives = `${pass.usesHalves ? 'enable f16;\n' : ''}${subgroups}`;
  return `${directives}${lines.join('\n')}\n${pass.code}`;
}
