// The processes beside the main one: the store and the data host, restarted when they die, and one CPU host a run. The
// main process starts them, links the ones that talk to each other, and does none of their work.

import { MessageChannelMain, type MessagePortMain } from 'electron';
import type { DataService } from '../../engine/protocol/data.ts';
import type {
  ClassifierService,
  DeviceService,
  EvaluatorService,
  PredictorService,
} from '../../engine/protocol/hosts.ts';
import type { ExporterService, OnnxService } from '../../engine/protocol/exports.ts';
import type { DeviceLab } from '../../engine/lab/host.ts';
import type { ExaminerService } from '../../engine/protocol/checking.ts';
import type { ExplainerService } from '../../engine/protocol/explanation.ts';
import { connect } from '../../engine/protocol/rpc.ts';
import { namedDevices } from '../../engine/protocol/several-devices.ts';
import type { ProfilerService } from '../../engine/protocol/step-profile.ts';
import type { ServedModelService } from '../../engine/protocol/serving.ts';
import type { ModelReaderService } from '../../engine/protocol/pretrained.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import type { TrainerHost } from '../../engine/protocol/hosts.ts';
import { historyIdentity } from '../../engine/history/home.ts';
import type { OnnxHost } from '../../engine/runs/export.ts';
import type { RunHost } from '../../engine/runs/hosts.ts';
import { startMilliseconds, within } from '../../engine/runs/within.ts';
import { plainFile } from './folders.ts';
import { startGpuHost, type GpuHost } from './gpu-window.ts';
import { startStore, startUtilityProcess, type Child } from './child.ts';
import { createServiceProcess, type ServiceProcess } from './service-process.ts';

export interface CpuHost extends RunHost {
  readonly predictor: PredictorService;
  readonly classifier: ClassifierService;
  readonly evaluator: EvaluatorService;
  readonly served: ServedModelService;
  readonly devices: DeviceService;
  readonly lab: DeviceLab;
  readonly exporter: ExporterService;
  readonly explainer: ExplainerService;
  readonly examiner: ExaminerService;
  readonly models: ModelReaderService;
  readonly profiler: ProfilerService;
  /** Hands the process one end of a channel to a device that is to work for it. */
  partner(end: MessagePortMain): void;
}

export interface Processes {
  readonly store: ServiceProcess<StoreService>;
  readonly data: ServiceProcess<DataService>;
  /** Starts a process that trains or predicts on the CPU, linked to the data host. */
  startCpuHost(): Promise<CpuHost>;
  /** Starts the processes of a run on several devices: one that trains on the CPU and, if the GPU is among them, a hidden window that works for it. */
  startTogether(devices: string): Promise<RunHost>;
  /** Starts a process that runs exported models. */
  startOnnx(): Promise<OnnxHost>;
  /** Starts a hidden window that trains on the GPU, linked to the data host. */
  startGpuHost(): Promise<GpuHost>;
  /** Starts a process that repairs the history, which the store may not have open meanwhile. Closing waits for its end. */
  startRepair(): Child;
  /** The same for restoring a backup. */
  startRestore(): Child;
  /** Starts the store and the data host before anybody asks for them. */
  warm(): void;
  close(): Promise<void>;
}

/** Until an end is told: by then the app closes too, where it is to. */
const settleMilliseconds = 1000;

