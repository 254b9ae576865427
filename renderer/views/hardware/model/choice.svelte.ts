// The model that Time and cost and Memory are about: a familiar one, a preset, or that of a run; its batch, rows and precision. Kept
// between visits and shared by the tabs.

import { subjectNamed, subjectOf, type Asked, type Subject } from '../../../../engine/hardware/costs/familiar.ts';
import type { ModelCosts } from '../../../../engine/hardware/costs/costs.ts';
import { presets } from '../../../../engine/model/presets.ts';
import { isNetwork } from '../../../../engine/learners/network/declaration.ts';
import type { RecordField, RunRecord } from '../../../../engine/protocol/runs.ts';
import { InputError } from '../../../../engine/protocol/errors.ts';
import type { DatasetShape } from '../../../../engine/protocol/app.ts';
import { failureOf } from '../../../app/failure.ts';
import type { AppState } from '../../../app/state.svelte.ts';

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

export class ModelChoice {
  kept: Kept = $state.raw(first);
  runs: readonly OfferedRun[] = $state.raw([]);
  subject: Subject | null = $state.raw(null);
  /** Why there is no subject. */
  problem: string = $state('');
  readonly #app: AppState;
  readonly #shapes = new Map<number, DatasetShape>();

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
    await this.#follow();
  }

  readonly options: readonly { readonly value: string; readonly label: string }[] = $derived.by(() => [
    ...Object.entries(familiar).map(([value, label]) => ({ value, label })),
    ...presets
      .filter(({ name }) => !Object.hasOwn(familiar, name))
      .map(({ name, title, input }) => ({
        value: name,
        label: `${title}, ${input === 'image' ? '32 px' : '20 columns'}`,
      })),
    ...this.runs.map(({ id, name }) => ({ value: `run ${id}`, label: `Run: ${name}` })),
  ]);
  readonly label: string = $derived(this.options.find(({ value }) => value === this.kept.model)?.label ?? '');

  change(change: Partial<Kept>): void {
    const other = change.model !== undefined && change.model !== this.kept.model;
    this.kept = { ...this.kept, ...(other ? { batch: null, rows: null } : {}), ...change };
    this.#app.preferences.write(key, this.kept);
    void this.#follow();
  }

  async #follow(): Promise<void> {
    const { kept } = this;
    try {
      const subject = await this.#subjectOf(kept);
      if (this.kept !== kept) return;
      this.subject = subject;
      this.problem = '';
    } catch (error) {
      if (this.kept !== kept) return;
      const { message, hint } = failureOf(error);
      this.subject = null;
      this.problem = `${message} ${hint}`;
    }
  }

  async #subjectOf({ model, batch, rows }: Kept): Promise<Subject> {
    const asked: Asked = { ...(batch === null ? {} : { batch }), ...(rows === null ? {} : { rows }) };
    const id = runOf(model);
    if (id === null) return remembering(subjectNamed(model, asked));
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
      subjectOf(run.name, config.model, shape.input, shape.output, { rows: trainRows, ...asked }, training),
    );
  }
}

/** Planning a large model takes a while: what was asked once is kept. */
function remembering(subject: Subject): Subject {
  const known = new Map<number, ModelCosts>();
  const costs = (batch: number): ModelCosts => {
    const found = known.get(batch) ?? subject.costs(batch);
    known.set(batch, found);
    return found;
  };
  return { ...subject, costs };
}

function runOf(model: string): number | null {
  const found = /^run (\d+)$/.exec(model);
  return found ? Number(found[1]) : null;
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== 'object' || value === null) return false;
  const { model, batch, rows, precision } = value as Partial<Kept>;
  const count = (number: unknown): boolean => number === null || (Number.isInteger(number) && (number as number) > 0);
  return typeof model === 'string' && count(batch) && count(rows) && ['float32', 'mixed16'].includes(precision ?? '');
}
