// The exports of one run as its page shows them: what is there, what is being made, which one is looked at.

import { SvelteMap } from 'svelte/reactivity';
import { formatsOf } from '../../../../../engine/learners/declared/registry.ts';
import type { AppService } from '../../../../../engine/protocol/app.ts';
import type { Progress } from '../../../../../engine/protocol/data.ts';
import {
  exportFormats,
  exportWords,
  type ExportFormat,
  type KeptExport,
} from '../../../../../engine/protocol/exports.ts';
import type { RunRecord } from '../../../../../engine/protocol/runs.ts';
import { failureOf, type Failure } from '../../../../app/failure.ts';

export class RunExportsState {
  readonly run: number;
  kept: readonly KeptExport[] = $state.raw([]);
  chosen: ExportFormat = $state('html');
  failure: Failure | null = $state.raw(null);
  /** By format, while it is being made. */
  readonly making = new SvelteMap<ExportFormat, Progress>();
  /** Formats that a model of this learner can leave in. */
  readonly formats: readonly ExportFormat[];
  readonly #service: AppService;

  constructor({ id, config }: Pick<RunRecord, 'id' | 'config'>, service: AppService) {
    this.run = id;
    this.formats = formatsOf(config);
    [this.chosen] = this.formats;
    this.#service = service;
  }

  /** Loads what is there and follows what is made; returns the function that stops following. */
  open(): () => void {
    void this.#attempt(async () => {
      this.kept = await this.#service.exports({ run: this.run });
    });
    return this.#service.onProgress(({ job, progress }) => {
      const format = exportFormats.find((one) => this.#job(one) === job);
      if (format && this.making.has(format)) this.making.set(format, progress);
    });
  }

  of(format: ExportFormat): KeptExport | undefined {
    return this.kept.find((one) => one.format === format);
  }

  async make(format: ExportFormat): Promise<void> {
    if (this.making.has(format)) return;
    this.chosen = format;
    this.making.set(format, { stage: 'Starting', share: null, secondsLeft: null });
    await this.#attempt(async () => {
      const made = await this.#service.makeExport({ job: this.#job(format), run: this.run, format });
      const kept = [...this.kept.filter((one) => one.format !== format), made];
      this.kept = exportFormats.flatMap((one) => kept.filter(({ format: own }) => own === one));
    });
    this.making.delete(format);
  }

  /** Those that are not there yet, one after the other; the first that fails is still told when the others are there. */
  async makeAll(): Promise<void> {
    let first: Failure | null = null;
    for (const format of this.formats) {
      if (this.of(format)) continue;
      await this.make(format);
      first ??= this.failure && {
        ...this.failure,
        message: `${exportWords[format].title}: ${this.failure.message}`,
      };
    }
    this.failure = first;
  }

  async cancel(format: ExportFormat): Promise<void> {
    await this.#service.cancel({ job: this.#job(format) });
  }

  #job(format: ExportFormat): string {
    return `export-${this.run}-${format}`;
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    this.failure = null;
    try {
      await work();
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code !== 'run.cancelled') this.failure = failure;
    }
  }
}
