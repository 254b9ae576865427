// The hardware lab of the window: measures in the processes that have the devices, while the runs of this app wait, and keeps what came
// of it. A lab that is cancelled ends its processes: whatever the device is doing.

import fs from 'node:fs/promises';
import path from 'node:path';
import { LabControl } from '../../engine/lab/control.ts';
import { labFileName, labText, largestLabFile, readLab } from '../../engine/lab/file.ts';
import { measureMachine, type OpenLabHost } from '../../engine/lab/machine.ts';
import { refuseRuns } from '../../engine/lab/runs.ts';
import type { AppService } from '../../engine/protocol/app.ts';
import { InputError, TrainyardError } from '../../engine/protocol/errors.ts';
import type { LabHost, LabProgress, LabRecord } from '../../engine/protocol/lab.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import type { RunHost } from '../../engine/runs/hosts.ts';
import type { RunManager } from '../../engine/runs/manager.ts';
import type { Devices } from './devices.ts';
import { saveThroughDialog, type Dialogs } from './saving.ts';
import type { ChosenPaths } from './paths.ts';

type LabProcess = Pick<RunHost, 'exited' | 'kill'> & { readonly lab: LabHost };

export interface LabParts {
  readonly store: StoreService;
  readonly runs: Pick<RunManager, 'active' | 'hold'>;
  readonly processes: { startCpuHost(): Promise<LabProcess>; startGpuHost(): Promise<LabProcess> };
  readonly devices: Devices;
  readonly dialogs: Dialogs;
  readonly paths: ChosenPaths;
}

export type LabMethods = Pick<
  AppService,
  'measureLab' | 'cancelLab' | 'labs' | 'lab' | 'deleteLab' | 'exportLab' | 'importLab' | 'onLabProgress'
>;

export function createLab({ store, runs, processes, devices, dialogs, paths }: LabParts): LabMethods {
  const progress = new Listeners<LabProgress>();
  let current: LabControl | null = null;

  const openHost = async (kind: 'cpu' | 'gpu'): Promise<OpenLabHost> => {
    const { lab, exited, kill } = await (kind === 'gpu' ? processes.startGpuHost() : processes.startCpuHost());
    return { host: lab, exited, kill };
  };

  const measure = async (seconds: number, control: LabControl): Promise<LabRecord> => {
    await refuseRuns(store, runs.active());
    const holding = runs.hold();
    try {
      await Promise.race([holding, control.cancellation]);
      const result = await measureMachine({
        seconds,
        openHost,
        devices: () => devices.list(),
        control,
        clock: () => performance.now(),
        now: () => Date.now(),
        onProgress: (event) => progress.emit(event),
      });
      control.check();
      return await store.addLab({ result, imported: false });
    } finally {
      // Also where the lab was cancelled before all had paused.
      void holding.then((release) => release());
    }
  };

  return {
    async measureLab({ seconds }) {
      if (current !== null) {
        throw new TrainyardError(
          'device.busy',
          'This machine is being measured already.',
          'Wait for its end, or cancel it.',
        );
      }
      current = new LabControl();
      try {
        return await measure(seconds, current);
      } finally {
        current = null;
      }
    },
    cancelLab: async () => current?.cancel(),
    labs: () => store.labs(),
    lab: (request) => store.lab(request),
    deleteLab: (request) => store.deleteLab(request),
    async exportLab({ lab }) {
      const { result } = await store.lab({ lab });
      const data = new TextEncoder().encode(labText(result));
      return { saved: await saveThroughDialog(dialogs, labFileName(result), data) };
    },
    async importLab({ token }) {
      const result = readLab(await readSmallFile(paths.resolve(token)), path.basename(paths.resolve(token)));
      return store.addLab({ result, imported: true });
    },
    onLabProgress: (listener) => progress.add(listener),
  };
}

async function readSmallFile(file: string): Promise<string> {
  const { size } = await fs.stat(file);
  if (size <= largestLabFile) return fs.readFile(file, 'utf8');
  throw new InputError(
    'input.lab',
    `${path.basename(file)} is no lab of Trainyard: it is too large.`,
    'Choose another file.',
  );
}
