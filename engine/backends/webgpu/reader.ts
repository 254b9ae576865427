// Copies buffers back to the host through a few staging buffers made once. The copy is put on the queue in the order of the
// calls, so a read sees exactly the submits before it, even if the caller goes on without waiting.

import type { DeviceWatch } from './failure.ts';
import { bufferUsage, mapModeRead } from './flags.ts';
import { stagingBytes, stagingCount } from './sizes.ts';

export class Reader {
  readonly bytes: number;
  readonly #device: GPUDevice;
  readonly #watch: DeviceWatch;
  readonly #size: number;
  readonly #all: readonly GPUBuffer[];
  readonly #free: GPUBuffer[];
  readonly #waiting: ((buffer: GPUBuffer) => void)[] = [];
  /** Settles when every copy asked for so far is on the queue. */
  #queued: Promise<void> = Promise.resolve();
  #unqueued = 0;

  /** `usualBytes`: the size of the reads that happen all the time; larger ones go in pieces. */
  constructor(device: GPUDevice, watch: DeviceWatch, usualBytes: number) {
    this.#device = device;
    this.#watch = watch;
    this.#size = stagingBytes(usualBytes);
    const usage = bufferUsage.mapRead | bufferUsage.copyTarget;
    this.#all = Array.from({ length: stagingCount }, () =>
      device.createBuffer({ label: 'staging', size: this.#size, usage }),
    );
    this.#free = [...this.#all];
    this.bytes = stagingCount * this.#size;
  }

  /** Null when all copies asked for are on the queue, else a promise of that. A submit has to wait for it. */
  get unqueued(): Promise<void> | null {
    return this.#unqueued > 0 ? this.#queued : null;
  }

  /** Bytes [offset, offset + size) of a buffer; both multiples of four. */
  async read(source: GPUBuffer, offset: number, size: number): Promise<ArrayBuffer> {
    const target = new ArrayBuffer(size);
    const pieces = Array.from({ length: Math.ceil(size / this.#size) }, (_, index) => index * this.#size);
    this.#unqueued++;
    const reading: Promise<void>[] = [];
    const queueAll = async (before: Promise<void> | null): Promise<void> => {
      try {
        if (before) await before;
        for (const start of pieces) {
          const length = Math.min(this.#size, size - start);
          const staging = this.#free.pop() ?? (await this.#watch.guard(this.#nextFree()));
          reading.push(this.#copy(source, offset + start, length, staging, new Uint8Array(target, start, length)));
        }
      } finally {
        this.#unqueued--;
      }
    };
    // With a staging buffer at hand and nobody before, the first copy is queued before this function yields.
    const queued = queueAll(this.#unqueued > 1 ? this.#queued : null);
    this.#queued = queued.catch(() => undefined);
    try {
      await queued;
    } finally {
      // Pieces under way have to give their staging buffers back before anyone hears of a failure.
      await Promise.allSettled(reading);
    }
    await Promise.all(reading);
    return target;
  }

  destroy(): void {
    for (const buffer of this.#all) buffer.destroy();
  }

  async #copy(source: GPUBuffer, offset: number, size: number, staging: GPUBuffer, target: Uint8Array): Promise<void> {
    try {
      this.#watch.check();
      const encoder = this.#device.createCommandEncoder();
      encoder.copyBufferToBuffer(source, offset, staging, 0, size);
      this.#device.queue.submit([encoder.finish()]);
      await this.#watch.guard(staging.mapAsync(mapModeRead, 0, size));
      target.set(new Uint8Array(staging.getMappedRange(0, size)));
      staging.unmap();
    } finally {
      const next = this.#waiting.shift();
      if (next) next(staging);
      else this.#free.push(staging);
    }
  }

  #nextFree(): Promise<GPUBuffer> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
