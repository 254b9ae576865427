// This machine's devices as its newest lab has measured them, for forecasts.

import { deviceNamed } from '../../../engine/hardware/bill.ts';
import { deviceByLab, isComplete } from '../../../engine/hardware/calibration.ts';
import type { Catalogue } from '../../../engine/hardware/catalogue/catalogue.ts';
import { wattsPerThread } from '../../../engine/hardware/formulas/energy.ts';
import type { MachineDevice } from '../../../engine/hardware/machine.ts';
import type { AppService } from '../../../engine/protocol/app.ts';
import type { LabDevice, LabResult } from '../../../engine/protocol/lab.ts';

/** The newest lab of this machine; null = it has not been measured. */
export async function newestLab(service: AppService): Promise<LabResult | null> {
  const newest = (await service.labs()).find(({ imported }) => !imported);
  return newest ? (await service.lab({ lab: newest.id })).result : null;
}

/** The whole CPU and each GPU. What a driver's name says nothing about in the catalogue has no watts. */
export function devicesHere({ machine, devices }: LabResult, catalogue: Catalogue): readonly MachineDevice[] {
  const whole = (device: LabDevice): boolean => device.id === 'cpu' || device.kind === 'gpu';
  return devices
    .filter((device) => whole(device) && isComplete(device))
    .map((lab) => {
      const card = lab.kind === 'gpu' ? deviceNamed(catalogue, lab.name) : null;
      const onProcessor = lab.kind === 'cpu' || lab.software;
      return {
        id: lab.id,
        kind: lab.kind,
        name: `${lab.name}${lab.software ? ' (software)' : ''}`,
        timed: deviceByLab(lab),
        measured: true,
        memoryBytes: card?.memory ? 1e9 * card.memory.value : machine.memoryBytes,
        watts: onProcessor ? wattsPerThread * Math.max(1, lab.threads || machine.cores) : card?.power?.value,
      };
    });
}
