// How adapters are named and told apart, where SwiftShader is looked for, and the small pieces of WGSL that can be checked
// without a device.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { bytes, identify, listGpuAdapters, nameOf, openGpu } from '../../engine/backends/webgpu/adapter.ts';
import { openNodeGpu, swiftshaderFolder } from '../../engine/backends/webgpu/node.ts';
import { fileTuning } from '../../engine/backends/webgpu/node.tuning.ts';
import { gpu as attention } from '../../kernels/attention/gpu.ts';
import { gpu as attentionGrad } from '../../kernels/attention_grad/gpu.ts';
import { float, foldedGrid } from '../../kernels/gpu-wgsl.ts';
import { missingGpu } from '../support/webgpu.ts';

const skip = await missingGpu();

/** An adapter that says this of itself; `older` as browsers had it before `adapter.info`. */
function adapter(info: Partial<GPUAdapterInfo>, older = false): GPUAdapter {
  const asked = older ? { requestAdapterInfo: async () => info } : { info };
  return asked as unknown as GPUAdapter;
}

test('software adapters are known by their names', async () => {
  for (const info of [
    { vendor: 'google', architecture: 'swiftshader' },
    { vendor: 'mesa', description: 'llvmpipe (LLVM 15.0.6, 256 bits)' },
    { vendor: 'microsoft', device: 'Microsoft Basic Render Driver' },
    { vendor: 'unknown', isFallbackAdapter: true },
  ]) {
    assert.equal((await identify(adapter(info))).software, true, JSON.stringify(info));
    assert.equal((await identify(adapter(info, true))).software, true, 'asked the older way');
  }
  const hardware = await identify(adapter({ vendor: 'nvidia', architecture: 'hopper', description: 'NVIDIA H200' }));
  assert.equal(hardware.software, false);
  assert.equal(nameOf(hardware), 'NVIDIA H200');
});

test('an adapter is named by what it tells', async () => {
  const name = async (info: Partial<GPUAdapterInfo>): Promise<string> => nameOf(await identify(adapter(info)));
  assert.equal(await name({ vendor: 'apple', architecture: 'metal-3' }), 'apple metal-3');
  assert.equal(await name({ device: '0x2684' }), '0x2684');
  assert.equal(await name({}), 'GPU');
  const driver = 'NVIDIA: 580.159.04 580.159.4.0';
  assert.equal(await name({ vendor: 'nvidia', device: 'nvidia-h200', description: driver }), 'NVIDIA H200');
  assert.equal(await name({ device: 'nvidia-geforce-rtx-4090', description: driver }), 'NVIDIA GeForce RTX 4090');
  assert.equal(await name({ architecture: 'swiftshader', description: 'SwiftShader driver 5.0.0' }), 'SwiftShader');
});

test('no adapter is a clear error, and an empty list', async () => {
  const none = { requestAdapter: async () => null, wgslLanguageFeatures: new Set() } as unknown as GPU;
  await assert.rejects(openGpu(none), { code: 'device.no_adapter', hint: /graphics driver/ });
  await assert.rejects(openGpu(undefined), { code: 'device.no_adapter' });
  assert.deepEqual(await listGpuAdapters(none), []);
  assert.deepEqual(await listGpuAdapters(undefined), []);
});

const notLinux = process.platform !== 'linux' && 'SwiftShader can be chosen on Linux only';
test('the list tells adapters apart and says what they are', { skip: skip || notLinux }, async () => {
  const adapters = await listGpuAdapters(await openNodeGpu({ prefer: 'software' }));
  assert.equal(adapters.length, 1, 'the same adapter under three names counts once');
  const [{ kind, name, software, available, facts }] = adapters;
  assert.deepEqual(
    { kind, name, software, available },
    { kind: 'gpu', name: 'SwiftShader', software: true, available: true },
  );
  assert.equal(facts.Kind, 'software: for testing');
  assert.match(facts['Largest buffer'], /^\d+(\.\d)? (MiB|GiB)$/);
});

test('SwiftShader is found in a named folder only if its driver is there', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-swiftshader-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  assert.notEqual(swiftshaderFolder({ swiftshader: folder }), folder);
  fs.writeFileSync(path.join(folder, 'vk_swiftshader_icd.json'), '{}');
  assert.equal(swiftshaderFolder({ swiftshader: folder }), folder);
});

test('measured choices outlive the process; a broken file counts as none', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-tuning-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'home', 'gpu-tuning.json');
  fileTuning(file).set('a product', '64x64');
  assert.equal(fileTuning(file).get('a product'), '64x64');
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['gpu-tuning.json']);
  fs.writeFileSync(file, '{"a product": 3');
  assert.equal(fileTuning(file).get('a product'), undefined);
});

test('sizes are for people', () => {
  assert.deepEqual([0, 512, 1536, 2 ** 30, 5.5 * 2 ** 40].map(bytes), ['0 B', '512 B', '1.5 KiB', '1 GiB', '5.5 TiB']);
});

test('literals have the bits of float32', () => {
  assert.equal(float(0.1), '0.10000000149011612f');
  assert.equal(float(-2), '(-2f)');
  assert.equal(float(1e-8), `${Math.fround(1e-8)}f`);
  assert.throws(() => float(Infinity), /no literal/);
});

test('a grid too long for one dimension is folded', () => {
  const limits = {
    maxComputeWorkgroupsPerDimension: 10,
    maxComputeInvocationsPerWorkgroup: 256,
    maxComputeWorkgroupStorageSize: 16384,
  };
  assert.deepEqual(foldedGrid(7, limits).workgroups, [7, 1, 1]);
  assert.deepEqual(foldedGrid(25, limits).workgroups, [10, 3, 1]);
  assert.deepEqual(foldedGrid(101, limits).workgroups, [10, 10, 2]);
});

/** Bytes of the arrays in workgroup memory that WGSL declares, of `V` and of vec2<f32>. */
function workgroupBytes(code: string): number {
  const valueBytes = code.includes('alias V = vec4<f32>') ? 16 : 4;
  const constant = (name: string): number => Number(new RegExp(`const ${name} = (\\d+)u;`).exec(code)![1]);
  return [...code.matchAll(/var<workgroup> \w+: array<(V|vec2<f32>), (.+)>;/g)].reduce((sum, [, type, count]) => {
    const elements = count.split(' * ').reduce((product, name) => product * constant(name), 1);
    return sum + elements * (type === 'V' ? valueBytes : 8);
  }, 0);
}

test('attention takes no more workgroup memory than every device offers', () => {
  const limits = {
    maxComputeWorkgroupsPerDimension: 65_535,
    maxComputeInvocationsPerWorkgroup: 256,
    maxComputeWorkgroupStorageSize: 16_384,
  };
  const context = { limits, subgroups: false, halfArithmetic: false, halves: new Set<string>(), has: () => true };
  for (const size of [1, 12, 31, 32, 33, 64, 130, 256]) {
    const params = {
      batch: 1,
      length: 70,
      heads: 2,
      groups: 1,
      size,
      causal: 0,
      scale: 1,
      rate: 0.1,
      seed: 3,
      stream: 4,
    };
    const tiled = [attention, attentionGrad]
      .flatMap((gpu) => gpu.passes(params, context))
      .filter(({ code }) => code.includes('var<workgroup>'));
    assert.equal(tiled.length, 3);
    for (const { label, code } of tiled) {
      const taken = workgroupBytes(code);
      assert.ok(
        taken > 0 && taken <= limits.maxComputeWorkgroupStorageSize,
        `${label}, ${size} values: ${taken} bytes`,
      );
    }
  }
});
