// Any thrown value as the three things a person needs: what happened, what to do, and the code to quote.

import { TrainyardError } from '../../engine/protocol/errors.ts';
import type { WireError } from '../../engine/protocol/errors.ts';

export type Failure = Pick<WireError, 'code' | 'message' | 'hint'>;

export function failureOf(error: unknown): Failure {
  if (error instanceof TrainyardError) return { code: error.code, message: error.message, hint: error.hint };
  return { code: 'internal.error', message: error instanceof Error ? error.message : String(error), hint: '' };
}

export function wasCancelled(error: unknown): boolean {
  return error instanceof TrainyardError && error.code === 'run.cancelled';
}
