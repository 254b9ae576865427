// How much memory a run is going to take, as far as a forecast can tell: what decides whether it may train beside others.

import { planMemory } from '../hardware/memory-forecast.ts';
import { tableMemory } from '../hardware/tables/memory.ts';
import { taskOfTable } from '../hardware/tables/task.ts';
import { isTableModel } from '../hardware/tables/work.ts';
import { isNetwork } from '../learners/network/declaration.ts';
import type { DatasetInfo, PreparedData } from '../protocol/data.ts';
import type { RunConfig } from '../protocol/runs.ts';
import { namedDevices, sharesToExpect } from '../protocol/several-devices.ts';
import { usableCores } from '../system/cores.ts';

/** What a process takes before it has a run: measured, the program with Node or Electron around it. */
const processBytes = 90e6;

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
    const target = config.settings.target ?? info.target;
    const task = taskOfTable(config, { ...info, settings: config.settings, target }, counts);
    const memory = tableMemory(task);
    return memory && processBytes + memory.total;
  } catch {
    // A model that cannot be planned says so itself when it is trained.
    return null;
  }
}
