// Compiles a plan's programs into lists of dispatches: pipeline, bind group, workgroups. All decisions fall here, so that a
// step is nothing but encoding.

import { elementBytes, type Operand } from '../../../kernels/contract.ts';
import { packedName, withHalves } from '../../../kernels/gpu-half.ts';
import { kernels, type KernelName } from '../../../kernels/registry.ts';
import type { GpuContext, GpuPass } from '../../../kernels/gpu-contract.ts';
import type { Call, Program } from '../../plan/plan.ts';
import { bindingsOf, checkBindings, operandSize, type Range } from './bindings.ts';
import type { PlanBuffers } from './buffers.ts';
import { limitError } from './failure.ts';
import type { PipelineCache } from './pipelines.ts';
import {
  type DeviceTraits,
  gpuContext,
  halvesOf,
  kernelOf,
  offsetAlignment,
  placeTemporaries,
  singlesOf,
} from './sizes.ts';

/** One dispatch, ready to be encoded. */
export interface Dispatch {
  readonly label: string;
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  /** The bind group takes the step's number as a dynamic offset. */
  readonly usesStep: boolean;
  readonly workgroups: readonly [number, number, number];
}

export interface CompiledProgram {
  readonly program: Program;
  /** The dispatches of one step. */
  readonly dispatches: readonly Dispatch[];
}

/** What compiling needs. */
export interface CompileContext {
  readonly device: GPUDevice;
  readonly traits: DeviceTraits;
  readonly pipelines: PipelineCache;
  /** Picks one of a call's variants; `undefined` = the kernel's own first choice. */
  readonly choose: (request: VariantRequest) => Promise<string | undefined>;
}

/** A call with interchangeable implementations. */
export interface VariantRequest {
  readonly call: Call;
  readonly variants: readonly string[];
  /** How many of them, one behind the other, are forms of the same: with slices in float32 and in 16 bits. */
  readonly forms: number;
  /** Operands that are stored in 16 bits. */
  readonly halves: readonly string[];
  /** Compiles the call with one of them, for measuring. */
  readonly compile: (variant: string) => Promise<readonly Dispatch[]>;
}

export async function compileProgram(
  program: Program,
  buffers: PlanBuffers,
  context: CompileContext,
): Promise<CompiledProgram> {
  const dispatches = await Promise.all(
    program.calls.map((call, index) =>
      compileCall(call, buffers, context, `${program.name} call ${index} (${call.kernel})`),
    ),
  );
  return { program, dispatches: dispatches.flat() };
}

/** The parameters as a call record holds them, `f32` ones rounded, so that constants derived from them equal the CPU's. */
function storedParams(call: Call): Readonly<Record<string, number>> {
  const kinds: Readonly<Record<string, string>> = kernels[call.kernel as KernelName].params;
  const entries = Object.entries(call.params);
  return Object.fromEntries(entries.map(([name, value]) => [name, kinds[name] === 'f32' ? Math.fround(value) : value]));
}

async function compileCall(
  call: Call,
  buffers: PlanBuffers,
  context: CompileContext,
  where: string,
): Promise<readonly Dispatch[]> {
  const kernel = kernelOf(call);
  const halves = halvesOf(call, buffers.types);
  const gpu = gpuContext(call, context.traits, halves);
  const singles = singlesOf(call, gpu, halves);
  const { ranges, firstWords } = rangesOf(call, buffers, gpu, halves, singles);
  const params = storedParams(call);
  const build = (variant: string | undefined): Promise<readonly Dispatch[]> => {
    const passes = kernel.passes(params, gpu, variant);
    const stored = halves.size === 0 ? passes : withHalves(passes, { sizes: halves, single: singles, firstWords }, gpu);
    return Promise.all(stored.map((pass) => compilePass(pass, ranges, buffers, context, where)));
  };
  const variants = kernel.variants?.(params, gpu) ?? [];
  if (variants.length < 2) return build(undefined);
  const forms = gpu.halfArithmetic && halves.size > 0 ? 2 : 1;
  return build(await context.choose({ call, variants, forms, halves: [...halves.keys()], compile: build }));
}

async function compilePass(
  pass: GpuPass,
  ranges: ReadonlyMap<string, Range>,
  buffers: PlanBuffers,
  { device, traits, pipelines }: CompileContext,
  where: string,
): Promise<Dispatch> {
  const most = traits.limits.maxComputeWorkgroupsPerDimension;
  if (Math.max(...pass.workgroups) > most) {
    throw limitError(
      `${where}: ${pass.label} needs ${pass.workgroups.join('×')} workgroups; this GPU allows ${most} a dimension.`,
      'Choose a smaller model or batch, or train on the CPU.',
    );
  }
  const bindings = bindingsOf(pass, ranges, where);
  checkBindings(bindings, device.limits, where);
  const pipeline = await pipelines.pipeline(pass, bindings);
  const entries: GPUBindGroupEntry[] = bindings.map(({ buffer, offset, size }, binding) => ({
    binding,
    resource: { buffer, offset, size },
  }));
  const usesStep = pass.usesStep === true;
  if (usesStep) entries.push({ binding: bindings.length, resource: { buffer: buffers.steps, offset: 0, size: 4 } });
  const bindGroup = device.createBindGroup({ label: pass.label, layout: pipelines.layout(pass, bindings), entries });
  return { label: pass.label, pipeline, bindGroup, usesStep, workgroups: pass.workgroups };
}

/** Where a call's operands and temporaries lie; `firstWords`: of those in 16 bits, the word of their range they begin with, if not the first. */
function rangesOf(
  call: Call,
  buffers: PlanBuffers,
  context: GpuContext,
  halves: ReadonlyMap<string, number>,
  singles: ReadonlySet<string>,
): { readonly ranges: ReadonlyMap<string, Range>; readonly firstWords: ReadonlyMap<string, number> } {
  const contract = kernels[call.kernel as KernelName];
  const ranges = new Map<string, Range>();
  const firstWords = new Map<string, number>();
  const operands = [...contract.inputs, ...contract.outputs];
  [...call.inputs, ...call.outputs].forEach((ref, index) => {
    if (!ref) return;
    const operand: Operand = operands[index];
    const type = halves.has(operand.name) ? 'f16' : (operand.type ?? 'f32');
    const start = ref.offset * elementBytes[type];
    // Half an alignment before a copy of a weight lies the end of another's: accesses begin that much further.
    const before = start % offsetAlignment;
    if (before > 0) firstWords.set(operand.name, before / 4);
    ranges.set(singles.has(operand.name) ? packedName(operand.name) : operand.name, {
      buffer: buffers.slots[ref.slot],
      offset: start - before,
      size: before + operandSize(operand, call.params, type),
    });
  });
  for (const [name, range] of placeTemporaries(call, context, halves).places) {
    ranges.set(name, { buffer: buffers.temporary, ...range });
  }
  return { ranges, firstWords };
}
