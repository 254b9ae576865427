// Turns a plan into numbers: a list of call records for every program, at its place in the arena. Pure arithmetic; the
// records' format is in layout.ts.

import { elementBytes, type KernelContract } from '../../../kernels/contract.ts';
import type { Call, Plan, Program, Slot, SlotRef } from '../../plan/plan.ts';
import { TrainyardError } from '../../protocol/errors.ts';
import { contractOf, recordWords, unsupported, type ArenaLayout } from './arena.ts';
import { programHeaderWords, recordHeaderWords } from './layout.ts';

/** Calls the addon takes over, by kernel name. */
export type NativeKernels = ReadonlySet<string>;

/**
 * Writes a program's records at its address.
 * @throws TrainyardError `device.unsupported_plan` if a call does not fit its kernel's contract or an operand its slot.
 */
export function encodeProgram(
  program: Program,
  layout: ArenaLayout,
  names: readonly string[],
  native: NativeKernels,
  buffer: SharedArrayBuffer,
): void {
  const words = new Int32Array(buffer);
  const floats = new Float32Array(buffer);
  let at = layout.programs[program.name] / 4;
  words[at] = program.calls.length;
  at += programHeaderWords;
  program.calls.forEach((call, position) => {
    const contract = contractOf(call.kernel);
    checkCall(call, contract);
    const kernel = names.indexOf(call.kernel);
    if (kernel < 0) throw unsupported(`The CPU kernels were built without "${call.kernel}".`);
    words[at] = kernel;
    words[at + 1] = recordWords(call);
    words[at + 2] = nativeStretch(program.calls, position, native);
    let argument = at + recordHeaderWords;
    const operands = [...contract.inputs, ...contract.outputs];
    for (const [i, ref] of [...call.inputs, ...call.outputs].entries()) {
      const type = operands[i].type ?? 'f32';
      const count = operands[i].shape(call.params).reduce((product, size) => product * size, 1);
      words[argument++] =
        ref === null ? 0 : operandAddress(layout, ref, type, count, `${call.kernel}.${operands[i].name}`);
    }
    for (const [name, kind] of Object.entries(contract.params)) {
      if (kind === 'f32') floats[argument++] = call.params[name];
      else words[argument++] = call.params[name];
    }
    at = argument;
  });
}

/** @throws TrainyardError `device.unsupported_plan` if a call is beyond what the CPU's kernels can do. */
export function checkLimits(plan: Plan): void {
  for (const { calls } of Object.values(plan.programs)) {
    for (const { kernel, params } of calls) {
      const problem = contractOf(kernel).cpuProblem?.(params);
      if (!problem) continue;
      throw new TrainyardError(
        'device.unsupported_plan',
        `The CPU cannot run this model (${kernel}): ${problem}.`,
        'Choose a smaller kernel, dilation or stride, or train on the GPU.',
      );
    }
  }
}

/** Number of calls from `position` on that the addon can run in one go. */
function nativeStretch(calls: readonly Call[], position: number, native: NativeKernels): number {
  let end = position;
  while (end < calls.length && native.has(calls[end].kernel)) end++;
  return end - position;
}

function checkCall(call: Call, contract: KernelContract): void {
  const where = `The plan's call of "${call.kernel}"`;
  if (call.inputs.length !== contract.inputs.length || call.outputs.length !== contract.outputs.length) {
    throw unsupported(
      `${where} has ${call.inputs.length} inputs and ${call.outputs.length} outputs, ` +
        `its contract ${contract.inputs.length} and ${contract.outputs.length}.`,
    );
  }
  [...contract.inputs, ...contract.outputs].forEach((operand, i) => {
    const ref = [...call.inputs, ...call.outputs][i];
    if (ref === null && !operand.optional) throw unsupported(`${where} lacks the operand "${operand.name}".`);
  });
  for (const name of Object.keys(contract.params)) {
    if (!Number.isFinite(call.params[name])) throw unsupported(`${where} lacks the parameter "${name}".`);
  }
}

/** Byte address of an operand, after checking that all of it lies in its slot. */
function operandAddress(layout: ArenaLayout, ref: SlotRef, type: Slot['type'], count: number, what: string): number {
  const place = layout.slots.get(ref.slot);
  if (!place) throw unsupported(`${what} refers to slot ${ref.slot}, which does not exist.`);
  const size = elementBytes[type];
  const needed = (ref.offset + count) * size;
  const available = place.slot.elements * elementBytes[place.slot.type];
  if (elementBytes[place.slot.type] !== size || ref.offset < 0 || needed > available) {
    throw unsupported(
      `${what} needs ${count} ${type} at offset ${ref.offset}, but slot ${ref.slot} (${place.slot.label}) ` +
        `holds ${place.slot.elements} ${place.slot.type}.`,
    );
  }
  return place.address + ref.offset * size;
}
