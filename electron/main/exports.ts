// Exports for the window: a process that computes makes them, linked to the data host, and another one runs exported models. Both end
// with the export.

import type { DataService } from '../../engine/protocol/data.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { makeExport, type ExportParts, type ExportRequest, type MadeExport } from '../../engine/runs/export.ts';
import type { Processes } from './processes.ts';

export interface ExportsParts {
  readonly store: StoreService;
  readonly data: DataService;
  readonly processes: Pick<Processes, 'startCpuHost' | 'startOnnx'>;
}

export function exportHere({ store, data, processes }: ExportsParts, request: ExportRequest): Promise<MadeExport> {
  const parts: ExportParts = {
    store,
    data,
    exporter: async () => {
      const host = await processes.startCpuHost();
      return { service: host.exporter, kill: () => host.kill() };
    },
    onnx: () => processes.startOnnx(),
  };
  return makeExport(parts, request);
}
