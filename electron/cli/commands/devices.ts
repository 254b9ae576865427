// `devices`: the CPU and every GPU adapter, with what they can do.

import { missingAddon } from '../../../engine/hardware/addon.ts';
import { newestLab } from '../../../engine/hardware/machine.ts';
import type { DeviceInfo } from '../../../engine/protocol/app.ts';
import { findTrust } from '../../../engine/train/trust.ts';
import { cpuDevice, selfTestFact } from '../../hosts/devices.ts';
import { about } from '../about.ts';
import type { Command } from '../command.ts';
import { gpuIsOfWindow, gpuTrust, listGpus } from '../gpu.ts';
import { homeFolder } from '../../../engine/system/home-folder.ts';

export const devices: Command = {
  ...about.devices,
  positionals: [0, 0],
  options: { check: { type: 'boolean', help: 'test now whether they compute what they should' } },
  run: async ({ options, output, services }) => {
    const check = options.check === true;
    const gpus = await listGpus();
    const found: readonly DeviceInfo[] = [
      await cpuDevice(homeFolder(), check),
      ...(check ? await Promise.all(gpus.map(checkedGpu)) : gpus),
    ];
    for (const device of found) {
      const missing = device.native === false ? missingAddon(await newestLab(await services.store)) : null;
      output.event({ event: 'device', ...device, ...(missing && { addonRatio: missing.ratio }) });
      const mark = device.software ? ' (software: for testing)' : device.available ? '' : ' (not available)';
      output.line(`${device.kind.toUpperCase()}  ${device.name}${mark}`);
      if (device.reason) output.line(`     ${device.reason}`);
      for (const [name, value] of Object.entries(device.facts)) output.line(`     ${name}: ${value}`);
      if (missing) output.line(`     ${missing.text}, ${missing.source}. ${device.nativeRemedy}`);
    }
    if (found.length > 1) return;
    output.line(
      gpuIsOfWindow ? 'GPU  looked for by the window alone.' : 'GPU  none found: WebGPU sees no adapter here.',
    );
  },
};

/** The adapter that would be trained on, with what the self-test says of it now; others as they are. */
async function checkedGpu(info: DeviceInfo, index: number): Promise<DeviceInfo> {
  if (index > 0) return info;
  const trust = await gpuTrust();
  return { ...info, facts: { ...info.facts, 'Self-test': selfTestFact(trust, await findTrust(trust, true)) } };
}
