// Past runs: the memory their devices allocated, beside what is forecast for the same model, rows and threads.

import { isNetwork } from '../../../../engine/learners/network/declaration.ts';
import type { AppService, DatasetShape } from '../../../../engine/protocol/app.ts';
import type { RecordField } from '../../../../engine/protocol/store.ts';
import { memoryOfRun } from '../../../components/hardware/run-memory.ts';
import { breathe } from '../../../lib/breathe.ts';
import type { RunMemory } from './memory.ts';

const runsRead = 20;
const fields = [
  'id',
  'name',
  'config',
  'progress',
  'data',
  'device',
  'threads',
] as const satisfies readonly RecordField[];
/** Preparing a dataset anew to know its shape takes a while. */
const datasetsRead = 4;

/** The newest finished networks; those whose dataset is gone or whose bill says nothing are left out. */
export async function pastRuns(service: AppService): Promise<readonly RunMemory[]> {
  const { runs } = await service.runs({
    states: ['completed', 'stopped'],
    sort: { by: 'endedAt', descending: true },
    limit: runsRead,
    fields,
  });
  const shapes = new Map<string, DatasetShape | null>();
  const found: RunMemory[] = [];
  for (const { id, name, config, progress, data, device, threads } of runs) {
    const measured = progress?.bill?.deviceBytes;
    if (!isNetwork(config) || measured === undefined || data === null) continue;
    const { dataset, settings } = config;
    const key = JSON.stringify([dataset, settings]);
    if (!shapes.has(key) && shapes.size >= datasetsRead) continue;
    const shape = shapes.get(key) ?? (await service.datasetShape({ dataset, settings }).catch(() => null));
    shapes.set(key, shape);
    if (shape === null) continue;
    const { input, output } = shape;
    const training = { ...config.training, seed: config.seed };
    await breathe();
    const model = { name, spec: config.model, input, output, training };
    const memory = memoryOfRun(model, { data, device, threads, progress }, navigator.hardwareConcurrency);
    if (memory === null) continue;
    const off = measured / memory.total - 1;
    found.push({
      ...{ id, name, forecast: memory.total, measured, off },
      device: device.startsWith('gpu') ? 'gpu' : 'cpu',
    });
  }
  return found;
}
