// The CPU host: the process of one run that trains on the CPU; also the one that predicts with a finished run and says
// what the CPU is. Rows come straight from the data host, over a link made by the main process.

import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { ClassifierService, DeviceService, PredictorService } from '../../engine/protocol/hosts.ts';
import { parentPort } from '../../engine/protocol/port.electron.ts';
import { announceReady } from '../../engine/protocol/port.ready.ts';
import { connect, serve } from '../../engine/protocol/rpc.ts';
import type { TrainerHost } from '../../engine/protocol/runs.ts';
import { createTrainerHost } from '../../engine/train/host.ts';
import { createClassifier } from './classifier.ts';
import { cpuDevice } from './devices.ts';
import { onLink } from './linked.ts';
import { createPredictor } from './predictor.ts';
import { nodeSurroundings, residentBudget } from './surroundings.ts';

type Rows = Pick<DataService, 'readShard'>;

const port = parentPort(process.parentPort);
let linked: (rows: Rows) => void;
const rows = new Promise<Rows>((resolve) => (linked = resolve));
onLink(process.parentPort, (link) => linked(connect<Rows>(link, { peer: 'the data process' })));

const host = createTrainerHost({
  createBackend: async ({ config }) =>
    config.device === 'reference' ? createReferenceBackend() : createCpuBackend({ threads: config.threads }),
  readShard: async (handle, shard) => (await rows).readShard({ handle, shard }),
  surroundings: nodeSurroundings,
  dataBudget: residentBudget(),
});
serve<TrainerHost>(port, host);
serve<PredictorService>(port, createPredictor(rows), { service: 'predictor' });
serve<ClassifierService>(port, createClassifier(rows), { service: 'classifier' });
serve<DeviceService>(port, { devices: async () => [cpuDevice()] }, { service: 'devices' });
announceReady(port);
