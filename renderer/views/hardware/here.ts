// This machine's devices as its newest lab has measured them, for forecasts.

import { deviceNamed } from '../../../engine/hardware/bill.ts';
import type { Catalogue } from '../../../engine/hardware/catalogue/catalogue.ts';
import type { MeasuredDevice } from '../../../engine/hardware/forecast.ts';
import { wattsPerThread } from '../../../engine/hardware/formulas/energy.ts';
import type { AppService } from '../../../engine/protocol/app.ts';
import type { LabDevice, LabResult } from '../../../engine/protocol/lab.ts';

/** The newest lab of this machine; null = it has not been measured. */
export async function newestLab(service: AppService): Promise<LabResult | null> {
  const newest = (await service.labs()).find(({ imported }) => !imported);
  return newest ? (await service.lab({ lab: newest.id })).result : null;
}

/** The whole CPU and each GPU. What a driver's name says nothing about in the catalogue has no watts. */
export function devicesHere({ machine, devices }: LabResult, catalogue: Catalogue): readonly MeasuredDevice[] {
  const whole = (device: LabDevice): boolean => device.id === 'cpu' || device.kind === 'gpu';
  return devices.filter(whole).map((lab) => {
    const card = lab.kind === 'gpu' ? deviceNamed(catalogue, lab.name) : null;
    const onProcessor = lab.kind === 'cpu' || lab.software;
    return {
      lab,
      memoryBytes: card?.memory ? 1e9 * card.memory.value : machine.memoryBytes,
      watts: onProcessor ? wattsPerThread * Math.max(1, lab.threads || machine.cores) : (card?.power?.value ?? NaN),
    };
  });
}
