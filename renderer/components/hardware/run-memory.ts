// The memory of a run, planned anew as it was trained: what its device was to allocate, and what its process was to take. Pure.

import type { ModelAtHand } from '../../../engine/hardware/costs/from-model.ts';
import { planMemory, type PlanDevice, type PlanMemory } from '../../../engine/hardware/memory-forecast.ts';
import type { RunBill } from '../../../engine/protocol/bill.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { bytes } from '../../lib/format.ts';

/**
 * On the device that it was trained on, of several on the first; of a GPU by the limits that are usual for one. `cores`: threads where the run does not say.
 * Null for a run without rows, and for a model of an earlier version that cannot be planned any more.
 */
export function memoryOfRun(
  model: ModelAtHand,
  { data, threads, device, progress }: Pick<RunRecord, 'data' | 'threads' | 'device' | 'progress'>,
  cores: number,
): PlanMemory | null {
  if (!data) return null;
  const onGpu = device.startsWith('gpu');
  try {
    const sharedBy = progress?.sharing?.devices.map(({ rows }) => rows);
    const own: PlanDevice = onGpu ? { kind: 'gpu' } : { kind: 'cpu', cores: threads || cores };
    return planMemory(model, data.counts, own, { sharedBy }).memory;
  } catch {
    return null;
  }
}

/** Of what is no network nothing but the rows is counted: what its process came to stands first, where that is known. */
export function rowsFigure({ deviceBytes = 0, peakBytes }: Pick<RunBill, 'deviceBytes' | 'peakBytes'>) {
  const rows = `The rows as it trains on them took ${bytes(deviceBytes)}`;
  return peakBytes === undefined
    ? {
        name: 'Memory, rows alone',
        value: bytes(deviceBytes),
        note: '',
        how: `${rows}; what training took is not known.`,
      }
    : {
        name: 'Memory of its process',
        value: bytes(peakBytes),
        note: '',
        how: `The most it held, the program with it. ${rows}.`,
      };
}

/** What was allocated beside the forecast, and what its process came to. */
export function memoryFigure({ deviceBytes, peakBytes }: RunBill, forecast: PlanMemory | null) {
  const process =
    peakBytes === undefined
      ? ''
      : ` Its process held ${bytes(peakBytes)} at most${forecast ? `; a whole run was to add ${bytes(forecast.run)} to what it had before` : ''}.`;
  return {
    name: 'Memory',
    value: bytes(deviceBytes ?? 0),
    note: forecast === null ? '' : `forecast ${bytes(forecast.total)}`,
    how: `Allocated on the device for model and rows; the forecast is that of the plan.${process}`,
  };
}
