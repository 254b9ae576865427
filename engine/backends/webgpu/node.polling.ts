// How often Dawn under Node is asked for news. While anything is awaited of it, it asks by itself in every turn of the event loop, each time
// by a new function that it gives to the global `setImmediate`. That takes one core as long as the device computes or compiles, and a GPU made
// of software, the loading of rows and other programs need it.

import { bufferUsage } from './flags.ts';

/** Milliseconds after work was handed over in which a real GPU is asked in every turn: short work is told of at once. */
const eager = 5;
/** Milliseconds between two questions else. */
const patience = 1;

type Later = (callback: () => void) => void;

/** An entry point whose devices ask with patience; `software`: always, else once work takes long. Changes `gpu` itself. */
export function askPatiently(gpu: GPU, software: boolean): GPU {
  let handedOver = -Infinity;
  const immediate = globalThis.setImmediate as unknown as Later;
  const later: Later = (ask) => {
    const again = (): void => withLater(later, ask);
    if (!software && performance.now() - handedOver < eager) immediate(again);
    else setTimeout(again, patience);
  };
  /** What awaits something asks first, and each question is asked by the one before. */
  const patiently = <Target extends object>(target: Target, ...names: readonly (keyof Target & string)[]): void => {
    for (const name of names)
      replace(
        target,
        name,
        (call) =>
          (...given) =>
            withLater(later, () => call(...given)),
      );
  };
  replace(gpu, 'requestAdapter', (request) => async (...options) => {
    const adapter = (await request(...options)) as GPUAdapter | null;
    if (adapter === null) return null;
    replace(adapter, 'requestDevice', (open) => async (...wanted) => {
      const device = (await withLater(later, () => open(...wanted))) as GPUDevice;
      patiently(device, 'createComputePipelineAsync', 'popErrorScope');
      patiently(device.queue, 'onSubmittedWorkDone');
      replace(device, 'createBuffer', (create) => (...described) => {
        const buffer = create(...described) as GPUBuffer;
        if ((buffer.usage & bufferUsage.mapRead) !== 0) patiently(buffer, 'mapAsync');
        return buffer;
      });
      replace(device.queue, 'submit', (submit) => (...work) => {
        handedOver = performance.now();
        return submit(...work);
      });
      return device;
    });
    return adapter;
  });
  return gpu;
}

/** Calls with another global `setImmediate`, until it returns: Dawn looks it up by its name. */
function withLater<Result>(later: Later, call: () => Result): Result {
  const before = globalThis.setImmediate;
  globalThis.setImmediate = later as unknown as typeof setImmediate;
  try {
    return call();
  } finally {
    globalThis.setImmediate = before;
  }
}

type Method = (...args: unknown[]) => unknown;

/** Puts a method of one object's own before the one it has. */
function replace<Target extends object>(
  target: Target,
  name: keyof Target & string,
  make: (original: Method) => Method,
): void {
  const value = make((target[name] as Method).bind(target));
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
}
