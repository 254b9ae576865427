// The state of one dataset's page: its description, the settings being changed, and what went wrong with them.

import { textFields, type TextSettings } from '../../../engine/settings/dataset.ts';
import { textColumns } from '../../../engine/protocol/use.ts';
import type { AppService, DatasetShape } from '../../../engine/protocol/app.ts';
import type { Value } from '../../../engine/settings/field.ts';
import { withValue } from '../../../engine/settings/values.ts';
import { decided } from '../../app/quick-start.ts';
import type {
  CellValue,
  ColumnType,
  DatasetInfo,
  DatasetSettings,
  DataWarning,
  SplitBy,
} from '../../../engine/protocol/data.ts';
import type { DatasetStore } from '../../app/datasets.svelte.ts';
import { failureOf } from '../../app/failure.ts';
import type { Failure } from '../../app/failure.ts';
import type { UndoHistory } from '../../app/undo.svelte.ts';
import { PagedList } from '../../components/paged.svelte.ts';

/** Some rows alone, and what they are. */
export interface SomeRows {
  /** Numbers from 0. */
  readonly rows: readonly number[];
  readonly title: string;
}

/** Of an address: `only=3,8,11&of=worst rows`; null = all rows. */
export function someRowsOf(query: URLSearchParams): SomeRows | null {
  const rows = (query.get('only') ?? '').split(',').filter(Boolean).map(Number);
  if (rows.length === 0 || rows.some((row) => !Number.isSafeInteger(row) || row < 0)) return null;
  return { rows, title: query.get('of') ?? 'chosen rows' };
}

type Tokens = NonNullable<TextSettings['tokenizer']>;

/** What texts can be cut into, for a choice. */
export const tokenizerOptions = Object.entries(textFields.tokenizer.choices).map(([value, label]) => ({
  value: value as Tokens,
  label: String(label),
}));

export class DatasetPage {
  info: DatasetInfo = $state.raw(null!);
  saving: boolean = $state(false);
  failure: Failure | null = $state.raw(null);
  /** Column whose details the inspector shows. */
  selected: string | null = $state(null);
  /** Shown alone; null = all rows. */
  some: SomeRows | null = $state.raw(null);
  readonly rows: PagedList<readonly CellValue[]>;
  readonly #service: AppService;
  readonly #store: DatasetStore;
  readonly #undo: UndoHistory;
  /** Called when a change of the settings was taken back or done again. */
  onrestored: () => void = () => undefined;
  #queue: Promise<void> = Promise.resolve();

  constructor(info: DatasetInfo, service: AppService, store: DatasetStore, undo: UndoHistory) {
    this.info = info;
    this.#undo = undo;
    this.#service = service;
    this.#store = store;
    this.rows = new PagedList(
      async (offset, limit) => service.rows({ dataset: info.id, offset, limit, only: this.some?.rows }),
      { size: 200 },
    );
  }

  /** Shows some rows alone, or all of them again. */
  showOnly(some: SomeRows | null): void {
    if (some === null && this.some === null) return;
    this.some = some;
    void this.rows.refresh(true);
  }

  get settings(): DatasetSettings {
    return this.info.settings;
  }

  /** What has to be dealt with before anything can be trained; undefined = nothing. */
  get obstacle(): DataWarning | undefined {
    return this.info.warnings.find((warning) => warning.blocks);
  }

  isIgnored(column: string): boolean {
    return this.settings.ignored?.includes(column) ?? false;
  }

  setType(column: string, type: ColumnType): void {
    void this.change(`the type of ${column}`, (settings) => ({
      ...settings,
      types: { ...settings.types, [column]: type },
    }));
  }

  setTarget(target: string): void {
    // Another target asks another question: the task is inferred anew, and the target cannot be left out.
    void this.change('the target', ({ ignored = [], splitBy, ...settings }) => ({
      ...settings,
      ...(splitBy === undefined || splitBy.column === target ? {} : { splitBy }),
      target,
      task: undefined,
      ignored: ignored.filter((column) => column !== target),
    }));
  }

  setTask(task: DatasetSettings['task']): void {
    void this.change('the task', (settings) => ({ ...settings, task }));
  }

  setIgnored(column: string, ignored: boolean): void {
    void this.change(`${column} ${ignored ? 'left out' : 'taken back in'}`, (settings) => {
      const others = (settings.ignored ?? []).filter((other) => other !== column);
      return { ...settings, ignored: ignored ? [...others, column] : others };
    });
  }

  /** Has models learn from a column of text. */
  readText(column: string): void {
    void this.change(`${column} read`, (settings) => ({
      ...settings,
      texts: { ...settings.texts, columns: [...textColumns(this.info), column] },
    }));
  }

  setTokenizer(tokenizer: Tokens): void {
    void this.change('the tokens', (settings) => ({ ...settings, texts: { ...settings.texts, tokenizer } }));
  }

  /** How a text is read that a model learns to write. */
  setReading(name: keyof TextSettings, value: Value | undefined): void {
    void this.change('how the text is read', (settings) => ({
      ...settings,
      texts: withValue(settings.texts ?? {}, name, value),
    }));
  }

  /** What the text comes to as rows of tokens, under the settings it has. Throws what training would. */
  shape(): Promise<DatasetShape> {
    return this.#service.datasetShape({ dataset: this.info.id, settings: decided(this.info) });
  }

  setSplit(split: readonly [number, number, number]): void {
    void this.change('the split', (settings) => ({ ...settings, split }));
  }

  /** What the split goes by; null = chance. */
  setSplitBy(splitBy: SplitBy | null): void {
    void this.change('what the split goes by', (settings) => ({ ...settings, splitBy: splitBy ?? undefined }));
  }

  /** Changes settings in a way that can be taken back. `label` says what was changed. */
  async change(label: string, edit: (settings: DatasetSettings) => DatasetSettings): Promise<void> {
    let before = this.settings;
    let after: DatasetSettings | null = null;
    await this.#save((settings) => {
      before = settings;
      after = edit(settings);
      return after;
    });
    if (after === null || this.failure !== null) return;
    const restore = (settings: DatasetSettings) => async (): Promise<void> => {
      await this.#save(() => settings);
      this.onrestored();
    };
    this.#undo.record({ label, undo: restore(before), redo: restore(after) });
  }

  /** Changes are saved one after the other, each on top of what the one before made of the settings. */
  #save(edit: (settings: DatasetSettings) => DatasetSettings): Promise<void> {
    this.#queue = this.#queue.then(async () => {
      this.saving = true;
      try {
        this.info = await this.#service.saveSettings({ dataset: this.info.id, settings: edit(this.info.settings) });
        this.#store.replace(this.info);
        this.failure = null;
      } catch (error) {
        this.failure = failureOf(error);
      } finally {
        this.saving = false;
      }
    });
    // Whoever opens New run meanwhile is not to draft it for the data as it was.
    this.#store.waitFor(this.info.id, this.#queue);
    return this.#queue;
  }
}

/** Why no run can be started with the data as it is set; undefined = one can. */
export function whyNotTrain(page: DatasetPage): string | undefined {
  return page.info.target ? page.obstacle?.message : 'Choose the target first';
}
