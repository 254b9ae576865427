// The state of Roofline: which model, which device, which batch; the step taken apart; the crossover of the model, computed a batch at
// a time so that the window stays free.

import type { AppState } from '../../../app/state.svelte.ts';
import { failureOf } from '../../../app/failure.ts';
import { breathe } from '../../../lib/breathe.ts';
import { labFactors } from '../../../../engine/bench/calibrated.ts';
import { deviceByLab, isComplete } from '../../../../engine/hardware/calibration.ts';
import type { ModelCosts } from '../../../../engine/hardware/costs/costs.ts';
import type { Subject } from '../../../../engine/hardware/costs/familiar.ts';
import { costsOfModel } from '../../../../engine/hardware/costs/from-model.ts';
import {
  crossoverOf,
  forecastRace,
  raceBatches,
  timedRace,
  type Race,
  type TimedRace,
} from '../../../../engine/hardware/crossover-forecast.ts';
import type { Roof } from '../../../../engine/hardware/formulas/roofline.ts';
import type { TimedDevice } from '../../../../engine/hardware/time-forecast.ts';
import { readCatalogue } from '../../../../engine/hardware/catalogue/catalogue.ts';
import { unmeasuredRoofs, type UnmeasuredRoof } from '../../../../engine/hardware/machine.ts';
import { widened, widestOf } from '../../../../engine/hardware/costs/widen.ts';
import type { ModelSpec } from '../../../../engine/model/spec.ts';
import type { LabDevice, LabResult } from '../../../../engine/protocol/lab.ts';
import { labDesk, type LabDesk } from '../lab/desk.svelte.ts';
import { deviceWords } from '../../../../engine/protocol/lab.ts';
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
/** Sizes that are timed at most. */
const mostTimed = 9;
/** A step that takes longer than this is forecast alone. Seconds. */
const longestStep = 1;

/** How many times as wide a model is looked at. */
const widthFactors: readonly number[] = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16];

export type Varied = 'batch' | 'width';

/** Units of the widest layer at the widths that are looked at. */
function widthsOf({ model }: Subject): readonly number[] {
  const wide = model ? widestOf(model.spec) : 0;
  if (wide === 0) return [];
  return [...new Set(widthFactors.map((factor) => Math.round(wide * factor)))].filter((width) => width >= 1);
}

function costsByWidth({ model, batch }: Subject): (width: number) => ModelCosts {
  return (width) => {
    if (!model) throw new TypeError('a model that is not built here has no widths');
    const spec = widened(model.spec, width / (widestOf(model.spec) || 1));
    return costsOfModel({ ...model, spec, training: { ...model.training, batch } });
  };
}

export class RooflinePage {
  readonly desk: LabDesk;
  readonly choice: ModelChoice;
  factor: number = $state(2);
  deviceId: string = $state('');
  /** What the race varies. */
  vary: Varied = $state('batch');
  races: readonly Race[] = $state.raw([]);
  racing: boolean = $state(false);
  #turn = 0;

  readonly #app: AppState;

  constructor(app: AppState) {
    this.#app = app;
    this.desk = labDesk(app);
    this.choice = new ModelChoice(app);
  }

  /** What stands in where nothing was measured. */
  readonly unmeasured: readonly UnmeasuredRoof[] = $derived.by(() => {
    const gpu = this.#app.devices.find(({ kind, available, software }) => kind === 'gpu' && available && !software);
    const { catalogue } = readCatalogue();
    return unmeasuredRoofs({ cores: navigator.hardwareConcurrency, gpu: gpu?.name ?? null, catalogue });
  });

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
  /** Both can be timed: a model that this program builds, and the lab is of this machine. */
  readonly timeable: boolean = $derived.by(
    () =>
      this.racers !== null &&
      this.subject?.model !== undefined &&
      this.subject.model.input.kind !== 'columns' &&
      this.result === this.desk.mine?.result,
  );
  /** What was timed of this model, as its races are varied now. */
  readonly timed: readonly TimedRace[] = $derived.by(() =>
    (this.desk.timed.get(this.#raceKey) ?? []).map(({ at, near, far }) => timedRace(at, near, far)),
  );
  readonly #raceKey: string = $derived.by(() => {
    const { subject, racers, vary, choice, desk } = this;
    const { model, rows } = choice.kept;
    const ids = racers?.map(({ id }) => id).join();
    return [model, rows, vary, vary === 'width' ? subject?.batch : '', ids, desk.mine?.id].join(' ');
  });
  setBatch(batch: number): void {
    this.choice.change({ batch });
  }

  /** Times both racers where a step takes no longer than `longestStep`. */
  async time(): Promise<void> {
    const { subject, racers, vary } = this;
    const model = subject?.model;
    if (!subject || !racers || !model || model.input.kind === 'columns') return;
    const quick = this.races.filter(({ near, far }) => Math.max(near, far) <= longestStep);
    const after = quick.findIndex(({ batch }) => batch >= (this.crossover ?? 1));
    const from = Math.max(0, Math.min(quick.length - mostTimed, after - mostTimed + 3));
    const wide = widestOf(model.spec) || 1;
    const points = quick.slice(from, from + mostTimed).map(({ batch: at }) => ({
      at,
      batch: vary === 'batch' ? at : subject.batch,
      model: $state.snapshot(vary === 'batch' ? model.spec : widened(model.spec, at / wide)) as ModelSpec,
    }));
    const { name, learningRate, momentum } = model.training.optimizer;
    await this.desk.race(this.#raceKey, {
      near: racers[0].id,
      far: racers[1].id,
      input: $state.snapshot(model.input),
      classes: model.output.kind === 'classes' ? model.output.classes.length : 0,
      optimizer: { name, learningRate, momentum },
      points,
    });
  }

  /** Forecasts both racers at batches 1, 2, 4, …, and lets the window breathe between. */
  async race(): Promise<void> {
    const turn = ++this.#turn;
    const { subject, racers, vary } = this;
    this.races = [];
    this.racing = false;
    if (!subject || !racers) return;
    const [near, far] = racers;
    const costsAt = vary === 'batch' ? subject.costs : costsByWidth(subject);
    this.racing = true;
    const races: Race[] = [];
    for (const at of vary === 'batch' ? raceBatches(mostRaced) : widthsOf(subject)) {
      await breathe();
      if (turn !== this.#turn) return;
      try {
        races.push(...forecastRace(costsAt, near.timed, far.timed, [at]));
      } catch {
        // No plan can hold this batch, or the layers do not fit each other at this width. What is larger will not either.
        if (vary === 'batch') break;
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
