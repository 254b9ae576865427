// What a run is going to take, as far as forecasts can tell: memory, which decides whether it may train beside others, and time, by which
// the queue is planned.

import { planMemory, processBytes } from '../hardware/memory-forecast.ts';
import { tableMemory } from '../hardware/tables/memory.ts';
import { taskOfTable } from '../hardware/tables/task.ts';
import { isTableModel, type TableModel, type TableTask } from '../hardware/tables/work.ts';
import { isNetwork } from '../learners/network/declaration.ts';
import type { DatasetInfo, PreparedData } from '../protocol/data.ts';
import type { QueuePlace } from '../protocol/queue.ts';
import type { RunConfig } from '../protocol/runs.ts';
import { namedDevices, sharesToExpect } from '../protocol/several-devices.ts';
import type { StoreService } from '../protocol/store.ts';
import { usableCores } from '../system/cores.ts';

/** What the queue keeps of a new run. */
export async function needsOf(
  store: Pick<StoreService, 'labs' | 'lab'>,
  config: RunConfig,
  prepared: Pick<PreparedData, 'input' | 'output' | 'counts'>,
  info: DatasetInfo | undefined,
): Promise<Pick<QueuePlace, 'bytes' | 'seconds'>> {
  const bytes = bytesOf(config, prepared, info);
  const seconds = config.until === undefined ? await secondsOf(store, config, prepared, info) : null;
  return { ...(bytes === null ? {} : { bytes }), ...(seconds === null ? {} : { seconds }) };
}

/** From its beginning to its end, all its units; null: nobody knows. */
async function secondsOf(
  store: Pick<StoreService, 'labs' | 'lab'>,
  config: RunConfig,
  { input, output, counts }: Pick<PreparedData, 'input' | 'output' | 'counts'>,
  info: DatasetInfo | undefined,
): Promise<number | null> {
  try {
    // Loaded where it is asked for: who trains at once waits for no forecast.
    const { newestLab, secondsOfNetwork, secondsOfTable } = await import('../hardware/run-here.ts');
    const here = { lab: await newestLab(store), cores: usableCores() };
    const trainings = config.folds ?? 1;
    if (isNetwork(config)) {
      const training = { ...config.training, seed: config.seed };
      const model = { name: 'model', spec: config.model, input, output, training };
      const seconds = secondsOfNetwork(model, counts, config.device, here);
      return seconds && trainings * seconds;
    }
    return isTableModel(config) && info ? trainings * secondsOfTable(tableTaskOf(config, counts, info), here) : null;
  } catch {
    // As below.
    return null;
  }
}

function tableTaskOf(config: RunConfig & TableModel, counts: PreparedData['counts'], info: DatasetInfo): TableTask {
  const target = config.settings.target ?? info.target;
  return taskOfTable(config, { ...info, settings: config.settings, target }, counts);
}

/** Bytes of the process that trains; null: what it trains is decided as it goes on, or nothing is known of its kind. */
export function bytesOf(
  config: RunConfig,
  { input, output, counts }: Pick<PreparedData, 'input' | 'output' | 'counts'>,
  info: DatasetInfo | undefined,
): number | null {
  try {
    if (isNetwork(config)) {
      const training = { ...config.training, seed: config.seed };
      const model = { name: 'model', spec: config.model, input, output, training };
      const bytesOn = (kind: 'cpu' | 'gpu', sharedBy?: readonly number[]): number =>
        planMemory(model, counts, { kind, cores: usableCores() }, { sharedBy }).memory.run;
      const { device, devices } = config;
      if (devices === undefined) return processBytes + bytesOn(device === 'gpu' ? 'gpu' : 'cpu');
      const several = namedDevices(devices);
      const sharedBy = sharesToExpect(several);
      // Beside them the first one is tried alone before the first step.
      return several.reduce((sum, { kind }) => sum + bytesOn(kind, sharedBy), processBytes + bytesOn('cpu'));
    }
    if (!isTableModel(config) || !info) return null;
    const memory = tableMemory(tableTaskOf(config, counts, info));
    return memory && processBytes + memory.total;
  } catch {
    // A model that cannot be planned says so itself when it is trained.
    return null;
  }
}
