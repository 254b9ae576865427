// Finds GPU adapters and opens devices, from `navigator.gpu` in a window or Dawn's in Node: which limits and features are
// asked for, how an adapter is named, and which ones are software.

import { TrainyardError } from '../../protocol/errors.ts';
import type { DeviceInfo } from '../../protocol/app.ts';

/** What an adapter says of itself. Any of the texts may be empty. */
export interface AdapterIdentity {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
  /** SwiftShader, llvmpipe and the like: the CPU in disguise. */
  readonly software: boolean;
}

/** An open device with what the backend needs to know of its adapter. */
export interface OpenedGpu {
  readonly device: GPUDevice;
  readonly adapter: AdapterIdentity;
  /** For people: "NVIDIA hopper", "SwiftShader". */
  readonly name: string;
  /** Subgroup operations and `subgroup_id` work. */
  readonly subgroups: boolean;
  /** Kernels may compute with 16-bit numbers: `shader-f16`. */
  readonly halfArithmetic: boolean;
}

/** Limits asked for as high as the adapter has them; all others stay at WebGPU's defaults. */
const raisedLimits = ['maxBufferSize', 'maxStorageBufferBindingSize', 'maxComputeWorkgroupStorageSize'] as const;
const wantedFeatures = ['subgroups', 'shader-f16', 'timestamp-query'] as const;
const softwareNames = /swiftshader|llvmpipe|lavapipe|softpipe|basic render|\bwarp\b/i;

/** The adapter's identity, also where only the older `requestAdapterInfo()` exists. */
export async function identify(adapter: GPUAdapter): Promise<AdapterIdentity> {
  const older = adapter as GPUAdapter & { requestAdapterInfo?: () => Promise<GPUAdapterInfo> };
  const info: GPUAdapterInfo = adapter.info ?? (await older.requestAdapterInfo?.());
  const { vendor = '', architecture = '', device = '', description = '' } = info ?? {};
  const texts = [vendor, architecture, device, description].join(' ');
  const software = info?.isFallbackAdapter === true || softwareNames.test(texts);
  return { vendor, architecture, device, description, software };
}

/** A name for people, from the texts that are there. */
export function nameOf(adapter: AdapterIdentity): string {
  const { vendor, architecture, device, description } = adapter;
  if (softwareNames.test(`${architecture} ${device}`)) return 'SwiftShader';
  // Vulkan's description is the driver with its version; the device's name comes as “nvidia-h200”.
  const named = device && driverVersion.test(description) ? device.split('-').map(properWord).join(' ') : '';
  return named || description || device || [vendor, architecture].filter(Boolean).join(' ') || 'GPU';
}

const driverVersion = /\d+\.\d+\.\d+/;
const brands: Readonly<Record<string, string>> = {
  geforce: 'GeForce',
  nvidia: 'NVIDIA',
  titan: 'TITAN',
  quadro: 'Quadro',
};

/** Words with digits and short ones are in capitals: "rtx", "h200", "amd". */
function properWord(word: string): string {
  if (brands[word] !== undefined) return brands[word];
  return /\d/.test(word) || word.length <= 3 ? word.toUpperCase() : `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`;
}

/** All that an adapter says of itself, as one key for what is remembered of it. */
export function identityKey({ vendor, architecture, device, description }: AdapterIdentity): string {
  return [vendor, architecture, device, description].filter(Boolean).join(' ');
}

/** Who the adapter is that `openGpu` opens. Throws `device.no_adapter` where there is none. */
export async function defaultAdapter(gpu: GPU | undefined): Promise<AdapterIdentity> {
  return identify((await requestDefault(gpu)).adapter);
}

async function requestDefault(gpu: GPU | undefined): Promise<{ readonly gpu: GPU; readonly adapter: GPUAdapter }> {
  const adapter = await gpu?.requestAdapter({ powerPreference: 'high-performance' });
  if (gpu && adapter) return { gpu, adapter };
  throw new TrainyardError(
    'device.no_adapter',
    'No GPU that WebGPU can use was found.',
    'Install or update the graphics driver (on Linux a Vulkan driver), or train on the CPU.',
  );
}

/**
 * Opens the adapter WebGPU offers first, the fast one where there are several.
 * Throws `device.no_adapter` where there is none.
 */
