// Exports for the window: a process that computes makes them, linked to the data host, and another one runs exported models. Both end
// with the export. What was made is kept (kept-exports.ts) until the store removes the run for good.

import path from 'node:path';
import type { DataService, Progress } from '../../engine/protocol/data.ts';
import { CancelledError } from '../../engine/protocol/errors.ts';
import { exportWords, type RunExports } from '../../engine/protocol/exports.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { makeExport, type ExportParts, type ExportRequest, type MadeExport } from '../../engine/runs/export.ts';
import { KeptExports } from './kept-exports.ts';
import type { MainWindow } from './main-window.ts';
import type { Processes } from './processes.ts';
import { safeName, type Dialogs } from './saving.ts';

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

export interface Exports {
  readonly service: RunExports;
  readonly onProgress: (listener: (event: { job: string; progress: Progress }) => void) => () => void;
  /** Ends a job that is an export; false where it is none. */
  cancel(job: string): boolean;
}

export function createExports(
  parts: ExportsParts & {
    readonly home: string;
    readonly dialogs: Dialogs;
    readonly window: Pick<MainWindow, 'showFile' | 'dragFile'>;
  },
): Exports {
  const kept = new KeptExports(parts.home);
  const jobs = new Map<string, AbortController>();
  const progress = new Listeners<{ job: string; progress: Progress }>();
  return {
    service: {
      exports: ({ run }) => kept.list(run),
      async makeExport({ job, run, format }) {
        const controller = new AbortController();
        jobs.set(job, controller);
        try {
          const { name: title } = await parts.store.run({ run });
          const name = safeName(title);
          const onStage = (stage: string, share: number | null): void =>
            progress.emit({ job, progress: { stage, share, secondsLeft: null } });
          const { signal } = controller;
          const made = await exportHere(parts, { run, format, name, job, signal, onStage });
          if (exportWords[format].folder) return await kept.keep(run, format, `${name}-${format}`, made);
          const [main, ...beside] = made.files;
          const file = made.certificate?.passed === false ? apart(main.path) : main.path;
          return await kept.keep(run, format, file, { ...made, files: [{ ...main, path: file }, ...beside] });
        } finally {
          jobs.delete(job);
        }
      },
      async saveExport({ run, format }) {
        const { name } = await kept.need(run, format);
        const place = await parts.dialogs.askWhere(name);
        if (place === null) return { saved: null };
        await kept.copyTo(run, format, place);
        return { saved: path.basename(place) };
      },
      showExport: async ({ run, format }) => parts.window.showFile(await kept.pathOf(run, format)),
      dragExport: async ({ run, format }) => parts.window.dragFile(await kept.pathOf(run, format)),
    },
    onProgress: (listener) => progress.add(listener),
    cancel(job) {
      const controller = jobs.get(job);
      controller?.abort(new CancelledError());
      return controller !== undefined;
    },
  };
}

/** A model that failed is not to be taken for one that passed. */
const apart = (file: string): string => file.replace(/(\.\w+)$/, '.failed$1');
