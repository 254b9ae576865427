// The CPU host: the process of one run that trains on the CPU; also the one that predicts with a finished run and says
// what the CPU is. Rows come straight from the data host, over a link made by the main process.

import type { Backend } from '../../engine/backends/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { connectPartner, type Partner } from '../../engine/backends/together/partner.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type {
  ClassifierService,
  DeviceService,
  EvaluatorService,
  PredictorService,
} from '../../engine/protocol/hosts.ts';
import type { ExporterService } from '../../engine/protocol/exports.ts';
import type { DeviceLab } from '../../engine/lab/host.ts';
import type { Port } from '../../engine/protocol/port.ts';
import { parentPort } from '../../engine/protocol/port.electron.ts';
import { announceReady } from '../../engine/protocol/port.ready.ts';
import type { ExaminerService } from '../../engine/protocol/checking.ts';
import type { ExplainerService } from '../../engine/protocol/explanation.ts';
import type { ModelReaderService } from '../../engine/protocol/pretrained.ts';
import { connect, serve } from '../../engine/protocol/rpc.ts';
import type { RunConfig } from '../../engine/protocol/runs.ts';
import type { TrainerHost } from '../../engine/protocol/hosts.ts';
import type { ProfilerService } from '../../engine/protocol/step-profile.ts';
import type { ServedModelService } from '../../engine/protocol/serving.ts';
import { createProfiler } from '../../engine/bench/profiler.ts';
import { createServedModel } from '../../engine/serving/service.node.ts';
import { createExaminer } from '../../engine/learners/examiner.ts';
import { createTrainerHost } from '../../engine/learners/host.ts';
import { createClassifier } from './classifier.ts';
import { createExplainer } from './explainer.ts';
import { createExportHost } from './exporter.ts';
import { cpuDevice } from './devices.ts';
import { createNodeLab } from './lab.ts';
import { onLink } from './linked.ts';
import { modelReader } from './models.ts';
import { createEvaluator } from './evaluator.ts';
import { createPredictor } from './predictor.ts';
import { nodeProfiling } from './profiler.ts';
import { homeArgument, nodeSurroundings, residentBudget } from './surroundings.ts';
import { openTogether } from './together.ts';
import { startTrialThread } from './trials.ts';
import { openCpu } from './trusted-cpu.ts';
import { reportOwnFailures } from './uncaught.ts';

type Rows = Pick<DataService, 'readShard' | 'rawRows' | 'keepPredictions' | 'keepNumbers'>;

reportOwnFailures('training');
const port = parentPort(process.parentPort);
let linked: (rows: Rows) => void;
const rows = new Promise<Rows>((resolve) => (linked = resolve));
onLink(process.parentPort, (link) => linked(connect<Rows>(link, { peer: 'the data process' })));

const home = homeArgument();
const surroundings = {
  readShard: async (handle: string, shard: number) => (await rows).readShard({ handle, shard }),
  surroundings: nodeSurroundings,
  dataBudget: residentBudget(),
};
let partnered: (port: Port) => void;
const partner = new Promise<Port>((resolve) => (partnered = resolve));
onLink(process.parentPort, (link) => partnered(link), 'partner');
/** The hidden GPU window, which the main process has started for this run. */
async function besideGpu(): Promise<Partner> {
  const link = await partner;
  return connectPartner(link, { peer: 'the GPU window', end: () => link.close() });
}
async function openDevice({ device, devices, threads }: RunConfig): Promise<Backend> {
  if (devices !== undefined) return openTogether(devices, { home, threads, gpu: besideGpu });
  return device === 'reference' ? createReferenceBackend() : openCpu({ home, threads });
}
const host = createTrainerHost({
  ...surroundings,
  createBackend: ({ config }) => openDevice(config),
  trialThread: (threads) => startTrialThread({ home, threads }),
});
serve<TrainerHost>(port, host);
serve<PredictorService>(
  port,
  createPredictor(rows, () => openCpu({ home })),
  { service: 'predictor' },
);
serve<ClassifierService>(
  port,
  createClassifier(rows, () => openCpu({ home })),
  { service: 'classifier' },
);
serve<ExporterService>(
  port,
  createExportHost(rows, () => openCpu({ home })),
  { service: 'exporter' },
);
serve<EvaluatorService>(
  port,
  createEvaluator(rows, () => openCpu({ home })),
  { service: 'evaluator' },
);
serve<DeviceLab>(port, createNodeLab(), { service: 'lab' });
serve<ServedModelService>(
  port,
  createServedModel(() => openCpu({ home, threads: 1 })),
  { service: 'served' },
);
serve<ModelReaderService>(port, modelReader, { service: 'models' });
serve<ExplainerService>(
  port,
  createExplainer(rows, () => openCpu({ home })),
  { service: 'explainer' },
);
serve<ExaminerService>(
  port,
  createExaminer({ ...surroundings, createBackend: openDevice, createReference: createReferenceBackend }),
  { service: 'examiner' },
);
serve<DeviceService>(port, { devices: async () => [await cpuDevice(home)] }, { service: 'devices' });
serve<ProfilerService>(port, createProfiler(nodeProfiling), { service: 'profiler' });
announceReady(port);
