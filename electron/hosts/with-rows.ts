// Prepared rows and the CPU for one request to a process that computes: the device is opened when something first needs it, and closed
// when the request is answered.

import type { Backend } from '../../engine/backends/backend.ts';
import { lazyBackend } from '../../engine/learners/lazy-backend.ts';
import type { Rows } from '../../engine/learners/learner.ts';
import type { DataService, PreparedData } from '../../engine/protocol/data.ts';
import { residentBudget } from './surroundings.ts';

/** `openBackend` opens the CPU. */
export async function withRows<T>(
  shards: Promise<Pick<DataService, 'readShard'>>,
  openBackend: () => Promise<Backend>,
  data: PreparedData,
  use: (rows: Rows) => Promise<T>,
): Promise<T> {
  const backend = lazyBackend(openBackend);
  try {
    const { readShard } = await shards;
    return await use({
      data,
      readShard: (shard) => readShard({ handle: data.handle, shard }),
      dataBudget: residentBudget(),
      backend: backend.open,
    });
  } finally {
    await backend.close();
  }
}
