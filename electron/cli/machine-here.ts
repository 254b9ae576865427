// This machine as forecasts on the command line see it: what its newest lab measured, else a guess from its cores.

import { availableParallelism } from 'node:os';
import { availableMemory } from '../../engine/system/cores.ts';
import { labFactors } from '../../engine/bench/calibrated.ts';
import type { Catalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import { machineDevices, type MachineDevice } from '../../engine/hardware/machine.ts';
import type { LabResult } from '../../engine/protocol/lab.ts';

/** The devices of this machine; the GPU where a lab has measured one. */
export function devicesHere(lab: LabResult | null, catalogue: Catalogue): readonly MachineDevice[] {
  return machineDevices({
    lab,
    cores: availableParallelism(),
    memoryBytes: availableMemory(),
    gpu: null,
    catalogue,
    factors: labFactors,
  });
}
