// The GPU host: a hidden, sandboxed window whose page trains one run with WebGPU, linked to the data host. It is not slowed
// down for being hidden, and it goes with its run.

import { app, BrowserWindow, MessageChannelMain, type MessagePortMain } from 'electron';
import { hasGpuDevice, hasGpuDriver } from '../../engine/backends/webgpu/node.driver.ts';
import { electronPort } from '../../engine/protocol/port.electron.ts';
import type { DeviceService, SpeedService } from '../../engine/protocol/hosts.ts';
import type { ExaminerService } from '../../engine/protocol/checking.ts';
import type { DeviceLab } from '../../engine/lab/host.ts';
import { whenReady } from '../../engine/protocol/port.ready.ts';
import { connect } from '../../engine/protocol/rpc.ts';
import type { ProfilerService } from '../../engine/protocol/step-profile.ts';
import type { TrainerHost } from '../../engine/protocol/hosts.ts';
import type { RunHost } from '../../engine/runs/hosts.ts';
import { startMilliseconds, within } from '../../engine/runs/within.ts';
import type { Child } from './child.ts';
import { builtFile } from './folders.ts';
import { onConnect } from './links.ts';
import { lockedDown } from './lockdown.ts';
import { origin } from './pages.ts';

export interface GpuHost extends RunHost {
  readonly devices: DeviceService;
  readonly lab: DeviceLab;
  readonly speed: SpeedService;
  readonly examiner: ExaminerService;
  readonly profiler: ProfilerService;
  /** Hands the page one end of a channel to a process that it is to work for. */
  partner(end: MessagePortMain): void;
}

/**
 * Has to run before the app is ready. Chromium keeps WebGPU off on Linux unless asked. TRAINYARD_SOFTWARE_GPU=1 asks for the
 * software adapter that comes with Electron, for tests on machines without a GPU.
 */
export function enableWebGpu(): void {
  const software = process.env['TRAINYARD_SOFTWARE_GPU'] === '1';
  // Drawing in software from the start: without a device Chromium would only find that out by a failure.
  if (!software && !hasGpuDevice()) app.disableHardwareAcceleration();
  if (process.platform !== 'linux' || !(software || hasGpuDriver())) return;
  const { commandLine } = app;
  commandLine.appendSwitch('enable-unsafe-webgpu');
  commandLine.appendSwitch('enable-features', 'Vulkan');
  commandLine.appendSwitch('disable-vulkan-surface');
  if (!software) return;
  commandLine.appendSwitch('use-vulkan', 'swiftshader');
  commandLine.appendSwitch('use-webgpu-adapter', 'swiftshader');
  commandLine.appendSwitch('ignore-gpu-blocklist');
  // As under Node (engine/backends/webgpu/node.ts): without it, compiling kernels for SwiftShader takes seven times as long.
  commandLine.appendSwitch('disable-dawn-features', 'use_vulkan_zero_initialize_workgroup_memory_extension');
}

/** @param data  the data host, which gives the page its rows */
export async function startGpuHost(data: Child): Promise<GpuHost> {
  const window = new BrowserWindow({
    show: false,
    webPreferences: { ...lockedDown, preload: builtFile('electron', 'preload.cjs'), backgroundThrottling: false },
  });
  const contents = window.webContents;
  const exited = new Promise<string>((resolve) => {
    contents.once('render-process-gone', (_event, { reason }) => resolve(`its window ended (${reason})`));
    // A page that is led elsewhere trains nothing any more.
    const end = (): void => void setImmediate(() => window.isDestroyed() || window.destroy());
    contents.on('did-navigate', (_event, address) => {
      if (!address.startsWith(`${origin}/gpu/`)) end();
    });
    contents.on('did-fail-load', end);
    window.once('closed', () => resolve('its window was closed'));
  });
  const own = new MessageChannelMain();
  const rows = new MessageChannelMain();
  onConnect(contents, () => {
    data.link(rows.port1);
    contents.postMessage('trainyard:port', null, [own.port2, rows.port2]);
  });
  const peer = 'the GPU window';
  const port = electronPort(own.port1);
  const ready = whenReady(port, 'The GPU window');
  ready.catch(() => undefined);
  try {
    const loaded = window.loadURL(`${origin}/gpu/index.html`);
    await within(Promise.all([loaded, ready]), startMilliseconds, 'The GPU window');
  } catch (error) {
    if (!window.isDestroyed()) window.destroy();
    throw error;
  }
  return {
    host: connect<TrainerHost>(port, { peer }),
    devices: connect<DeviceService>(port, { peer, service: 'devices' }),
    lab: connect<DeviceLab>(port, { peer, service: 'lab' }),
    speed: connect<SpeedService>(port, { peer, service: 'speed' }),
    examiner: connect<ExaminerService>(port, { peer, service: 'examiner' }),
    profiler: connect<ProfilerService>(port, { peer, service: 'profiler' }),
    partner: (end) => contents.postMessage('trainyard:port', null, [end]),
    exited,
    kill: () => {
      if (!window.isDestroyed()) window.destroy();
    },
  };
}
