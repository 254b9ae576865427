// The page of the hidden GPU window: trains one run on the GPU, and says which adapters there are. It gets two ports from
// the main process, in one `trainyard:port` message: its own, over which it serves, and one to the data process for rows.

import { listGpuAdapters } from '../../engine/backends/webgpu/adapter.ts';
import { servePartner } from '../../engine/backends/together/partner.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { DeviceService, SpeedService } from '../../engine/protocol/hosts.ts';
import { domPort } from '../../engine/protocol/port.dom.ts';
import { announceReady } from '../../engine/protocol/port.ready.ts';
import { connect, serve } from '../../engine/protocol/rpc.ts';
import type { TrainerHost } from '../../engine/protocol/hosts.ts';
import type { DeviceLab } from '../../engine/lab/host.ts';
import type { ExaminerService } from '../../engine/protocol/checking.ts';
import type { ProfilerService } from '../../engine/protocol/step-profile.ts';
import { createGpuExaminer, createGpuHost, createGpuProfiler, createGpuSpeed, openTrustedGpu } from './host.ts';
import { createGpuLab } from './lab.ts';

/** WebGPU may be switched off: then the browser has no such property. */
const gpu = navigator.gpu as GPU | undefined;

async function start(): Promise<void> {
  const [own, link] = await receivePorts();
  const port = domPort(own);
  const rows = connect<Pick<DataService, 'readShard'>>(domPort(link), { peer: 'the data process' });
  serve<TrainerHost>(
    port,
    createGpuHost(gpu, (handle, shard) => rows.readShard({ handle, shard })),
  );
  serve<DeviceService>(port, { devices: () => listGpuAdapters(gpu) }, { service: 'devices' });
  serve<SpeedService>(port, createGpuSpeed(gpu), { service: 'speed' });
  serve<ExaminerService>(
    port,
    createGpuExaminer(gpu, (handle, shard) => rows.readShard({ handle, shard })),
    { service: 'examiner' },
  );
  serve<ProfilerService>(port, createGpuProfiler(gpu), { service: 'profiler' });
  serve<DeviceLab>(port, createGpuLab(gpu), { service: 'lab' });
  onPartner((partner) => servePartner(domPort(partner), () => openTrustedGpu(gpu)));
  announceReady(port);
}

/** Calls back with a port to a process that this GPU is to work for. */
function onPartner(listener: (port: MessagePort) => void): void {
  window.addEventListener('message', (event: MessageEvent<unknown>) => {
    if (event.source === window && event.data === 'trainyard:port' && event.ports.length === 1)
      listener(event.ports[0]);
  });
}

function receivePorts(): Promise<readonly MessagePort[]> {
  return new Promise((resolve) => {
    const receive = (event: MessageEvent<unknown>): void => {
      if (event.source !== window || event.data !== 'trainyard:port' || event.ports.length !== 2) return;
      window.removeEventListener('message', receive);
      resolve(event.ports);
    };
    window.addEventListener('message', receive);
  });
}

void start();
