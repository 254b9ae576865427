// How long a run is going to take on this machine, for the queue: by its newest lab, else by a guess from its cores.

import type { Catalogue } from './catalogue/catalogue.ts';
import { costsOfModel, type ModelAtHand } from './costs/from-model.ts';
import { machineDevices } from './machine.ts';
import { runSeconds, usualAround } from './run-time.ts';
import { learnerSpeed, tableSeconds } from './tables/speed.ts';
import type { TableTask } from './tables/work.ts';
import { middleOf } from './time-forecast.ts';
import type { LabResult } from '../protocol/lab.ts';

export { newestLab } from './machine.ts';

/** A GPU that no lab has measured is not forecast here. */
const catalogue: Catalogue = {
  ...{ compiled: '', sources: new Map(), devices: [], offers: [] },
  ...{ grids: [], tariffs: [] },
};

export interface Here {
  readonly lab: LabResult | null;
  readonly cores: number;
}

/** Seconds of a whole fit of a table learner, and what stands around it. */
export const secondsOfTable = (task: TableTask, { lab, cores }: Here): number =>
  middleOf(tableSeconds(task, learnerSpeed(lab?.devices ?? [], cores), usualAround.cpu));

/** Seconds of all epochs of a network on the device it names, or the quicker one; null: nobody knows. */
export function secondsOfNetwork(
  model: ModelAtHand,
  { train, validation }: { readonly train: number; readonly validation: number },
  device: string,
  { lab, cores }: Here,
): number | null {
  const rows = Math.max(1, train);
  const { batch, epochs } = model.training;
  const training = { ...model.training, batch: Math.min(batch, rows), accumulate: 1 };
  const asked = { costs: costsOfModel({ ...model, training }), rows, epochs, validation, around: usualAround };
  const times = machineDevices({ lab, cores, memoryBytes: 0, gpu: null, catalogue })
    .filter(({ kind }) => device === 'auto' || kind === device)
    .map((one) => middleOf(runSeconds(asked, one)));
  return times.length === 0 ? null : Math.min(...times);
}
