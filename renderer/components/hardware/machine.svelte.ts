// This machine as the views know it: its newest lab, how far one that is being measured has come, and what its training steps say of
// its roofs.

import type { AppState } from '../../app/state.svelte.ts';
import type { Failure } from '../../app/failure.ts';
import { failureOf, wasCancelled } from '../../app/failure.ts';
import type { Catalogue } from '../../../engine/hardware/catalogue/catalogue.ts';
import type { Factors } from '../../../engine/hardware/calibration.ts';
import { machineDevices, newestLab, type MachineDevice } from '../../../engine/hardware/machine.ts';
import type { LabDevice, LabProgress, LabResult } from '../../../engine/protocol/lab.ts';

/** Enough for a verdict; the Lab tab takes longer. */
const shortLab = 20;

export class Machine {
  lab: LabResult | null = $state.raw(null);
  progress: LabProgress | null = $state.raw(null);
  measuring: boolean = $state(false);
  failure: Failure | null = $state.raw(null);
  readonly #app: AppState;
  #factors: (device: LabDevice) => Factors | undefined = () => undefined;

  constructor(app: AppState) {
    this.#app = app;
  }

  /** Reads the newest lab of this machine. */
  async load(): Promise<void> {
    const lab = await newestLab(this.#app.service);
    // Only where there is something to calibrate: it brings the workloads of the benchmarks.
    if (lab) this.#factors = (await import('../../../engine/bench/calibrated.ts')).labFactors;
    this.lab = lab;
  }

  /** Measures for a short while and takes what comes of it; a failure stays in `failure`. */
  async measure(): Promise<boolean> {
    if (this.measuring) return false;
    this.measuring = true;
    this.failure = null;
    const stop = this.#app.service.onLabProgress((progress) => (this.progress = progress));
    try {
      await this.#app.service.measureLab({ seconds: shortLab });
      await this.load();
      return true;
    } catch (error) {
      if (!wasCancelled(error)) this.failure = failureOf(error);
      return false;
    } finally {
      stop();
      this.measuring = false;
      this.progress = null;
    }
  }

  cancel(): void {
    void this.#app.service.cancelLab();
  }

  /** `withSoftware`: adapters in software as well, named as such. */
  devices(catalogue: Catalogue, withSoftware = false): readonly MachineDevice[] {
    const gpu = this.#app.devices.find(({ kind, available, software }) => kind === 'gpu' && available && !software);
    const cpu = this.#app.devices.find(({ kind }) => kind === 'cpu');
    return machineDevices({
      lab: this.lab,
      cores: navigator.hardwareConcurrency,
      memoryBytes: this.lab?.machine.memoryBytes ?? cpu?.memoryBytes ?? 0,
      gpu: gpu?.name ?? null,
      catalogue,
      factors: this.#factors,
      withSoftware,
    });
  }
}
