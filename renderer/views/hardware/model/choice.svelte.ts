// The model that Time and cost and Memory are about: a familiar one, a preset, or that of a run; its batch, rows and precision. Kept
// between visits and shared by the tabs.

import { subjectNamed, subjectOf, type Asked, type Subject } from '../../../../engine/hardware/costs/familiar.ts';
import type { ModelCosts } from '../../../../engine/hardware/costs/costs.ts';
import { forecastBatches } from '../../../../engine/hardware/memory-forecast.ts';
import { presets } from '../../../../engine/model/presets.ts';
import { isNetwork } from '../../../../engine/learners/network/declaration.ts';
import type { RecordField } from '../../../../engine/protocol/store.ts';
import type { RunRecord } from '../../../../engine/protocol/runs.ts';
import { InputError } from '../../../../engine/protocol/errors.ts';
import type { DatasetShape } from '../../../../engine/protocol/app.ts';
import { failureOf } from '../../../app/failure.ts';
import type { AppState } from '../../../app/state.svelte.ts';
import { breathe } from '../../../lib/breathe.ts';

const familiar = {
  resnet50: 'ResNet-50, 224 px',
  resnet18: 'ResNet-18, 224 px',
  'bert-base': 'BERT-base, 512 tokens',
  'bert-large': 'BERT-large, 512 tokens',
  gpt2: 'GPT-2 small, 1,024 tokens',
  gpt3: 'GPT-3, 2,048 tokens',
} as const;

export type Precision = 'float32' | 'mixed16';

interface Kept {
  /** `resnet50`, a preset's name, or `run 42`. */
  readonly model: string;
  /** null: as usual for the model. */
  readonly batch: number | null;
  readonly rows: number | null;
  readonly precision: Precision;
}

const first: Kept = { model: 'resnet50', batch: null, rows: null, precision: 'mixed16' };
const key = 'hardware.model';
/** Finished runs that are offered. */
const runsOffered = 20;
/** What is asked of each. */
const fields = ['id', 'name', 'config', 'data'] as const satisfies readonly RecordField[];
type OfferedRun = Pick<RunRecord, (typeof fields)[number]>;

/** Costs by model and rows, then by batch: what was planned once in a window is kept. */
const planned = new WeakMap<AppState, Map<string, Map<number, ModelCosts>>>();

export class ModelChoice {
  kept: Kept = $state.raw(first);
  runs: readonly OfferedRun[] = $state.raw([]);
  subject: Subject | null = $state.raw(null);
  /** Why there is no subject. */
  problem: string = $state('');
  /** The costs of what was chosen last are being planned; `subject` is still what was chosen before. */
  planning: boolean = $state(false);
  readonly #app: AppState;
  readonly #shapes = new Map<number, DatasetShape>();
  #loaded = false;
  /** Chosen before it was known what is kept. */
  #early: Partial<Kept> | null = null;

  constructor(app: AppState) {
    this.#app = app;
  }

