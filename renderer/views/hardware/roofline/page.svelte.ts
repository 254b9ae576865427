// The state of Roofline: which model, which device, which batch; the step taken apart; the crossover of the model, computed a batch at
// a time so that the window stays free.

import type { AppState } from '../../../app/state.svelte.ts';
import { failureOf } from '../../../app/failure.ts';
import { labFactors } from '../../../../engine/bench/calibrated.ts';
import { deviceByLab, isComplete } from '../../../../engine/hardware/calibration.ts';
import type { Subject } from '../../../../engine/hardware/costs/familiar.ts';
import { crossoverOf, forecastRace, raceBatches, type Race } from '../../../../engine/hardware/crossover-forecast.ts';
import type { Roof } from '../../../../engine/hardware/formulas/roofline.ts';
import type { TimedDevice } from '../../../../engine/hardware/time-forecast.ts';
import type { LabDevice, LabResult } from '../../../../engine/protocol/lab.ts';
import { labDesk, type LabDesk } from '../lab/desk.svelte.ts';
import { deviceWords } from '../lab/reading.ts';
import { ModelChoice } from '../model/choice.svelte.ts';
import { roofOf, stepApart, stepWords } from './parts.ts';

export interface RoofDevice {
  readonly id: string;
  readonly words: string;
  readonly lab: LabDevice;
  readonly timed: TimedDevice;
  readonly roof: Roof;
}

const mostRaced = 512;

export class RooflinePage {
  readonly desk: LabDesk;
  readonly choice: ModelChoice;
  factor: number = $state(2);
  deviceId: string = $state('');
  races: readonly Race[] = $state.raw([]);
  racing: boolean = $state(false);
  #turn = 0;

  constructor(app: AppState) {
    this.desk = labDesk(app);
    this.choice = new ModelChoice(app);
  }

  async load(): Promise<void> {
    await Promise.all([this.choice.load(), this.desk.load()]);
  }

  /** The lab of this machine; where it has none, the one that lies beside. */
  readonly result: LabResult | null = $derived.by(() => this.desk.mine?.result ?? this.desk.beside?.result ?? null);
  readonly devices: readonly RoofDevice[] = $derived.by(() =>
    (this.result?.devices ?? []).filter(isComplete).map((lab) => ({
      id: lab.id,
      words: deviceWords(lab),
      lab,
      timed: deviceByLab(lab, labFactors(lab)),
      roof: roofOf(lab),
    })),
  );
  /** The GPU of hardware before the CPU, where none is chosen. */
  readonly device: RoofDevice | null = $derived.by(
    () =>
      this.devices.find(({ id }) => id === this.deviceId) ??
      this.devices.find(({ lab }) => lab.kind === 'gpu' && !lab.software) ??
      this.devices[0] ??
      null,
  );
  readonly subject: Subject | null = $derived.by(() => this.choice.subject);
  readonly atBatch: number = $derived.by(() => this.subject?.batch ?? 1);
  readonly step = $derived.by(() => this.#apart(this.atBatch));
  readonly other = $derived.by(() => this.#apart(Math.max(1, Math.round(this.atBatch * this.factor))));
  /** Why there is no step to show; '' = there is. */
  readonly problem: string = $derived.by(() => {
    const { subject, choice } = this;
    if (choice.problem !== '' || !subject) return choice.problem;
    try {
      subject.costs(subject.batch);
      return '';
    } catch (error) {
      const { message, hint } = failureOf(error);
      return `${message} ${hint}`;
    }
  });
  readonly words = $derived.by(() => {
    const { step, other, device } = this;
    return step && other && device
      ? stepWords(step, other, device.lab.kind === 'gpu' ? 'GPU' : 'CPU', device.roof)
      : null;
  });
  /** The two that race: quick to start, and the one that computes faster. */
  readonly racers: readonly [near: RoofDevice, far: RoofDevice] | null = $derived.by(() => {
    const named = (id: string): RoofDevice | undefined => this.devices.find((one) => one.id === id);
    const gpu = this.devices.find(({ lab }) => lab.kind === 'gpu' && !lab.software);
    const [near, far] = gpu ? [named('cpu'), gpu] : [named('cpu-1'), named('cpu')];
    return near && far ? [near, far] : null;
  });
  readonly crossover: number | null = $derived.by(() => crossoverOf(this.races).batch);
  setBatch(batch: number): void {
    this.choice.change({ batch });
  }

  /** Forecasts both racers at batches 1, 2, 4, …, and lets the window breathe between. */
  async race(): Promise<void> {
    const turn = ++this.#turn;
    const { subject, racers } = this;
    this.races = [];
    if (!subject || !racers) return;
    const [near, far] = racers;
    this.racing = true;
    const races: Race[] = [];
    for (const batch of raceBatches(mostRaced)) {
      await new Promise((resolve) => setTimeout(resolve));
      if (turn !== this.#turn) return;
      try {
        races.push(...forecastRace(subject.costs, near.timed, far.timed, [batch]));
      } catch {
        // Beyond this batch no plan can hold the model.
        break;
      }
    }
    this.races = races;
    this.racing = false;
  }

  #apart(batch: number) {
    const { subject, device } = this;
    if (!subject || !device) return null;
    try {
      return stepApart(subject.costs(batch), device.timed, device.roof);
    } catch {
      // Too large to plan: of the batch that was asked for the page says so, and a larger one is only compared with.
      return null;
    }
  }
}
