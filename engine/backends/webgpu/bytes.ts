// Writing bytes into the middle of a word. WebGPU copies whole words only, so the first and last word of a run of bytes that
// does not fill them are merged on the device, in the order of the queue.

import { bufferUsage } from './flags.ts';

const code = `
struct Edge { word: u32, mask: u32, bits: u32 }
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<uniform> edge: Edge;
@compute @workgroup_size(1)
fn main() {
  words[edge.word] = (words[edge.word] & ~edge.mask) | (edge.bits & edge.mask);
}`;

export class ByteWriter {
  readonly #device: GPUDevice;
  readonly #edge: GPUBuffer;
  readonly #pipeline: GPUComputePipeline;
  readonly #bindGroups = new Map<GPUBuffer, GPUBindGroup>();

  constructor(device: GPUDevice) {
    this.#device = device;
    this.#edge = device.createBuffer({ size: 16, usage: bufferUsage.uniform | bufferUsage.copyTarget });
    const module = device.createShaderModule({ label: 'bytes', code });
    this.#pipeline = device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint: 'main' } });
  }

  /** Writes `bytes` (fewer than four) from byte `start` of a buffer on; they lie within one word. */
  writeEdge(buffer: GPUBuffer, start: number, bytes: Uint8Array): void {
    let mask = 0;
    let bits = 0;
    bytes.forEach((value, i) => {
      const shift = 8 * ((start + i) % 4);
      mask |= 0xff << shift;
      bits |= value << shift;
    });
    const device = this.#device;
    device.queue.writeBuffer(this.#edge, 0, Uint32Array.of(start >>> 2, mask, bits));
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(this.#pipeline);
    pass.setBindGroup(0, this.#bindGroup(buffer));
    pass.dispatchWorkgroups(1);
    pass.end();
    device.queue.submit([encoder.finish()]);
  }

  destroy(): void {
    this.#edge.destroy();
  }

  #bindGroup(buffer: GPUBuffer): GPUBindGroup {
    const known = this.#bindGroups.get(buffer);
    if (known) return known;
    const layout = this.#pipeline.getBindGroupLayout(0);
    const entries = [buffer, this.#edge].map((each, binding) => ({ binding, resource: { buffer: each } }));
    const made = this.#device.createBindGroup({ layout, entries });
    this.#bindGroups.set(buffer, made);
    return made;
  }
}
