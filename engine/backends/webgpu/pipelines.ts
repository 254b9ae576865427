// Compute pipelines by their source text: calls of the same shape share one, across programs and plans of a backend.

import type { GpuPass } from '../../../kernels/gpu-contract.ts';
import { type Binding, sourceOf } from './bindings.ts';
import { type DeviceWatch, validationError } from './failure.ts';
import { computeStage } from './flags.ts';

export class PipelineCache {
  readonly #device: GPUDevice;
  readonly #watch: DeviceWatch;
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  readonly #layouts = new Map<string, GPUBindGroupLayout>();

  constructor(device: GPUDevice, watch: DeviceWatch) {
    this.#device = device;
    this.#watch = watch;
  }

  /** The pipeline of a pass; compiles it the first time. Throws `device.validation` with the compiler's message. */
  pipeline(pass: GpuPass, bindings: readonly Binding[]): Promise<GPUComputePipeline> {
    const source = sourceOf(pass, bindings);
    const known = this.#pipelines.get(source);
    if (known) return known;
    const made = this.#compile(pass, bindings, source);
    this.#pipelines.set(source, made);
    return made;
  }

  /** The layout of a pass's only bind group: its storage buffers, then the step's number. */
  layout(pass: GpuPass, bindings: readonly Binding[]): GPUBindGroupLayout {
    const usesStep = pass.usesStep === true;
    const key = `${bindings.map(({ access }) => access).join()}${usesStep ? ' step' : ''}`;
    const known = this.#layouts.get(key);
    if (known) return known;
    const entries: GPUBindGroupLayoutEntry[] = bindings.map(({ access }, binding) => ({
      binding,
      visibility: computeStage,
      buffer: { type: access === 'read' ? 'read-only-storage' : 'storage' },
    }));
    if (usesStep) {
      const buffer = { type: 'uniform', hasDynamicOffset: true, minBindingSize: 4 } as const;
      entries.push({ binding: bindings.length, visibility: computeStage, buffer });
    }
    const layout = this.#device.createBindGroupLayout({ entries });
    this.#layouts.set(key, layout);
    return layout;
  }

  async #compile(pass: GpuPass, bindings: readonly Binding[], source: string): Promise<GPUComputePipeline> {
    const { label } = pass;
    const layout = this.#device.createPipelineLayout({ bindGroupLayouts: [this.layout(pass, bindings)] });
    const module = this.#device.createShaderModule({ label, code: source });
    try {
      const compute = { module, entryPoint: 'main' };
      return await this.#watch.guard(this.#device.createComputePipelineAsync({ label, layout, compute }));
    } catch (error) {
      this.#watch.check();
      const { messages } = await this.#watch.guard(module.getCompilationInfo());
      const lines = source.split('\n');
      const problems = messages
        .filter(({ type }) => type === 'error')
        .map(({ lineNum, message }) => `${message} in “${lines[lineNum - 1]?.trim()}”`);
      const text = problems.join('; ') || (error instanceof Error ? error.message : String(error));
      throw validationError(this.#watch.name, `kernel ${label}: ${text}`, error);
    }
  }
}
