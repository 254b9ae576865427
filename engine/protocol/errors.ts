// Every error a person can meet: what happened, with the values, and what to do about it. Errors cross process borders as
// `{name, code, message, hint}` and come out as the same class on the other side.

import { describeUnknown } from './shown-errors.ts';
import type { ErrorCode, WireError } from './wire-error.ts';

export type { ErrorCode, WireError };

export class TrainyardError extends Error {
  readonly code: ErrorCode;
  /** What to do next, one sentence. */
  readonly hint: string;

  constructor(code: ErrorCode, message: string, hint = '', options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TrainyardError';
    this.code = code;
    this.hint = hint;
  }
}

/** The person's input cannot be used as it is: file, option or setting. Exit code 2. */
export class InputError extends TrainyardError {
  constructor(code: ErrorCode, message: string, hint = '', options?: { cause?: unknown }) {
    super(code, message, hint, options);
    this.name = 'InputError';
  }
}

/** The work was cancelled on request. */
export class CancelledError extends TrainyardError {
  constructor(message = 'Cancelled.') {
    super('run.cancelled', message);
    this.name = 'CancelledError';
  }
}

export function toWire(error: unknown): WireError {
  if (isOurs(error)) {
    return { name: error.name, code: error.code, message: error.message, hint: error.hint };
  }
  if (isOutOfMemory(error)) {
    return {
      name: 'Error',
      code: 'device.out_of_memory',
      message: 'Memory ran out.',
      hint: 'Use less data, a smaller batch or a smaller model, or close other programs.',
    };
  }
  return { name: 'Error', ...describeUnknown(error) };
}

/** Also an error of another bundle in the same process, whose class is another one: of the main process, for the command line in it. */
function isOurs(error: unknown): error is TrainyardError {
  if (error instanceof TrainyardError) return true;
  if (!(error instanceof Error) || !/^(Trainyard|Input|Cancelled)Error$/.test(error.name)) return false;
  const { code, hint } = error as Partial<TrainyardError>;
  return typeof code === 'string' && typeof hint === 'string';
}

/** What JavaScript and WebAssembly, the database and the system say when there is no more memory. */
const memoryMessages =
  /allocation failed|could not allocate|out of memory|invalid (typed )?array length|invalid string length|cannot create a string longer/i;
const memoryCodes = ['ENOMEM', 'ERR_MEMORY_ALLOCATION_FAILED', 'ERR_WORKER_OUT_OF_MEMORY', 'ERR_STRING_TOO_LONG'];

function isOutOfMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (memoryCodes.includes(code) || error.message.startsWith('Out of Memory Error')) return true;
  return error instanceof RangeError && memoryMessages.test(error.message);
}

export function fromWire(wire: WireError): TrainyardError {
  if (wire.name === 'InputError') return new InputError(wire.code, wire.message, wire.hint);
  if (wire.name === 'CancelledError') return new CancelledError(wire.message);
  return new TrainyardError(wire.code, wire.message, wire.hint);
}
