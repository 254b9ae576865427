// The trainer of the GPU window: the same one as everywhere, with the WebGPU backend and the window's clock.

import { defaultAdapter, identityKey, nameOf, openGpu } from '../../engine/backends/webgpu/adapter.ts';
import type { Backend } from '../../engine/backends/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import type { TuningStore } from '../../engine/backends/webgpu/tuning.ts';
import { createProfiler } from '../../engine/bench/profiler.ts';
import type { ExaminerService } from '../../engine/protocol/checking.ts';
import type { Shard } from '../../engine/protocol/data.ts';
import type { SpeedService, TrainerHost } from '../../engine/protocol/hosts.ts';
import type { ProfilerService } from '../../engine/protocol/step-profile.ts';
import type { Surroundings } from '../../engine/train/control.ts';
import { createExaminer } from '../../engine/learners/examiner.ts';
import { createTrainerHost } from '../../engine/learners/host.ts';
import { ServedModel } from '../../engine/serving/served-model.ts';
import { openTrusted } from '../../engine/train/trust.ts';

/** A trainer on the GPU. Its device is opened when a run starts, and closed with it. */
export function createGpuHost(
  gpu: GPU | undefined,
  readShard: (handle: string, shard: number) => Promise<Shard>,
): TrainerHost {
  return createTrainerHost({
    createBackend: () => openTrustedGpu(gpu),
    readShard,
    surroundings,
    // The backend knows its own limit.
    dataBudget: Infinity,
  });
}

/** Checks runs before they train on the GPU. */
export function createGpuExaminer(
  gpu: GPU | undefined,
  readShard: (handle: string, shard: number) => Promise<Shard>,
): ExaminerService {
  return createExaminer({
    createBackend: () => openTrustedGpu(gpu),
    createReference: createReferenceBackend,
    readShard,
    surroundings,
    dataBudget: Infinity,
  });
}

/** Takes training steps apart on the GPU. What other programs use of it nobody tells. */
export function createGpuProfiler(gpu: GPU | undefined): ProfilerService {
  return createProfiler({
    open: () => openTrustedGpu(gpu),
    clock: surroundings.clock,
    between: surroundings.breathe,
    processors: navigator.hardwareConcurrency,
  });
}

/** Measures how fast a model predicts on the GPU. */
export function createGpuSpeed(gpu: GPU | undefined): SpeedService {
  return {
    async speed(source) {
      const model = await ServedModel.open(source, () => openTrustedGpu(gpu));
      try {
        return await model.speed();
      } finally {
        await model.close();
      }
    },
  };
}

/** Opens the GPU once it has passed the self-test: by the adapter, the browser's engine and its version. */
export async function openTrustedGpu(gpu: GPU | undefined): Promise<Backend> {
  const identity = await defaultAdapter(gpu);
  const open = async (): Promise<Backend> => createWebgpuBackend(await openGpu(gpu), { tuning: storedChoices });
  return openTrusted({
    device: `GPU (${nameOf(identity)})`,
    rungs: [{ name: 'WebGPU', open }],
    key: `${navigator.userAgent} | ${identityKey(identity)}`,
    store: storedChoices,
    rest: nextTask,
    clock: surroundings.clock,
  });
}

export const surroundings: Surroundings = {
  clock: () => performance.now(),
  now: () => Date.now(),
  breathe: nextTask,
};

/** Lets the page's messages in. A channel, because timers of a page wait at least four milliseconds. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Measured kernel choices, kept with the page's other data. */
export const storedChoices: TuningStore = {
  get: (key) => localStorage.getItem(`tuning ${key}`) ?? undefined,
  set: (key, variant) => localStorage.setItem(`tuning ${key}`, variant),
};
