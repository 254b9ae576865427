// The services of the app without Electron: the built store, data and CPU hosts in threads, and the main process's own
// AppService and run manager over them. The GPU page, the system's dialogs and the window are the caller's.

import type { ExaminerService } from '../../../engine/protocol/checking.ts';
import type { ExplainerService } from '../../../engine/protocol/explanation.ts';
import path from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { createAppService } from '../../../electron/main/app-service.ts';
import { createCommandLink } from '../../../electron/main/command-link.ts';
import type { Surroundings } from '../../../electron/main/command-plan.ts';
import { createDevices } from '../../../electron/main/devices.ts';
import type { GpuHost } from '../../../electron/main/gpu-window.ts';
import { readLicences } from '../../../electron/main/licences.ts';
import { Listeners } from '../../../engine/protocol/listeners.ts';
import { createMenuEntry } from '../../../electron/main/menu-entry.ts';
import { OpenedFiles } from '../../../electron/main/opened-files.ts';
import { ChosenPaths } from '../../../electron/main/paths.ts';
import type { CpuHost } from '../../../electron/main/processes.ts';
import { createSamples } from '../../../electron/main/samples/samples.ts';
import type { Dialogs } from '../../../electron/main/saving.ts';
import { processOwner } from '../../../engine/history/owner.ts';
import type { AppService } from '../../../engine/protocol/app.ts';
import type { DataService } from '../../../engine/protocol/data.ts';
import type {
  ClassifierService,
  DeviceService,
  EvaluatorService,
  PredictorService,
} from '../../../engine/protocol/hosts.ts';
import type { ExporterService, OnnxService } from '../../../engine/protocol/exports.ts';
import type { DeviceLab } from '../../../engine/lab/host.ts';
import { threadPort } from '../../../engine/protocol/port.node.ts';
import type { Port } from '../../../engine/protocol/port.ts';
import type { ModelReaderService } from '../../../engine/protocol/pretrained.ts';
import { connect } from '../../../engine/protocol/rpc.ts';
import type { ProfilerService } from '../../../engine/protocol/step-profile.ts';
import type { ServedModelService } from '../../../engine/protocol/serving.ts';
import type { StoreService } from '../../../engine/protocol/store.ts';
import type { TrainerHost } from '../../../engine/protocol/hosts.ts';
import type { OnnxHost } from '../../../engine/runs/export.ts';
import { createRunManager } from '../../../engine/runs/manager.ts';
import { startHost } from './host.ts';

/** A file of the repository. */
const file = (name: string): string => path.resolve(import.meta.dirname, '../../..', name);

function refuseKeeper(): never {
  throw new Error('Repairing and restoring need processes of their own.');
}

export interface Services {
  readonly service: AppService;
  close(): Promise<void>;
}

export interface ServicesOptions {
  readonly home: string;
  readonly dialogs: Dialogs;
  /** Opens a GPU page. `rows` leads to the data host. */
  startGpuHost(rows: Port): Promise<GpuHost>;
}

export async function startServices({ home, dialogs, startGpuHost }: ServicesOptions): Promise<Services> {
  const [dataHost, storeHost] = await Promise.all([startHost('data', home), startHost('store', home)]);
  const data = connect<DataService>(dataHost.port, { peer: 'the data host' });
  const store = connect<StoreService>(storeHost.port, { peer: 'the store host' });

  const processes = {
    async startCpuHost(): Promise<CpuHost> {
      const cpu = await startHost('cpu', home);
      const { port1, port2 } = new MessageChannel();
      dataHost.link(port1);
      cpu.link(port2);
      return {
        host: connect<TrainerHost>(cpu.port),
        predictor: connect<PredictorService>(cpu.port, { service: 'predictor' }),
        classifier: connect<ClassifierService>(cpu.port, { service: 'classifier' }),
        evaluator: connect<EvaluatorService>(cpu.port, { service: 'evaluator' }),
        served: connect<ServedModelService>(cpu.port, { service: 'served' }),
        devices: connect<DeviceService>(cpu.port, { service: 'devices' }),
        lab: connect<DeviceLab>(cpu.port, { service: 'lab' }),
        profiler: connect<ProfilerService>(cpu.port, { service: 'profiler' }),
        exporter: connect<ExporterService>(cpu.port, { service: 'exporter' }),
        explainer: connect<ExplainerService>(cpu.port, { service: 'explainer' }),
        examiner: connect<ExaminerService>(cpu.port, { service: 'examiner' }),
        models: connect<ModelReaderService>(cpu.port, { service: 'models' }),
        // No run here is on several devices.
        partner: () => undefined,
        exited: cpu.exited,
        kill: () => void cpu.end(),
      };
    },
    async startOnnx(): Promise<OnnxHost> {
      const host = await startHost('onnx', home);
      return { service: connect<OnnxService>(host.port), kill: () => void host.end() };
    },
    startGpuHost(): Promise<GpuHost> {
      const { port1, port2 } = new MessageChannel();
      dataHost.link(port1);
      return startGpuHost(threadPort(port2));
    },
  };
  const devices = createDevices(processes);
  const checkout: Surroundings = {
    system: process.platform,
    packaged: false,
    program: process.execPath,
    resources: file('.'),
    home: file('.'),
    variables: {},
  };
  const runs = createRunManager({
    store,
    data,
    hosts: {
      create: (device) => (device === 'gpu' ? processes.startGpuHost() : processes.startCpuHost()),
      gpu: () => devices.gpu(),
    },
    owner: processOwner(),
  });
  const service = createAppService({
    home,
    version: '0.0.0',
    packaged: false,
    region: { numbers: 'en-US', dates: 'en-US' },
    data,
    store,
    processes,
    keepers: {
      alone: (work) => work(),
      startRepair: refuseKeeper,
      startRestore: refuseKeeper,
    },
    runs,
    machine: { cores: 2, available: () => 4e9 },
    devices,
    paths: new ChosenPaths(),
    licences: () => readLicences({ own: file('LICENSE'), notices: file('build/NOTICES') }),
    samples: createSamples(file('samples')),
    systemLinks: { ...createCommandLink(checkout), ...createMenuEntry(checkout) },
    dialogs,
    network: { blocked: 0, onBlocked: () => () => undefined },
    window: {
      setAppearance: () => undefined,
      reload: () => undefined,
      mishap: null,
      showFile: () => undefined,
      dragFile: () => Promise.resolve(),
    },
    commands: new Listeners(),
    opened: new OpenedFiles(),
    goingOn: { take: () => ({ goOn: [], left: [] }), onCut: () => () => undefined },
    recent: { add: () => undefined },
  });
  return {
    service,
    async close() {
      await runs.stopAll();
      await store.close();
      await Promise.all([storeHost.end(), dataHost.end()]);
    },
  };
}
