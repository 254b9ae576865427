// The state of Advise: needs (kept), model, thresholds (kept as a setting of the app, for the command line too), and what follows.

import type { AppState } from '../../../app/state.svelte.ts';
import { failureOf, type Failure } from '../../../app/failure.ts';
import { Machine } from '../../../components/hardware/machine.svelte.ts';
import { advise } from '../../../../engine/hardware/advice/advise.ts';
import { usualFirst, type Facts, type Needs, type Recommendation } from '../../../../engine/hardware/advice/facts.ts';
import { factHere, factsOf } from '../../../../engine/hardware/advice/from-forecast.ts';
import { readThresholds, thresholdsKey, withThresholds } from '../../../../engine/hardware/advice/rules.ts';
import { electricityOf } from '../../../../engine/hardware/bill.ts';
import { forecast, type Forecast } from '../../../../engine/hardware/forecast.ts';
import { energyCost } from '../../../../engine/hardware/formulas/energy.ts';
import { hoursPerWeek } from '../../../../engine/hardware/use.ts';
import { waitingOf, type Waiting } from '../../../../engine/hardware/waiting.ts';
import type { BilledRun } from '../../../../engine/protocol/bill.ts';
import { electricityKey, type Electricity } from '../../../../engine/settings/electricity.ts';
import { HardwareCatalogue } from '../catalogue.svelte.ts';
import { ModelChoice, runOf } from '../model/choice.svelte.ts';

/** As the form has them; null: not said. */
export interface KeptNeeds {
  readonly epochs: number;
  /** Hours. */
  readonly deadline: number | null;
  readonly budget: number | null;
  /** null: by the history. */
  readonly hoursPerWeek: number | null;
  readonly private: boolean;
  readonly interruptible: boolean;
  readonly first: NonNullable<Needs['first']>;
}

const usualNeeds: KeptNeeds = {
  epochs: 10,
  deadline: null,
  budget: null,
  hoursPerWeek: null,
  private: false,
  interruptible: false,
  first: usualFirst,
};
const key = 'hardware.needs';

/** Needs to begin with where there is no model yet. */
export const needPresets = [
  { label: 'A table of 10,000 rows', model: { model: 'small', rows: 10_000 }, needs: { epochs: 100 } },
  { label: 'Fine-tune a BERT', model: { model: 'bert-base', rows: 87_599 }, needs: { epochs: 3 } },
  { label: '100,000 pictures, ResNet-50', model: { model: 'resnet50', rows: 100_000 }, needs: { epochs: 90 } },
  { label: 'GPT-2 from nothing', model: { model: 'gpt2', rows: 976_563 }, needs: { epochs: 1 } },
] as const;

export class AdvisePage {
  readonly machine: Machine;
  readonly catalogue: HardwareCatalogue;
  readonly model: ModelChoice;
  needs: KeptNeeds = $state.raw(usualNeeds);
  changes: Readonly<Record<string, number>> = $state.raw({});
  electricity: Electricity = $state.raw(electricityOf(null));
  /** By the history; undefined: no run. */
  usedHours: number | undefined = $state(undefined);
  /** What all past runs have cost. */
  bills: readonly BilledRun[] = $state.raw([]);
  failure: Failure | null = $state.raw(null);
  ready: boolean = $state(false);
  readonly now = Date.now();
  readonly #app: AppState;

  constructor(app: AppState) {
    this.#app = app;
    this.machine = new Machine(app);
    this.catalogue = new HardwareCatalogue(app.service);
    this.model = new ModelChoice(app);
  }

  async load(): Promise<void> {
    const { preferences, service } = this.#app;
    const [needs, thresholds, electricity, bills] = await Promise.all([
      preferences.read(key, isKept, usualNeeds),
      service.getSetting({ key: thresholdsKey }),
      service.getSetting({ key: electricityKey }),
      service.bills(),
      this.machine.load(),
      this.catalogue.load(),
      this.model.load(),
    ]);
    this.needs = needs;
    this.changes = readThresholds(thresholds).changes;
    this.electricity = electricityOf(electricity);
    this.usedHours = hoursPerWeek(bills, this.now);
    this.bills = bills;
    this.ready = true;
  }

