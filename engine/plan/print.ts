// A plan as text, for people and for golden tests.

import type { Plan, SlotRef } from './plan.ts';

/** One line a slot, then one a call, program by program. */
export function printPlan(plan: Plan): string {
  const ref = (operand: SlotRef | null): string =>
    operand === null ? '–' : `s${operand.slot}${operand.offset ? `+${operand.offset}` : ''}`;
  const slots = plan.slots.map((slot) => `  s${slot.id} ${slot.type}[${slot.elements}] ${slot.kind}: ${slot.label}`);
  const programs = Object.values(plan.programs).flatMap((program) => [
    `${program.name}: ${program.calls.length} calls, ${program.flops} flops, ${program.bytes} bytes`,
    ...program.calls.map((call) => {
      const params = Object.entries(call.params).map(([name, value]) => `${name}=${value}`);
      return `  ${call.outputs.map(ref).join(' ')} = ${call.kernel}(${call.inputs.map(ref).join(' ')}) ${params.join(' ')}`;
    }),
  ]);
  const sequences = Object.values(plan.sequences ?? {}).map(({ name, parts }) => {
    return `${name}: ${parts.map(({ program, rows }) => (rows > 1 ? `${rows} × ${program}` : program)).join(', ')}`;
  });
  return ['slots', ...slots, ...programs, ...sequences].join('\n');
}
