// What can go wrong on a GPU, in words a person can act on. A WebGPU device reports most errors later and elsewhere; the
// watch collects them, and every operation of the backend asks it first.

import { TrainyardError } from '../../protocol/errors.ts';

const onCpu = 'The checkpoint is kept: resume the run with the CPU as its device.';

export function lostError(device: string, reason: string, cause?: unknown): TrainyardError {
  return new TrainyardError(
    'device.lost',
    `The GPU (${device}) was lost in mid-run: ${reason || 'no reason given'}.`,
    `Its driver may have been reset or updated, or it was unplugged. ${onCpu} Updating the graphics driver often helps.`,
    { cause },
  );
}

export function outOfMemoryError(device: string, what: string, cause?: unknown): TrainyardError {
  return new TrainyardError(
    'device.out_of_memory',
    `The GPU (${device}) has not enough memory for ${what}.`,
    'Choose a smaller batch or model, close other programs that use the GPU, or train on the CPU.',
    { cause },
  );
}

export function validationError(device: string, what: string, cause?: unknown): TrainyardError {
  return new TrainyardError(
    'device.validation',
    `The GPU (${device}) refused a command: ${what}`,
    `This is a mistake in Trainyard or in the driver. ${onCpu}`,
    { cause },
  );
}

export function limitError(what: string, hint: string): TrainyardError {
  return new TrainyardError('device.limit', what, hint);
}

/** Milliseconds the news of a loss may come after the errors it causes. */
const newsDelay = 100;

/** The device's errors, as they come in. */
export class DeviceWatch {
  readonly name: string;
  readonly #device: GPUDevice;
  readonly #lost: Promise<unknown>;
  /** Whoever waits for the device now: told when it is lost. (Waiting on `#lost` would hold every wait in memory for good.) */
  readonly #waiting = new Set<(failure: TrainyardError) => void>();
  #failure: TrainyardError | null = null;
  #closing = false;

  constructor(device: GPUDevice, name: string) {
    this.name = name;
    this.#device = device;
    this.#lost = device.lost.then((info) => {
      const reason = this.#closing ? 'it was closed' : [info.reason, info.message].filter(Boolean).join(': ');
      this.#failure ??= lostError(name, reason);
      for (const abandon of this.#waiting) abandon(this.#failure);
    });
    device.addEventListener('uncapturederror', (event) => {
      this.#failure ??= this.#translate((event as GPUUncapturedErrorEvent).error);
    });
  }

  /** Throws what went wrong since, if anything did. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Awaits a promise of the device; one that fails, or never settles because the device is gone, throws its failure. */
  async guard<T>(work: Promise<T>): Promise<T> {
    this.check();
    let abandon: (failure: TrainyardError) => void = () => undefined;
    const lost = new Promise<never>((_, reject) => (abandon = reject));
    this.#waiting.add(abandon);
    try {
      return await Promise.race([work, lost]);
    } catch (error) {
      // What waits on a lost device may be rejected a moment before the news of the loss comes.
      await Promise.race([this.#lost, new Promise((resolve) => setTimeout(resolve, newsDelay))]);
      this.check();
      throw error instanceof TrainyardError ? error : validationError(this.name, messageOf(error), error);
    } finally {
      this.#waiting.delete(abandon);
    }
  }

  /** Runs `work` with error scopes around it: what it provokes is thrown here, named after `what`. */
  async scoped<T>(what: string, work: () => T | Promise<T>): Promise<T> {
    this.check();
    const filters: readonly GPUErrorFilter[] = ['internal', 'validation', 'out-of-memory'];
    for (const filter of filters) this.#device.pushErrorScope(filter);
    let outcome: { readonly value: T } | { readonly thrown: unknown };
    try {
      outcome = { value: await work() };
    } catch (thrown) {
      outcome = { thrown };
    }
    const errors = await this.guard(Promise.all(filters.map(() => this.#device.popErrorScope())));
    const found = errors.find((error) => error !== null);
    if (found) throw this.#translate(found, what);
    if ('thrown' in outcome) throw outcome.thrown;
    this.check();
    return outcome.value;
  }

  /** The device is about to be destroyed on purpose. */
  close(): void {
    this.#closing = true;
  }

  #translate(error: GPUError, what = ''): TrainyardError {
    const outOfMemory = error.constructor.name === 'GPUOutOfMemoryError';
    if (outOfMemory) return outOfMemoryError(this.name, what || firstLine(error.message), error);
    return validationError(this.name, [what, firstLine(error.message)].filter(Boolean).join(': '), error);
  }
}

/** What follows the first line is where in the driver's code it happened: that stays with the cause. */
const firstLine = (text: string): string => text.split('\n', 1)[0];
const messageOf = (error: unknown): string => firstLine(error instanceof Error ? error.message : String(error));
