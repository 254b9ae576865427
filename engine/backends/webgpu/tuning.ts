// Chooses among a kernel's variants by measuring them on the device, once for each shape. Variants give the same bits, so a
// choice changes nothing but time.

import { kernels, type KernelName } from '../../../kernels/registry.ts';
import type { Dispatch, VariantRequest } from './compile.ts';
import type { DeviceWatch } from './failure.ts';

/** Remembers choices; a host may keep them on disk. Keys hold the adapter's identity. */
export interface TuningStore {
  get(key: string): string | undefined;
  set(key: string, variant: string): void;
}

export interface TuningOptions {
  readonly store: TuningStore;
  /** Starts every key: choices are the adapter's own. */
  readonly adapter: string;
  /** Calls with fewer floating-point operations take the kernel's first choice: nothing to gain there. */
  readonly leastFlops: number;
}

/** Variants that are measured, each in all of its forms: a kernel's ranking is seldom wrong by more than this many places. */
const mostMeasured = 6;
/** Times a variant is run; the fastest counts. */
const rounds = 3;
/** Dispatches of one round take about this long, so that the cost of a submit does not decide. */
const roundMilliseconds = 4;
const mostRepeats = 64;

export class Tuner {
  readonly #device: GPUDevice;
  readonly #watch: DeviceWatch;
  readonly #options: TuningOptions;
  /** One measurement at a time: they share the device. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(device: GPUDevice, watch: DeviceWatch, options: TuningOptions) {
    this.#device = device;
    this.#watch = watch;
    this.#options = options;
  }

  /** The variant to use; `undefined` = the kernel's first choice. */
  async choose(request: VariantRequest): Promise<string | undefined> {
    const { call, variants, halves } = request;
    const { store, adapter, leastFlops } = this.#options;
    if (kernels[call.kernel as KernelName].cost(call.params).flops < leastFlops) return undefined;
    const stored = halves.length === 0 ? '' : ` ${halves.join()} in 16 bits`;
    const key = `${adapter} ${call.kernel} ${JSON.stringify(call.params)}${stored}`;
    const turn = this.#turn.then(async () => {
      const known = store.get(key);
      if (known !== undefined && variants.includes(known)) return known;
      const best = await this.#fastest(request);
      store.set(key, best);
      return best;
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #fastest({ variants, forms, compile }: VariantRequest): Promise<string> {
    let best = { variant: variants[0], milliseconds: Infinity };
    for (const variant of variants.slice(0, mostMeasured * forms)) {
      const milliseconds = await this.#measure(await compile(variant), best.milliseconds);
      if (milliseconds < best.milliseconds) best = { variant, milliseconds };
    }
    return best.variant;
  }

  /** Milliseconds of one execution. The first round warms up and finds how many repeats make a round long enough. */
  async #measure(dispatches: readonly Dispatch[], best: number): Promise<number> {
    const first = await this.#time(dispatches, 1);
    // Far behind already: not worth more time.
    if (first > 4 * best + roundMilliseconds) return first;
    const repeats = Math.min(mostRepeats, Math.max(1, Math.ceil(roundMilliseconds / first)));
    let least = Infinity;
    for (let round = 0; round < rounds; round++) {
      least = Math.min(least, (await this.#time(dispatches, repeats)) / repeats);
    }
    return least;
  }

  async #time(dispatches: readonly Dispatch[], repeats: number): Promise<number> {
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (const { pipeline, bindGroup, usesStep, workgroups } of dispatches) {
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, bindGroup, usesStep ? [0] : []);
        pass.dispatchWorkgroups(...workgroups);
      }
    }
    pass.end();
    const start = performance.now();
    this.#device.queue.submit([encoder.finish()]);
    await this.#watch.guard(this.#device.queue.onSubmittedWorkDone());
    return performance.now() - start;
  }
}
