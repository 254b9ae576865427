// The state of one dataset's page: its description, the settings being changed, and what went wrong with them.

import type { AppService } from '../../../engine/protocol/app.ts';
import type { CellValue, ColumnType, DatasetInfo, DatasetSettings } from '../../../engine/protocol/data.ts';
import type { DatasetStore } from '../../app/datasets.svelte.ts';
import { failureOf } from '../../app/failure.ts';
import type { Failure } from '../../app/failure.ts';
import { PagedList } from '../../components/paged.svelte.ts';

export class DatasetPage {
  info: DatasetInfo = $state.raw(null!);
  saving: boolean = $state(false);
  failure: Failure | null = $state.raw(null);
  /** Column whose details the inspector shows. */
  selected: string | null = $state(null);
  readonly rows: PagedList<readonly CellValue[]>;
  readonly #service: AppService;
  readonly #store: DatasetStore;
  #queue: Promise<void> = Promise.resolve();

  constructor(info: DatasetInfo, service: AppService, store: DatasetStore) {
    this.info = info;
    this.#service = service;
    this.#store = store;
    this.rows = new PagedList(async (offset, limit) => service.rows({ dataset: info.id, offset, limit }), {
      size: 200,
    });
  }

  get settings(): DatasetSettings {
    return this.info.settings;
  }

  isIgnored(column: string): boolean {
    return this.settings.ignored?.includes(column) ?? false;
  }

  setType(column: string, type: ColumnType): void {
    void this.change((settings) => ({ ...settings, types: { ...settings.types, [column]: type } }));
  }

  setTarget(target: string): void {
    // Another target asks another question: the task is inferred anew, and the target cannot be left out.
    void this.change(({ ignored = [], ...settings }) => ({
      ...settings,
      target,
      task: undefined,
      ignored: ignored.filter((column) => column !== target),
    }));
  }

  setTask(task: DatasetSettings['task']): void {
    void this.change((settings) => ({ ...settings, task }));
  }

  setIgnored(column: string, ignored: boolean): void {
    void this.change((settings) => {
      const others = (settings.ignored ?? []).filter((other) => other !== column);
      return { ...settings, ignored: ignored ? [...others, column] : others };
    });
  }

  setSplit(split: readonly [number, number, number]): void {
    void this.change((settings) => ({ ...settings, split }));
  }

  /** Changes are saved one after the other, each on top of what the one before made of the settings. */
  change(edit: (settings: DatasetSettings) => DatasetSettings): Promise<void> {
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
    return this.#queue;
  }
}
