// `devices`: the CPU and every GPU adapter, with what they can do.

import type { DeviceInfo } from '../../../engine/protocol/app.ts';
import { cpuDevice } from '../../hosts/devices.ts';
import type { Command } from '../command.ts';
import { listGpus } from '../gpu.ts';

export const devices: Command = {
  name: 'devices',
  usage: '',
  summary: 'Lists the CPU and the GPUs of this machine.',
  positionals: [0, 0],
  options: {},
  run: async ({ output }) => {
    const found: readonly DeviceInfo[] = [cpuDevice(), ...(await listGpus())];
    for (const device of found) {
      output.event({ event: 'device', ...device });
      const mark = device.software ? ' (software: for testing)' : device.available ? '' : ' (not available)';
      output.line(`${device.kind.toUpperCase()}  ${device.name}${mark}`);
      if (device.reason) output.line(`     ${device.reason}`);
      for (const [name, value] of Object.entries(device.facts)) output.line(`     ${name}: ${value}`);
    }
    if (found.length === 1) output.line('GPU  none found: WebGPU sees no adapter here.');
  },
};
