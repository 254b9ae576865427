// What a device can do at most, measured: float32 multiply-adds in registers, and copying from buffer to buffer. The bench
// relates its figures to these, because WebGPU tells nothing of a device's speed.

import type { DevicePeaks } from '../backend.ts';
import type { OpenedGpu } from './adapter.ts';
import { bufferUsage } from './flags.ts';

const threads = 256;
/** Chains of multiply-adds a thread interleaves, to hide their latency; each is a vector of four. */
const chains = 8;
const iterations = 256;
/** A measurement is repeated until it takes so long. */
const leastMilliseconds = 20;
const rounds = 3;

/** Measures a device that does nothing else meanwhile; takes a fraction of a second. */
export async function measurePeaks({ device, adapter }: OpenedGpu): Promise<DevicePeaks> {
  const { storage } = bufferUsage;
  const megabyte = 2 ** 20;
  const size = Math.min((adapter.software ? 16 : 256) * megabyte, device.limits.maxStorageBufferBindingSize);
  const buffers = ['source', 'target'].map((label) => device.createBuffer({ label, size, usage: storage }));
  const workgroups = adapter.software ? 64 : 4096;
  const copyGroups = size / 16 / threads;
  try {
    const multiply = await prepare(device, multiplyCode, buffers, workgroups);
    const copy = await prepare(device, copyCode, buffers, Math.min(copyGroups, 65535));
    const perMultiply = await fastest(multiply);
    const perCopy = await fastest(copy);
    const operations = 2 * 4 * chains * iterations * threads * workgroups;
    const moved = 2 * 16 * threads * Math.min(copyGroups, 65535);
    return { gflops: operations / perMultiply / 1e6, copyGigabytes: moved / perCopy / 1e6 };
  } finally {
    for (const buffer of buffers) buffer.destroy();
  }
}

const chainNames = Array.from({ length: chains }, (_, chain) => `c${chain}`);

const multiplyCode = `
@group(0) @binding(0) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> sink: array<vec4<f32>>;
@compute @workgroup_size(${threads})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  // Read from memory, so that nothing can be computed ahead.
  let factor = source[0] + 0.999f;
  let addend = source[1] + 0.001f;
  ${chainNames.map((name, chain) => `var ${name} = vec4<f32>(f32(id.x) + ${chain}f);`).join('\n  ')}
  for (var i = 0u; i < ${iterations}u; i++) {
    ${chainNames.map((name) => `${name} = fma(${name}, factor, addend);`).join('\n    ')}
  }
  sink[id.x] = ${chainNames.join(' + ')};
}`;

const copyCode = `
@group(0) @binding(0) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> sink: array<vec4<f32>>;
@compute @workgroup_size(${threads})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  sink[id.x] = source[id.x];
}`;

/** A function that puts `repeats` dispatches on the queue and waits for them. */
type Work = (repeats: number) => Promise<undefined>;

async function prepare(
  device: GPUDevice,
  code: string,
  buffers: readonly GPUBuffer[],
  workgroups: number,
): Promise<Work> {
  const module = device.createShaderModule({ code });
  const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module, entryPoint: 'main' } });
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  const bindGroup = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  return (repeats) => {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    for (let i = 0; i < repeats; i++) pass.dispatchWorkgroups(workgroups);
    pass.end();
    device.queue.submit([encoder.finish()]);
    return device.queue.onSubmittedWorkDone();
  };
}

/** Milliseconds of one dispatch, at best. */
async function fastest(work: Work): Promise<number> {
  const time = async (repeats: number): Promise<number> => {
    const start = performance.now();
    await work(repeats);
    return performance.now() - start;
  };
  await work(1);
  let repeats = 1;
  while (repeats < 4096 && (await time(repeats)) < leastMilliseconds) repeats *= 2;
  let best = Infinity;
  for (let round = 0; round < rounds; round++) best = Math.min(best, (await time(repeats)) / repeats);
  return best;
}