  async load(): Promise<void> {
    const [kept, { runs }] = await Promise.all([
      this.#app.preferences.read(key, isKept, first),
      this.#app.service.runs({
        states: ['completed', 'stopped'],
        sort: { by: 'endedAt', descending: true },
        limit: runsOffered,
        fields,
      }),
    ]);
    this.runs = runs.filter(({ config }) => isNetwork(config));
    this.kept = kept;
    this.#loaded = true;
    if (this.#early) this.change(this.#early);
    else await this.#follow();
  }

  readonly options: readonly { readonly value: string; readonly label: string }[] = $derived.by(() => [
    ...Object.entries(familiar).map(([value, label]) => ({ value, label })),
    ...presets
      .filter(({ name }) => !Object.hasOwn(familiar, name))
      .map(({ name, title, input }) => ({
        value: name,
        label: `${title}, ${{ image: '32 px', table: '20 columns', text: '128 tokens' }[input]}`,
      })),
    ...this.runs.map(({ id, name }) => ({ value: `run ${id}`, label: `Run: ${name}` })),
  ]);
  readonly label: string = $derived(this.options.find(({ value }) => value === this.kept.model)?.label ?? '');

  change(change: Partial<Kept>): void {
    const other = change.model !== undefined && change.model !== this.kept.model;
    this.kept = { ...this.kept, ...(other ? { batch: null, rows: null } : {}), ...change };
    if (this.#loaded) this.#app.preferences.write(key, this.kept);
    else this.#early = { ...this.#early, ...change };
    void this.#follow();
  }

  async #follow(): Promise<void> {
    const { kept } = this;
    this.planning = true;
    try {
      const subject = await this.#subjectOf(kept);
      await this.#planAhead(subject, kept);
      if (this.kept !== kept) return;
      this.subject = subject;
      this.problem = '';
    } catch (error) {
      if (this.kept !== kept) return;
      const { message, hint } = failureOf(error);
      this.subject = null;
      this.problem = `${message} ${hint}`;
    }
    this.planning = false;
  }

  /** A plan of a large model takes a tenth of a second: they are made before views ask, and the window breathes between. */
  async #planAhead({ batch, costs }: Subject, kept: Kept): Promise<void> {
    const known = this.#costsOf(kept);
    for (const size of forecastBatches(batch).filter((one) => !known.has(one))) {
      await breathe();
      if (this.kept !== kept) return;
      try {
        costs(size);
      } catch {
        // Too large to plan: views say so when they ask for it.
        return;
      }
    }
  }

  /** By batch, as far as they have been planned. */
  #costsOf({ model, rows }: Kept): Map<number, ModelCosts> {
    let models = planned.get(this.#app);
    if (!models) planned.set(this.#app, (models = new Map()));
    const key = `${model} ${rows ?? ''}`;
    let known = models.get(key);
    if (!known) models.set(key, (known = new Map()));
    return known;
  }

  async #subjectOf(kept: Kept): Promise<Subject> {
    const { model, batch, rows } = kept;
    const known = this.#costsOf(kept);
    const asked: Asked = { ...(batch === null ? {} : { batch }), ...(rows === null ? {} : { rows }) };
    const id = runOf(model);
    if (id === null) return remembering(known, subjectNamed(model, asked));
    const run = this.runs.find((one) => one.id === id) ?? (await this.#app.service.run({ run: id }));
    const { config } = run;
    if (!isNetwork(config)) {
      throw new InputError('usage.model', `“${run.name}” is no network.`, 'Forecasts are of networks: choose another.');
    }
    const { dataset, settings } = config;
    const shape = this.#shapes.get(id) ?? (await this.#app.service.datasetShape({ dataset, settings }));
    this.#shapes.set(id, shape);
    const trainRows = run.data?.counts.train ?? shape.counts.train;
    const training = { ...config.training, seed: config.seed };
    return remembering(
      known,
      subjectOf(run.name, config.model, shape.input, shape.output, { rows: trainRows, ...asked }, training),
    );
  }
}

/** Planning a large model takes a while: what was asked once is kept. */
function remembering(known: Map<number, ModelCosts>, subject: Subject): Subject {
  const costs = (batch: number): ModelCosts => {
    const found = known.get(batch) ?? subject.costs(batch);
    known.set(batch, found);
    return found;
  };
  return { ...subject, costs };
}

/** The run whose model it is; null: it is no run's. */
export function runOf(model: string): number | null {
  const found = /^run (\d+)$/.exec(model);
  return found ? Number(found[1]) : null;
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== 'object' || value === null) return false;
  const { model, batch, rows, precision } = value as Partial<Kept>;
  const count = (number: unknown): boolean => number === null || (Number.isInteger(number) && (number as number) > 0);
  return typeof model === 'string' && count(batch) && count(rows) && ['float32', 'mixed16'].includes(precision ?? '');
}