export async function openGpu(offered: GPU | undefined): Promise<OpenedGpu> {
  const { gpu, adapter } = await requestDefault(offered);
  return openAdapter(gpu, adapter);
}

/** Opens an adapter by its place in `listGpuAdapters`. Throws `device.no_adapter` where it is not there any more. */
export async function openListedGpu(gpu: GPU | undefined, place: number): Promise<OpenedGpu> {
  const adapter = (await distinctAdapters(gpu))[place]?.adapter;
  if (gpu && adapter) return openAdapter(gpu, adapter);
  throw new TrainyardError(
    'device.no_adapter',
    `GPU ${place + 1} of this machine is not there any more.`,
    'Look at the list of devices again.',
  );
}

async function openAdapter(gpu: GPU, adapter: GPUAdapter): Promise<OpenedGpu> {
  const identity = await identify(adapter);
  const limits = adapter.limits;
  const device = await adapter.requestDevice({
    requiredFeatures: wantedFeatures.filter((feature) => adapter.features.has(feature)) as GPUFeatureName[],
    requiredLimits: Object.fromEntries(raisedLimits.map((name) => [name, limits[name]])),
  });
  const subgroups = device.features.has('subgroups') && languageFeatures(gpu).has('subgroup_id');
  const halfArithmetic = device.features.has('shader-f16');
  return { device, adapter: identity, name: nameOf(identity), subgroups, halfArithmetic };
}

/** Every adapter that can be told apart, for the device list. */
export async function listGpuAdapters(gpu: GPU | undefined): Promise<readonly DeviceInfo[]> {
  return (await distinctAdapters(gpu)).map(({ info }) => info);
}

interface ListedAdapter {
  readonly adapter: GPUAdapter;
  readonly info: DeviceInfo;
}

async function distinctAdapters(gpu: GPU | undefined): Promise<readonly ListedAdapter[]> {
  const options: readonly GPURequestAdapterOptions[] = [
    { powerPreference: 'high-performance' },
    { powerPreference: 'low-power' },
    { forceFallbackAdapter: true },
  ];
  const found = new Map<string, ListedAdapter>();
  for (const option of options) {
    const adapter = await gpu?.requestAdapter(option).catch(() => null);
    if (!gpu || !adapter) continue;
    const info = await describeAdapter(gpu, adapter);
    if (!found.has(info.id)) found.set(info.id, { adapter, info });
  }
  return [...found.values()];
}

async function describeAdapter(gpu: GPU, adapter: GPUAdapter): Promise<DeviceInfo> {
  const identity = await identify(adapter);
  const { vendor, architecture, device, description, software } = identity;
  const { limits, features } = adapter;
  const facts: Record<string, string> = {
    Kind: software ? 'software: for testing' : 'hardware',
    Vendor: vendor,
    Architecture: architecture,
    Device: device,
    Description: description,
    'Largest buffer': bytes(limits.maxBufferSize),
    'Largest binding': bytes(limits.maxStorageBufferBindingSize),
    'Buffers a kernel': String(limits.maxStorageBuffersPerShaderStage),
    'Workgroup memory': bytes(limits.maxComputeWorkgroupStorageSize),
    'Threads a workgroup': String(limits.maxComputeInvocationsPerWorkgroup),
    'Workgroups a dimension': String(limits.maxComputeWorkgroupsPerDimension),
    Features: [...features].filter((feature) => usefulFeatures.has(feature)).join(', ') || 'none beyond the baseline',
    'Shading language': [...languageFeatures(gpu)].join(', '),
  };
  return {
    id: ['gpu', vendor, architecture, device].filter(Boolean).join(':'),
    kind: 'gpu',
    name: nameOf(identity),
    facts: Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== '')),
    software,
    available: true,
  };
}

/** Features that matter to training; the rest is about pictures. */
const usefulFeatures: ReadonlySet<string> = new Set([
  'shader-f16',
  'subgroups',
  'subgroup-size-control',
  'timestamp-query',
]);

const languageFeatures = (gpu: GPU): ReadonlySet<string> => new Set(gpu.wgslLanguageFeatures ?? []);

/** 1073741824 → "1 GiB". */
export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, count)) / 10)));
  return `${Number((count / 1024 ** power).toFixed(1))} ${units[power]}`;
}
