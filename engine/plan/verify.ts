// The plan's verifier: every call has the operands its kernel declares, each inside its slot and aligned, none both read
// and written unless the kernel works in place. Runs on every compiled plan; it costs microseconds.

import { kernels, type KernelName } from '../../kernels/registry.ts';
import { elementCount, type Operand } from '../../kernels/contract.ts';
import { alignment } from './layout.ts';
import type { Call, Plan, SlotRef } from './plan.ts';

export class PlanError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PlanError';
  }
}

/** Throws PlanError naming the program, the call and the operand that is wrong. */
export function verifyPlan(plan: Plan): void {
  for (const program of Object.values(plan.programs)) {
    program.calls.forEach((call, index) => verifyCall(plan, call, `${program.name} call ${index} (${call.kernel})`));
  }
}

function verifyCall(plan: Plan, call: Call, where: string): void {
  const contract = kernels[call.kernel as KernelName];
  if (!contract) throw new PlanError(`${where}: no such kernel`);
  const missing = Object.keys(contract.params).filter((name) => call.params[name] === undefined);
  const extra = Object.keys(call.params).filter((name) => !(name in contract.params));
  if (missing.length + extra.length > 0) {
    throw new PlanError(`${where}: missing parameters [${missing.join()}], unknown [${extra.join()}]`);
  }
  const check = (operands: readonly Operand[], refs: readonly (SlotRef | null)[]): void => {
    if (operands.length !== refs.length) {
      throw new PlanError(`${where}: ${refs.length} operands, the kernel declares ${operands.length}`);
    }
    operands.forEach((operand, i) => verifyOperand(plan, call, operand, refs[i], where));
  };
  check(contract.inputs as readonly Operand[], call.inputs);
  check(contract.outputs as readonly Operand[], call.outputs);
  for (const output of call.outputs) {
    if (output && call.inputs.some((input) => input?.slot === output.slot)) {
      throw new PlanError(`${where}: slot ${output.slot} is read and written`);
    }
  }
}

function verifyOperand(plan: Plan, call: Call, operand: Operand, ref: SlotRef | null, where: string): void {
  const what = `${where}: operand ${operand.name}`;
  if (ref === null) {
    if (!operand.optional) throw new PlanError(`${what} is missing`);
    return;
  }
  const slot = plan.slots[ref.slot];
  if (!slot) throw new PlanError(`${what} names slot ${ref.slot}, which does not exist`);
  if (ref.offset % alignment !== 0) throw new PlanError(`${what} starts at ${ref.offset}, no multiple of ${alignment}`);
  if (slot.type !== (operand.type ?? 'f32')) throw new PlanError(`${what} is ${operand.type}, its slot ${slot.type}`);
  const elements = elementCount(operand.shape(call.params));
  if (ref.offset + elements > slot.elements) {
    throw new PlanError(
      `${what} needs ${elements} elements from ${ref.offset}, slot “${slot.label}” has ${slot.elements}`,
    );
  }
}
