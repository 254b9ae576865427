// Any thrown value as the three things a person needs: what happened, what to do, and the code to quote.

import { visible } from '../../engine/protocol/visible.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import type { WireError } from '../../engine/protocol/errors.ts';

export type Failure = Pick<WireError, 'code' | 'message' | 'hint'>;

export function failureOf(error: unknown): Failure {
  if (error instanceof TrainyardError)
    return { code: error.code, message: plainMessage(error.message), hint: visible(error.hint) };
  const message = plainMessage(error instanceof Error ? error.message : String(error));
  return { code: 'internal.error', message, hint: '' };
}

/** Without the words that Electron and Node put around the errors of others. */
export function plainMessage(message: string): string {
  const plain = message
    .replace(/^Error invoking remote method '[^']*': */, '')
    .replace(/^(?:Uncaught )?(?:\(in promise\) )?(?:[A-Z]\w*)?Error: */, '');
  return plain.trim() === '' ? 'Trainyard met a fault of its own.' : visible(plain);
}

export function wasCancelled(error: unknown): boolean {
  return error instanceof TrainyardError && error.code === 'run.cancelled';
}
