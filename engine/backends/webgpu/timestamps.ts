// How long stretches of work take by the GPU's own clock: a compute pass each, with its beginning and its end as timestamp queries.

import { bufferUsage } from './flags.ts';

/** Queries of a set at most, two a pass. */
const mostPasses = 4096 / 2;

/** Whether passes of this device take timestamps: older browsers offer the feature in another form. */
export function hasTimestamps(device: GPUDevice): boolean {
  if (!device.features.has('timestamp-query')) return false;
  const querySet = device.createQuerySet({ type: 'timestamp', count: 2 });
  try {
    const timestampWrites = { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
    device.createCommandEncoder().beginComputePass({ timestampWrites }).end();
    return true;
  } catch {
    return false;
  } finally {
    querySet.destroy();
  }
}

/** Submits the passes, one after the other; milliseconds of each. `read`: so many bytes from the beginning of a buffer. */
export async function timePasses(
  device: GPUDevice,
  passes: readonly ((pass: GPUComputePassEncoder) => void)[],
  read: (buffer: GPUBuffer, bytes: number) => Promise<ArrayBuffer>,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let first = 0; first < passes.length; first += mostPasses) {
    const some = passes.slice(first, first + mostPasses);
    const count = 2 * some.length;
    const querySet = device.createQuerySet({ type: 'timestamp', count });
    const usage = bufferUsage.queryResolve | bufferUsage.copySource;
    const ticks = device.createBuffer({ label: 'timestamps', size: 8 * count, usage });
    try {
      const encoder = device.createCommandEncoder();
      some.forEach((encode, i) => {
        const [beginningOfPassWriteIndex, endOfPassWriteIndex] = [2 * i, 2 * i + 1];
        const pass = encoder.beginComputePass({
          timestampWrites: { querySet, beginningOfPassWriteIndex, endOfPassWriteIndex },
        });
        encode(pass);
        pass.end();
      });
      encoder.resolveQuerySet(querySet, 0, count, ticks, 0);
      device.queue.submit([encoder.finish()]);
      const found = new BigInt64Array(await read(ticks, 8 * count));
      // Nanoseconds. A clock that was set anew in between tells nothing of that pass.
      for (let i = 0; i < count; i += 2) times.push(Math.max(0, Number(found[i + 1] - found[i])) / 1e6);
    } finally {
      querySet.destroy();
      ticks.destroy();
    }
  }
  return times;
}
