// The state of Time and cost: the settings bar, the rows with their order, filter and pins, and own prices.

import type { AppState } from '../../../app/state.svelte.ts';
import { isStringList } from '../../../app/preferences.ts';
import { failureOf } from '../../../app/failure.ts';
import { electricityOf } from '../../../../engine/hardware/bill.ts';
import { staleText } from '../../../../engine/hardware/catalogue/figures.ts';
import { forecast, type DeviceForecast } from '../../../../engine/hardware/forecast.ts';
import type { MachineDevice } from '../../../../engine/hardware/machine.ts';
import { planMemory, type PlanMemory, type TextbookOptions } from '../../../../engine/hardware/memory-forecast.ts';
import { assumedUse, ownHours, useOf } from '../../../../engine/hardware/use.ts';
import { Machine } from '../../../components/hardware/machine.svelte.ts';
import { electricityKey, type Electricity } from '../../../../engine/settings/electricity.ts';
import { HardwareCatalogue } from '../catalogue.svelte.ts';
import { ModelChoice } from '../model/choice.svelte.ts';
import {
  costRows,
  filtered,
  frontier,
  noFilter,
  sortedBy,
  type CostRow,
  type RowFilter,
  type SortKey,
} from './rows.ts';

interface Bar {
  readonly epochs: number;
  readonly years: number;
  /** null: by the runs. */
  readonly hoursPerWeek: number | null;
}

const usualBar: Bar = { epochs: 90, years: 3, hoursPerWeek: null };
const usualPins = ['h100-sxm/buy', 'rtx-4090/buy', 'openrelay-rtx-4090/rent'];

export class CostPage {
  readonly catalogue: HardwareCatalogue;
  readonly model: ModelChoice;
  readonly machine: Machine;
  bar: Bar = $state.raw(usualBar);
  electricity: Electricity = $state.raw(electricityOf(null));
  pins: readonly string[] = $state.raw(usualPins);
  filter: RowFilter = $state.raw(noFilter);
  sort: { readonly by: SortKey; readonly descending: boolean } = $state.raw({ by: 'training', descending: false });
  /** The row in hand, by id. */
  current: string | null = $state(null);
  /** Why an own price was not kept. */
  refused: string = $state('');
  ready: boolean = $state(false);
  readonly now = Date.now();
  #usedHours: number = $state(assumedUse);
  readonly #app: AppState;

  constructor(app: AppState) {
    this.#app = app;
    this.catalogue = new HardwareCatalogue(app.service);
    this.model = new ModelChoice(app);
    this.machine = new Machine(app);
  }

  async load(): Promise<void> {
    const { preferences, service } = this.#app;
    const [bar, pins, electricity, bills] = await Promise.all([
      preferences.read('hardware.bar', isBar, usualBar),
      preferences.read('hardware.pins', isStringList, usualPins),
      service.getSetting({ key: electricityKey }),
      service.bills(),
      this.machine.load(),
      this.catalogue.load(),
      this.model.load(),
    ]);
    this.bar = bar;
    this.pins = pins;
    this.electricity = electricityOf(electricity);
    this.#usedHours = ownHours(useOf(bills, this.now));
    this.ready = true;
  }

