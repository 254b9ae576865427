// The hardware lab of the window: measures in the processes that have the devices, while the runs of this app wait, and keeps what came
// of it. A lab that is cancelled ends its processes: whatever the device is doing.

import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { LabControl } from '../../engine/lab/control.ts';
import type { DeviceLab } from '../../engine/lab/host.ts';
import { labFileName, labText, largestLabFile, readLab } from '../../engine/lab/file.ts';
import { chooseTargets, measureMachine, type OpenLabHost } from '../../engine/lab/machine.ts';
import { roundMillisecondsOf, timeRaces, type RacingStep } from '../../engine/lab/race.ts';
import type { AppService } from '../../engine/protocol/app.ts';
import { InputError, TrainyardError } from '../../engine/protocol/errors.ts';
import type { LabProgress, LabRecord, LabTarget, RaceRequest, RaceTimes } from '../../engine/protocol/lab.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import type { RunHost } from '../../engine/runs/hosts.ts';
import type { RunManager } from '../../engine/runs/manager.ts';
import { othersNow } from '../../engine/system/others.ts';
import type { Alone } from './alone.ts';
import type { Devices } from './devices.ts';
import { saveThroughDialog, type Dialogs } from './saving.ts';
import type { ChosenPaths } from './paths.ts';

type LabProcess = Pick<RunHost, 'exited' | 'kill'> & { readonly lab: DeviceLab };

/** Times a step is timed on each device, and milliseconds of a point after which no further round begins. */
const [raceRounds, racePointMilliseconds] = [15, 6000];

export interface LabParts {
  readonly store: StoreService;
  readonly runs: Pick<RunManager, 'active'>;
  readonly alone: Alone;
  readonly processes: { startCpuHost(): Promise<LabProcess>; startGpuHost(): Promise<LabProcess> };
  readonly devices: Devices;
  readonly dialogs: Dialogs;
  readonly paths: ChosenPaths;
  /** As the system tells it; absent where nobody knows. */
  readonly onBattery?: () => boolean;
}

export type LabMethods = Pick<
  AppService,
  | 'measureLab'
  | 'labConditions'
  | 'timeRaces'
  | 'cancelLab'
  | 'labs'
  | 'lab'
  | 'deleteLab'
  | 'exportLab'
  | 'importLab'
  | 'onLabProgress'
  | 'onRace'
>;

export function createLab({ store, runs, alone, processes, devices, dialogs, paths, onBattery }: LabParts): LabMethods {
  const progress = new Listeners<LabProgress>();
  const races = new Listeners<{ races: readonly RaceTimes[]; points: number }>();

  const openHost = async (kind: LabTarget['kind']): Promise<OpenLabHost & { readonly host: DeviceLab }> => {
    const { lab, exited, kill } = await (kind === 'gpu' ? processes.startGpuHost() : processes.startCpuHost());
    return { host: lab, exited, kill };
  };

  const race = async (request: RaceRequest, control: LabControl): Promise<readonly RaceTimes[]> => {
    const { near, far, points, ...model } = request;
    const { shares } = chooseTargets(await devices.list());
    const targets = [near, far].map((id) => {
      const found = shares.find(({ target }) => target.id === id);
      // Beside a GPU the processor races as a run would train on it; beside one of its threads, with all of them.
      const asTrained = id === 'cpu' && [near, far].some((other) => other.startsWith('gpu'));
      if (found) return asTrained ? { ...found.target, asTrained } : found.target;
      throw new TrainyardError('device.unknown', `This machine has no device “${id}” now.`, 'Measure it again.');
    });
    const hosts = new Map<LabTarget['kind'], OpenLabHost & { readonly host: DeviceLab }>();
    try {
      for (const { kind } of targets) if (!hosts.has(kind)) hosts.set(kind, await openHost(kind));
      const opening = (target: LabTarget) => {
        const { host, exited } = hosts.get(target.kind)!;
        // Whatever the device is doing: a race that is cancelled and one whose process is gone end at once.
        const gone = exited.then((reason) => {
          throw new TrainyardError('device.lost', `${target.id} was lost: ${reason}.`, 'Time both devices again.');
        });
        gone.catch(() => undefined);
        const orGone = <T>(answer: Promise<T>): Promise<T> => Promise.race([answer, gone, control.cancellation]);
        return async ({ batch, model: layers }: RaceRequest['points'][number]): Promise<RacingStep> => {
          const { step } = await orGone(host.openStep({ target, ...model, batch, model: layers }));
          return {
            time: (units) => orGone(host.timeStep({ step, units })),
            close: () => orGone(host.closeStep({ step })),
          };
        };
      };
      return await timeRaces({
        points,
        open: [opening(targets[0]), opening(targets[1])],
        rounds: raceRounds,
        roundMilliseconds: roundMillisecondsOf(targets.map(({ kind }) => kind)),
        atMost: racePointMilliseconds,
        control,
        onProgress: (timed) => races.emit({ races: timed, points: points.length }),
      });
    } finally {
      for (const { kill } of hosts.values()) kill();
    }
  };

  const measure = async (seconds: number, control: LabControl): Promise<LabRecord> => {
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
    // Of a Linux machine its files told already, which know one without a battery; of others only the system does.
    const powerSource = result.machine.powerSource ?? (onBattery?.() ? 'battery' : undefined);
    const machine = powerSource ? { ...result.machine, powerSource } : result.machine;
    return store.addLab({ result: { ...result, machine }, imported: false });
  };

  return {
    measureLab: ({ seconds }) => alone.while('lab', (control) => measure(seconds, control)),
    async labConditions() {
      // Runs of the app would be counted, and pause for a lab.
      const busy = runs.active().length > 0 ? null : await othersNow();
      return { processors: os.availableParallelism(), busy, battery: onBattery?.() ?? false };
    },
    timeRaces: (request) => alone.while('crossover', (control) => race(request, control)),
    cancelLab: async () => alone.cancel(),
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
    onRace: (listener) => races.add(listener),
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
