// Exports, made in a process that computes: the rows that a model is tried with come from the data host.

import type { Backend } from '../../engine/backends/backend.ts';
import { createExporter } from '../../engine/export/exporter.ts';
import { lazyBackend } from '../../engine/learners/lazy-backend.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { ExporterService } from '../../engine/protocol/exports.ts';
import { residentBudget } from './surroundings.ts';

/** `openBackend` opens the CPU, for one request. */
export function createExportHost(
  rows: Promise<Pick<DataService, 'readShard' | 'rawRows'>>,
  openBackend: () => Promise<Backend>,
): ExporterService {
  return {
    async make(request) {
      const backend = lazyBackend(openBackend);
      const { readShard, rawRows } = await rows;
      const exporter = createExporter({
        readShard: (handle, shard) => readShard({ handle, shard }),
        rawRows,
        backend: backend.open,
        dataBudget: residentBudget(),
      });
      try {
        return await exporter.make(request);
      } finally {
        await backend.close();
      }
    },
  };
}
