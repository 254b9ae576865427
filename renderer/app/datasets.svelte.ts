// The imported datasets and the imports under way. An import that failed stays listed with its reason until it is
// tried again or put away.

import type { AppService } from '../../engine/protocol/app.ts';
import type { DatasetInfo, Progress, ReadOptions } from '../../engine/protocol/data.ts';
import { failureOf, wasCancelled } from './failure.ts';
import type { Failure } from './failure.ts';

export type ImportSource =
  | { readonly kind: 'path'; readonly token: string; readonly name: string }
  | { readonly kind: 'sample'; readonly sample: string; readonly name: string };

export class ImportJob {
  readonly id: string;
  readonly source: ImportSource;
  readonly options: ReadOptions;
  /** Number of the drop it came in; null = it came alone. */
  readonly drop: number | null;
  progress: Progress | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  cancelling: boolean = $state(false);

  constructor(id: string, source: ImportSource, options: ReadOptions, drop: number | null) {
    this.id = id;
    this.source = source;
    this.options = options;
    this.drop = drop;
  }
}

export class DatasetStore {
  list: readonly DatasetInfo[] = $state.raw([]);
  loaded: boolean = $state(false);
  jobs: readonly ImportJob[] = $state.raw([]);
  readonly #service: AppService;
  /** Where a dataset of this session came from: reading it again with other options needs the token. */
  readonly #sources = new Map<string, ImportSource>();
  /** Changes of settings that are being saved, the last one of each dataset. */
  readonly #saves = new Map<string, Promise<void>>();
  #next = 1;

  constructor(service: AppService) {
    this.#service = service;
    service.onProgress(({ job, progress }) => {
      const found = this.jobs.find((candidate) => candidate.id === job);
      if (found) found.progress = progress;
    });
  }

  async refresh(): Promise<void> {
    const list = await this.#service.datasets();
    this.list = [...list].sort((a, b) => b.importedAt - a.importedAt);
    this.loaded = true;
  }

  find(id: string): DatasetInfo | undefined {
    return this.list.find((dataset) => dataset.id === id);
  }

  /** The dataset with every change made so far, also where another process has imported it since; undefined when there is none. */
  async get(id: string): Promise<DatasetInfo | undefined> {
    await this.#saves.get(id);
    if (!this.find(id)) await this.refresh();
    return this.find(id);
  }

  /** Has `get` wait for a change that is being saved. `saved` does not reject. */
  waitFor(id: string, saved: Promise<void>): void {
    this.#saves.set(id, saved);
  }

  sourceOf(id: string): ImportSource | undefined {
    return this.#sources.get(id);
  }

  /** Puts a changed description in place of the old one. */
  replace(info: DatasetInfo): void {
    const known = this.list.some((dataset) => dataset.id === info.id);
    this.list = known ? this.list.map((dataset) => (dataset.id === info.id ? info : dataset)) : [info, ...this.list];
  }

  /** Imports and returns the dataset; null when it was cancelled or failed (the job then shows why). */
  async import(
    source: ImportSource,
    options: ReadOptions = {},
    drop: number | null = null,
  ): Promise<DatasetInfo | null> {
    const job = new ImportJob(`import-${Date.now()}-${this.#next++}`, source, options, drop);
    this.jobs = [...this.jobs, job];
    try {
      const info =
        source.kind === 'path'
          ? await this.#service.importPath({ job: job.id, token: source.token, options })
          : await this.#service.importSample({ job: job.id, sample: source.sample });
      this.dismiss(job);
      this.#sources.set(info.id, source);
      this.replace(info);
      return info;
    } catch (error) {
      if (wasCancelled(error)) this.dismiss(job);
      else this.#fail(job, failureOf(error));
      return null;
    }
  }

  /** A number for what is dropped at once: failures of one drop are told together. */
  nextDrop(): number {
    return this.#next++;
  }

  /** Lists a source that could not even be opened. */
  reject(name: string, failure: Failure, drop: number | null): void {
    const job = new ImportJob(`rejected-${this.#next++}`, { kind: 'sample', sample: '', name }, {}, drop);
    this.jobs = [...this.jobs, job];
    this.#fail(job, failure);
  }

  /** A file that is tried again and fails alike is told once: the newer notice takes the place of the earlier one. */
  #fail(job: ImportJob, failure: Failure): void {
    job.failure = failure;
    this.jobs = this.jobs.filter(
      (other) =>
        other === job ||
        other.failure?.message !== failure.message ||
        other.source.name !== job.source.name ||
        (job.drop !== null && other.drop === job.drop),
    );
  }

  async cancel(job: ImportJob): Promise<void> {
    job.cancelling = true;
    await this.#service.cancel({ job: job.id });
  }

  dismiss(job: ImportJob): void {
    this.jobs = this.jobs.filter((other) => other !== job);
  }

  async remove(id: string): Promise<void> {
    await this.#service.removeDataset({ dataset: id });
    this.list = this.list.filter((dataset) => dataset.id !== id);
  }
}
