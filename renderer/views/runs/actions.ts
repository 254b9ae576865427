// What can be done with runs, the same from the table, a run's page and the palette.

import type { RunRecord } from '../../../engine/protocol/runs.ts';
import type { AppState } from '../../app/state.svelte.ts';

/** Milliseconds in which a deletion can be undone from its note; the trash keeps the runs after that. */
const undoLife = 10_000;

/** Moves runs to the trash; the note takes it back. */
export async function deleteRuns(app: AppState, runs: readonly Pick<RunRecord, 'id' | 'name'>[]): Promise<void> {
  const ids = runs.map((run) => run.id);
  await app.service.deleteRuns({ runs: ids });
  app.compared = app.compared.filter((id) => !ids.includes(id));
  app.toasts.show(runs.length === 1 ? `${runs[0].name} is in the trash.` : `${runs.length} runs are in the trash.`, {
    life: undoLife,
    undo: () => void app.service.restoreRuns({ runs: ids }),
  });
}

export async function exportRun(
  app: AppState,
  run: Pick<RunRecord, 'id'>,
  format: 'json' | 'safetensors',
): Promise<void> {
  const { saved } = await app.service.exportRun({ run: run.id, format });
  if (saved) app.toasts.show(`Exported to ${saved}`);
}

/** Asks for a file and opens the run's page on its predictions. */
export async function predictWith(app: AppState, run: Pick<RunRecord, 'id'>): Promise<void> {
  const chosen = await app.service.choose({ kind: 'file' });
  if (!chosen) return;
  app.toPredict = { run: run.id, items: [chosen] };
  app.router.go(`#run/${run.id}/predict`);
}
