// "Predict a file with this run": the data host reads the file as the run's own data was read, a process of its own predicts, and
// the table is saved where the person says.

import type { DataService } from '../../engine/protocol/data.ts';
import { parseRunJson } from '../../engine/protocol/model-file.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { modelFileWarnings, readModelFiles } from '../../engine/runs/model-files.ts';
import type { Processes } from './processes.ts';
import { saveThroughDialog, type Dialogs } from './saving.ts';

export interface PredictionParts {
  readonly store: StoreService;
  readonly data: DataService;
  readonly processes: Pick<Processes, 'startCpuHost'>;
  readonly dialogs: Dialogs;
}

export async function predictFile(
  { store, data, processes, dialogs }: PredictionParts,
  {
    job,
    run,
    path,
    force,
  }: { readonly job: string; readonly run: number; readonly path: string; readonly force?: boolean },
): Promise<{ rows: number; saved: string | null; notes: readonly string[] }> {
  const { name } = await store.run({ run });
  const { model, weights, preprocessing: text } = await readModelFiles(store, run);
  const warnings = await modelFileWarnings(store, run);
  const preprocessing = parseRunJson(text, run, 'preprocessing.json');
  const prepared = await data.transform({ job, path, preprocessing, force });
  try {
    const host = await processes.startCpuHost();
    try {
      const { rows, csv } = await host.predictor.predict({ run, model, weights, data: prepared });
      const saved = await saveThroughDialog(dialogs, `${name} predictions.csv`, new TextEncoder().encode(csv), path);
      return { rows, saved, notes: [...warnings, ...prepared.warnings].map(({ message }) => message) };
    } finally {
      host.kill();
    }
  } finally {
    await data.release({ handle: prepared.handle });
  }
}