/** @param tell  called with what a process was, and how it ended, where it was not ended from here */
export function createProcesses(home: string, tell: (part: string, what: string) => void): Processes {
  let closing = false;
  // A signal to all of them, as when the system shuts down, ends the parts first: their app is about to close, then.
  const failed = (part: string, what: string): void =>
    void setTimeout(() => closing || tell(part, what), settleMilliseconds).unref();
  const args = [`--home=${home}`];
  const bundle = (name: string): string => plainFile('build', 'hosts', `${name}.cjs`);
  const data = createServiceProcess<DataService>('data', () =>
    startUtilityProcess({ name: 'data', file: bundle('data'), args, failed }),
  );
  /** The history that all here speak of; null until the store has opened it, and after it may have been exchanged from here. */
  let begunWith: string | null = null;
  const store = createServiceProcess<StoreService>('store', () => {
    const child = startStore({
      name: 'store',
      file: bundle('store'),
      args: begunWith === null ? args : [...args, `--history=${begunWith}`],
      failed,
    });
    child.ready.then(() => (begunWith ??= historyIdentity(home))).catch(() => undefined);
    return child;
  });
  const hosts = new Set<Child>();
  const repairs: Child[] = [];

  const startKeeper = (what: string): Child => {
    begunWith = null;
    const child = startStore({ name: 'store', file: bundle('store'), args: [...args, what] });
    repairs.push(child);
    return child;
  };

  return {
    store,
    data,
    async startCpuHost() {
      const child = startUtilityProcess({ name: 'training', file: bundle('cpu'), args, failed });
      hosts.add(child);
      void child.ended.then(() => hosts.delete(child));
      const { port1, port2 } = new MessageChannelMain();
      (await data.child()).link(port1);
      child.link(port2);
      try {
        await within(child.ready, startMilliseconds, 'The training process');
      } catch (error) {
        child.kill();
        throw error;
      }
      const peer = 'the training process';
      return {
        host: connect<TrainerHost>(child.port, { peer }),
        predictor: connect<PredictorService>(child.port, { peer, service: 'predictor' }),
        classifier: connect<ClassifierService>(child.port, { peer, service: 'classifier' }),
        evaluator: connect<EvaluatorService>(child.port, { peer, service: 'evaluator' }),
        served: connect<ServedModelService>(child.port, { peer, service: 'served' }),
        devices: connect<DeviceService>(child.port, { peer, service: 'devices' }),
        lab: connect<DeviceLab>(child.port, { peer, service: 'lab' }),
        explainer: connect<ExplainerService>(child.port, { peer, service: 'explainer' }),
        models: connect<ModelReaderService>(child.port, { peer, service: 'models' }),
        examiner: connect<ExaminerService>(child.port, { peer, service: 'examiner' }),
        profiler: connect<ProfilerService>(child.port, { peer, service: 'profiler' }),
        exporter: connect<ExporterService>(child.port, { peer, service: 'exporter' }),
        partner: (end) => child.link(end, 'partner'),
        exited: child.ended,
        kill: () => child.kill(),
      };
    },
    async startTogether(devices) {
      const cpu = await this.startCpuHost();
      if (!namedDevices(devices).some(({ kind }) => kind === 'gpu')) return cpu;
      try {
        const gpu = await this.startGpuHost();
        const { port1, port2 } = new MessageChannelMain();
        gpu.partner(port1);
        cpu.partner(port2);
        const kill = (): void => {
          gpu.kill();
          cpu.kill();
        };
        // The run lives in the CPU's process: it goes on when the window has gone, and the window goes with it.
        void cpu.exited.then(() => gpu.kill());
        return { ...cpu, kill };
      } catch (error) {
        cpu.kill();
        throw error;
      }
    },
    async startOnnx() {
      const child = startUtilityProcess({ name: 'model check', file: bundle('onnx'), args, failed });
      hosts.add(child);
      void child.ended.then(() => hosts.delete(child));
      try {
        await within(child.ready, startMilliseconds, 'The process that runs exported models');
      } catch (error) {
        child.kill();
        throw error;
      }
      const service = connect<OnnxService>(child.port, { peer: 'the process that runs exported models' });
      return { service, kill: () => child.kill() };
    },
    startGpuHost: async () => startGpuHost(await data.child()),
    startRepair: () => startKeeper('--repair'),
    startRestore: () => startKeeper('--restore'),
    warm() {
      // What keeps one from starting is told to whoever asks it first.
      for (const process of [store, data]) process.child().catch(() => undefined);
    },
    async close() {
      closing = true;
      for (const child of hosts) child.kill();
      await Promise.all([store.close(), data.close(), ...repairs.map(({ ended }) => ended)]);
    },
  };
}
