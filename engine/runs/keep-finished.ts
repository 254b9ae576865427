// A run that was never trained here, kept as one that is done: everything, or nothing.

import type { MetricPoint, RunFile, RunRecord } from '../protocol/runs.ts';
import type { NewRun, RunPatch, StoreService } from '../protocol/store.ts';

export type FinishedStore = Pick<StoreService, 'createRun' | 'updateRun' | 'writeFile' | 'append' | 'deleteRuns'>;

export interface FinishedRun {
  readonly run: NewRun;
  readonly files: Readonly<Record<string, Uint8Array>>;
  readonly points: readonly MetricPoint[];
  /** Sentences. */
  readonly log: readonly string[];
  readonly ended: RunPatch;
}

/** The run; where anything of it fails it goes to the trash, and the failure is thrown. */
export async function keepFinished(store: FinishedStore, finished: FinishedRun): Promise<RunRecord> {
  const { id: run } = await store.createRun(finished.run);
  try {
    await store.updateRun({ run, patch: { state: 'running', startedAt: Date.now() } });
    for (const [file, data] of Object.entries(finished.files))
      await store.writeFile({ run, file: file as RunFile, data });
    const log = finished.log.map((message) => ({ time: Date.now(), level: 'info' as const, message }));
    await store.append({ run, points: finished.points, log });
    return await store.updateRun({ run, patch: { ...finished.ended, endedAt: Date.now() } });
  } catch (error) {
    await store.deleteRuns({ runs: [run] }).catch(() => undefined);
    throw error;
  }
}
