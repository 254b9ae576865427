// The lab of one process, as every host serves it: measures the devices that the process can open, one at a time.

import type { Backend } from '../backends/backend.ts';
import { TrainyardError } from '../protocol/errors.ts';
import type { LabHost, LabMachine, LabProgress, LabTarget, StepHost } from '../protocol/lab.ts';
import { Listeners } from '../protocol/listeners.ts';
import { LabControl, type LabSurroundings } from './control.ts';
import { measureDevice } from './device.ts';
import { createStepHost } from './steps.ts';

export interface LabHostOptions {
  /** Opens a device of this process with so many CPU threads, 0 = as many as pay. */
  readonly open: (target: LabTarget, threads: number) => Promise<Backend>;
  /** Threads of the CPU that count as all of them. */
  readonly threads: () => number;
  /** Bytes that may be allocated for measuring. */
  readonly memory: () => number;
  /** The machine; absent where the process cannot know it. */
  readonly machine?: () => LabMachine;
  readonly surroundings: LabSurroundings;
}

export type DeviceLab = LabHost & StepHost;

export function createLabHost(options: LabHostOptions): DeviceLab {
  const progress = new Listeners<LabProgress>();
  let control: LabControl | null = null;
  return {
    async measureLab({ target, seconds, calls }) {
      if (control !== null) throw new TrainyardError('device.busy', 'This process measures already.');
      control = new LabControl();
      try {
        const measured = await measureDevice({
          target,
          seconds,
          calls,
          control,
          open: (threads) => options.open(target, threads),
          threads: options.threads(),
          memory: options.memory(),
          surroundings: options.surroundings,
          onProgress: (event) => progress.emit(event),
        });
        const machine = options.machine?.();
        return machine ? { ...measured, machine } : measured;
      } finally {
        control = null;
      }
    },
    cancelLab: async () => control?.cancel(),
    onLabProgress: (listener) => progress.add(listener),
    // On as many threads as there are, where how many pay is what a race is to tell.
    ...createStepHost(
      (target) => options.open(target, target.asTrained ? 0 : target.threads || options.threads()),
      options.surroundings.clock,
    ),
  };
}
