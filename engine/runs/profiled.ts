// What a profile of a run's training step needs of the history.

import { InputError } from '../protocol/errors.ts';
import type { ProfiledRun } from '../protocol/step-profile.ts';
import type { StoreService } from '../protocol/store.ts';
import { noModel } from './model-files.ts';

/** Throws TrainyardError `run.no_model` where the run has kept no model yet, InputError `input.run_active` while it trains. */
export async function readProfiled(store: Pick<StoreService, 'run' | 'readFile'>, run: number): Promise<ProfiledRun> {
  const record = await store.run({ run });
  const { config, data, device, state } = record;
  if (state === 'running' || state === 'queued') {
    throw new InputError('input.run_active', `Run ${run} is ${state}.`, 'Stop it, or wait for its end.');
  }
  const model = await store.readFile({ run, file: 'model.json' });
  if (!model) throw noModel(record);
  return {
    run,
    model: new TextDecoder().decode(model),
    rows: data?.counts.train ?? 2 ** 31,
    threads: config.threads,
    gpu: device.startsWith('gpu'),
  };
}
