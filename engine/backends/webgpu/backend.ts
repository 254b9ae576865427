// The WebGPU backend: compiles plans for a GPUDevice, which a window has from navigator.gpu and Node from Dawn (node.ts).
// Kernels come from kernels/gpu-registry.ts; see docs/webgpu-backend.md.

import { elementBytes } from '../../../kernels/contract.ts';
import type { GpuLimits } from '../../../kernels/gpu-contract.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Backend } from '../backend.ts';
import { submitMilliseconds as usualSubmit } from '../pace.ts';
import type { OpenedGpu } from './adapter.ts';
import { allocate, checkSlots } from './buffers.ts';
import { ByteWriter } from './bytes.ts';
import { type CompileContext, compileProgram } from './compile.ts';
import { WebgpuExecutable } from './executable.ts';
import { DeviceWatch } from './failure.ts';
import { PipelineCache } from './pipelines.ts';
import { measurePeaks } from './probe.ts';
import { Reader } from './reader.ts';
import { type DeviceTraits, largestRing, temporaryBytes } from './sizes.ts';
import { Tuner, type TuningStore } from './tuning.ts';

export interface WebgpuOptions {
  /** Keeps the measured choices among kernel variants; forgotten with the backend by default. */
  readonly tuning?: TuningStore;
  /**
   * Calls with at least so many floating-point operations are tuned. Default: 100 million on hardware, never in software,
   * where measuring costs more than it gains.
   */
  readonly tuneFromFlops?: number;
  /** Milliseconds a submit of steps should take; half of what must not be passed. */
  readonly submitMilliseconds?: number;
  /** Limits to work with instead of the device's own, for tests; they may only be lower. */
  readonly limits?: Partial<GpuLimits>;
  /** False: do without subgroup operations, for tests. */
  readonly subgroups?: boolean;
  /** False: do without `shader-f16`, for tests. */
  readonly halfArithmetic?: boolean;
}

export interface WebgpuBackend extends Backend {
  compile(plan: Plan): Promise<WebgpuExecutable>;
}

const defaultTuneFromFlops = 100e6;
/** WebGPU does not tell how much memory a GPU has: larger data streams through this much. */
const mostDataBytes = 2 ** 30;

/** A backend over an open device. `close` destroys the device. */
export function createWebgpuBackend(opened: OpenedGpu, options: WebgpuOptions = {}): WebgpuBackend {
  const { device, adapter, name } = opened;
  const { software, vendor, architecture } = adapter;
  const { submitMilliseconds = usualSubmit } = options;
  const watch = new DeviceWatch(device, name);
  const pipelines = new PipelineCache(device, watch);
  const limits: GpuLimits = {
    maxComputeWorkgroupsPerDimension: device.limits.maxComputeWorkgroupsPerDimension,
    maxComputeInvocationsPerWorkgroup: device.limits.maxComputeInvocationsPerWorkgroup,
    maxComputeWorkgroupStorageSize: device.limits.maxComputeWorkgroupStorageSize,
    ...options.limits,
  };
  const traits: DeviceTraits = {
    limits,
    subgroups: opened.subgroups && options.subgroups !== false,
    halfArithmetic: opened.halfArithmetic && options.halfArithmetic !== false,
  };
  const tuner = new Tuner(device, watch, {
    store: options.tuning ?? new Map<string, string>(),
    adapter: [vendor, architecture, adapter.device, adapter.description].join(':'),
    leastFlops: options.tuneFromFlops ?? (software ? Infinity : defaultTuneFromFlops),
  });
  const context: CompileContext = { device, traits, pipelines, choose: (request) => tuner.choose(request) };

  return {
    device: { kind: 'gpu', name, threads: 1, software },
    halfStorage: true,
    dataBudget: Math.min(device.limits.maxBufferSize, device.limits.maxStorageBufferBindingSize, mostDataBytes),
    async compile(plan) {
      watch.check();
      checkSlots(plan, device.limits, name);
      const buffers = await allocate(device, plan, temporaryBytes(plan, traits), watch);
      const owned: { destroy(): void }[] = [buffers];
      try {
        return await watch.scoped('compiling the model', async () => {
          const reader = new Reader(device, watch, largestRing(plan));
          const byteWriter = plan.slots.some(({ type }) => elementBytes[type] < 4) ? new ByteWriter(device) : null;
          owned.push(reader, ...(byteWriter ? [byteWriter] : []));
          const programs = await Promise.all(
            Object.values(plan.programs).map((program) => compileProgram(program, buffers, context)),
          );
          return new WebgpuExecutable({
            device,
            plan,
            buffers,
            programs,
            reader,
            byteWriter,
            watch,
            software,
            submitMilliseconds,
          });
        });
      } catch (error) {
        for (const part of owned) part.destroy();
        throw error;
      }
    },
    peaks: () => watch.guard(measurePeaks(opened)),
    async close() {
      watch.close();
      device.destroy();
      await device.lost;
    },
  };
}