  /** What runs waited for: the one whose model is chosen, else all. */
  readonly waiting: Waiting | null = $derived.by(() => {
    return waitingOf(this.bills, this.now, runOf(this.model.kept.model) ?? undefined);
  });
  /** Of the model alone: it stays while needs and thresholds change. */
  readonly forecast: Forecast | null = $derived.by(() => {
    const { subject, kept } = this.model;
    if (!subject) return null;
    const { tariff, grid } = this.electricity;
    try {
      const catalogue = this.catalogue.value;
      const here = this.machine.devices(catalogue);
      const cores = navigator.hardwareConcurrency;
      return forecast(subject, { precision: kept.precision, catalogue, here, cores, tariff, grid });
    } catch {
      return null;
    }
  });
  readonly facts: Facts | null = $derived.by(() => {
    const { subject } = this.model;
    if (!this.forecast || !subject) return null;
    const { rows, batch } = subject;
    const { epochs } = this.needs;
    const catalogue = this.catalogue.value;
    const asked = {
      forecast: this.forecast,
      catalogue,
      epochs,
      rows,
      batch,
      costsAt: subject.costs,
      tariff: this.electricity.tariff,
      now: this.now,
      waiting: this.waiting,
    };
    const [cpu, gpu] = this.machine.devices(catalogue);
    return factsOf({ ...asked, cpu: factHere(cpu, asked), gpu: gpu && factHere(gpu, asked) });
  });
  readonly rules = $derived.by(() => withThresholds(this.changes));
  readonly all: readonly Recommendation[] = $derived.by(() => {
    if (!this.facts) return [];
    const { deadline, budget, hoursPerWeek: hours, private: secret, interruptible, first } = this.needs;
    const needs: Needs = {
      ...(deadline === null ? {} : { deadline: 3600 * deadline }),
      ...(budget === null ? {} : { budget }),
      ...((hours ?? this.usedHours) === undefined ? {} : { hoursPerWeek: hours ?? this.usedHours }),
      private: secret,
      interruptible,
      first,
    };
    return advise(needs, this.facts, this.rules);
  });
  readonly advised: readonly Recommendation[] = $derived(this.all.filter(({ advised }) => advised));
  readonly fired: ReadonlySet<string> = $derived(new Set(this.advised.map(({ rule }) => rule)));
  /** Devices not advised, by the reason they share. */
  readonly refused: readonly (readonly [reason: string, names: readonly string[]])[] = $derived.by(() => {
    const groups = new Map<string, string[]>();
    for (const { advised, reasons, title } of this.all) {
      if (advised) continue;
      const reason = reasons[0].text.replace(/: \d+ of them would hold it$/, '');
      groups.set(reason, [...(groups.get(reason) ?? []), title]);
    }
    return [...groups];
  });

  /** What it costs: rent or price, else electricity here. */
  moneyOf({ money, device, seconds }: Pick<Recommendation, 'money' | 'device' | 'seconds'>): number | null {
    if (money !== undefined) return money;
    const here = [this.facts?.cpu, this.facts?.gpu].find((fact) => fact?.id === device);
    if (!here?.watts || !seconds) return null;
    return energyCost((here.watts / 1000) * (seconds.middle / 3600), this.electricity.tariff);
  }

  nameOf(device: string | null): string {
    const { facts } = this;
    if (device === null || !facts) return '';
    return (
      [facts.cpu, ...(facts.gpu ? [facts.gpu] : []), ...facts.others].find(({ id }) => id === device)?.name ?? device
    );
  }

  need(change: Partial<KeptNeeds>): void {
    this.needs = { ...this.needs, ...change };
    this.#app.preferences.write(key, this.needs);
  }

  choose({ model, needs }: (typeof needPresets)[number]): void {
    this.model.change(model);
    this.need(needs);
  }

  /** null takes the change back. */
  async threshold(name: string, value: number | null): Promise<void> {
    const { [name]: _, ...others } = this.changes;
    await this.#keep(value === null ? others : { ...others, [name]: value });
  }

  reset(): Promise<void> {
    return this.#keep({});
  }

  async #keep(changes: Readonly<Record<string, number>>): Promise<void> {
    this.changes = changes;
    try {
      await this.#app.service.setSetting({ key: thresholdsKey, value: changes });
      this.failure = null;
    } catch (error) {
      this.failure = failureOf(error);
    }
  }
}

function isKept(value: unknown): value is KeptNeeds {
  if (typeof value !== 'object' || value === null) return false;
  const {
    epochs,
    deadline,
    budget,
    hoursPerWeek: hours,
    private: secret,
    interruptible,
    first,
  } = value as Partial<KeptNeeds>;
  const amount = (number: unknown): boolean => number === null || (typeof number === 'number' && number >= 0);
  return (
    Number.isInteger(epochs) &&
    (epochs as number) > 0 &&
    [deadline, budget, hours].every(amount) &&
    typeof secret === 'boolean' &&
    typeof interruptible === 'boolean' &&
    ['time', 'money', 'energy'].includes(first ?? '')
  );
}