  readonly hoursPerWeek: number = $derived.by(() => this.bar.hoursPerWeek ?? this.#usedHours);
  readonly here: readonly MachineDevice[] = $derived.by(() =>
    this.ready ? this.machine.devices(this.catalogue.value, true) : [],
  );
  /** What this program's plan takes here: that of the Memory tab and the advice. Of the model alone: prices change nothing of it. */
  readonly #own: PlanMemory | undefined = $derived.by(() => {
    const { subject } = this.model;
    if (!this.ready || !subject?.model) return undefined;
    const cores = navigator.hardwareConcurrency;
    try {
      return planMemory(subject.model, { train: subject.rows, validation: 0, test: 0 }, { kind: 'cpu', cores }).memory;
    } catch {
      // The forecast says why it cannot be planned.
      return undefined;
    }
  });
  /** What the forecast says, or why there is none. */
  readonly forecast: { readonly devices: readonly DeviceForecast[]; readonly problem: string } = $derived.by(() => {
    const { subject, problem, kept } = this.model;
    if (!this.ready || subject === null) return { devices: [], problem };
    try {
      const { model: _plan, ...light } = subject;
      const { devices } = forecast(light, {
        precision: kept.precision,
        catalogue: this.catalogue.value,
        here: this.here,
        own: this.#own,
        tariff: this.electricity.tariff,
        grid: this.electricity.grid,
      });
      return { devices, problem: '' };
    } catch (error) {
      const { message, hint } = failureOf(error);
      return { devices: [], problem: `${message} ${hint}` };
    }
  });
  readonly rows: readonly CostRow[] = $derived.by(() => {
    const { subject, kept } = this.model;
    if (subject === null) return [];
    const options: TextbookOptions = {
      precision: kept.precision,
      optimizer: subject.optimizer.startsWith('adam') ? 'adam' : 'momentum',
    };
    return costRows(
      this.forecast.devices,
      this.catalogue.value,
      {
        epochs: this.bar.epochs,
        tariff: this.electricity.tariff,
        years: this.bar.years,
        hoursPerWeek: this.hoursPerWeek,
      },
      { costs: subject.costs, options },
    );
  });
  readonly shown: readonly CostRow[] = $derived.by(() =>
    sortedBy(filtered(this.rows, this.filter, this.now), this.sort.by, this.sort.descending),
  );
  readonly frontier: readonly CostRow[] = $derived.by(() => frontier(this.shown));
  readonly pinned: readonly CostRow[] = $derived.by(() =>
    sortedBy(
      this.rows.filter(({ id, kind }) => this.pins.includes(id) || kind === 'here'),
      'training',
      false,
    ),
  );
  readonly vendors: readonly string[] = $derived.by(() =>
    [...new Set(this.rows.map(({ vendor }) => vendor).filter((vendor) => vendor !== ''))].sort(),
  );
  readonly stale: string = $derived.by(() =>
    staleText(
      this.rows.flatMap(({ price }) => price ?? []),
      this.now,
    ),
  );
  readonly filters: number = $derived.by(
    () => Object.entries(noFilter).filter(([name, value]) => this.filter[name as keyof RowFilter] !== value).length,
  );

  setBar(change: Partial<Bar>): void {
    this.bar = { ...this.bar, ...change };
    this.#app.preferences.write('hardware.bar', this.bar);
  }

  setElectricity(change: Partial<Electricity>): void {
    this.electricity = { ...this.electricity, ...change };
    void this.#app.service.setSetting({ key: electricityKey, value: this.electricity });
  }

  sortBy(by: SortKey): void {
    this.sort = { by, descending: this.sort.by === by && !this.sort.descending };
  }

  togglePin(id: string): void {
    this.pins = this.pins.includes(id) ? this.pins.filter((other) => other !== id) : [...this.pins, id];
    this.#app.preferences.write('hardware.pins', this.pins);
  }

  /** null takes the own price back. */
  async setPrice({ edits }: CostRow, value: number | null): Promise<void> {
    if (edits === null) return;
    try {
      await this.catalogue.setPrice({ ...edits, value });
      this.refused = '';
    } catch (error) {
      const { message, hint } = failureOf(error);
      this.refused = `${message} ${hint}`;
    }
  }
}

function isBar(value: unknown): value is Bar {
  if (typeof value !== 'object' || value === null) return false;
  const { epochs, years, hoursPerWeek } = value as Partial<Bar>;
  const positive = (number: unknown): boolean => typeof number === 'number' && number > 0 && number < 1e9;
  return positive(epochs) && positive(years) && (hoursPerWeek === null || positive(hoursPerWeek));
}
