// What a run that does not fit a device is told about gradient checkpointing: how much less it would take, by the plan it would have.

import { elementBytes } from '../../kernels/contract.ts';
import { compilePlan } from '../plan/compile.ts';
import type { Plan } from '../plan/plan.ts';
import { TrainyardError } from '../protocol/errors.ts';
import { planOptions, type SessionShape } from './session-sizes.ts';

/** Savings below this share of a plan are not worth the time they take. */
const leastShare = 0.05;

const bytesOf = ({ slots }: Plan): number =>
  slots.reduce((sum, { elements, type }) => sum + elements * elementBytes[type], 0);

/** `Gradient checkpointing (--checkpointing) would save 36 of 63 MB.`; null where it is on, or saves next to nothing. */
export function checkpointingWords(shape: SessionShape, plan: Plan): string | null {
  if (shape.predictOnly || shape.training.checkpointing) return null;
  const training = { ...shape.training, checkpointing: true };
  const before = bytesOf(plan);
  const saved = before - bytesOf(compilePlan(planOptions({ ...shape, training }).options));
  if (saved < leastShare * before) return null;
  const megabytes = (bytes: number): string => Math.round(bytes / 2 ** 20).toLocaleString('en');
  return `Gradient checkpointing (--checkpointing) would save ${megabytes(saved)} of ${megabytes(before)} MB.`;
}

/** A plan that does not fit its device, with what would make it smaller in its hint. */
export class MisfitError extends TrainyardError {
  readonly smaller: string | null;

  constructor({ code, message, hint }: TrainyardError, smaller: string | null) {
    super(code, message, smaller === null ? hint : `${hint} ${smaller}`);
    this.name = 'MisfitError';
    this.smaller = smaller;
  }
}
