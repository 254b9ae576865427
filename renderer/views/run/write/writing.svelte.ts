// A text that a run writes on from a prompt: it grows piece by piece until it is as long as was asked for, or cancelled.

import type { AppService } from '../../../../engine/protocol/app.ts';
import { generationFields, type GenerationSettings } from '../../../../engine/settings/generation.ts';
import { defaultsOf } from '../../../../engine/settings/values.ts';
import { failureOf, type Failure } from '../../../app/failure.ts';

/** A text as it was asked for. */
export interface WrittenText {
  readonly prompt: string;
  readonly settings: GenerationSettings;
  readonly text: string;
  readonly seconds: number;
  /** What the model could not read of the prompt, in words. */
  readonly unread: string | null;
  /** Less than was asked for. */
  readonly cancelled: boolean;
}

export class WritingState {
  readonly #service: AppService;
  readonly #run: number;
  prompt: string = $state('');
  settings: GenerationSettings = $state.raw(defaultsOf(generationFields, {}));
  /** The newest, which may be growing. */
  written: WrittenText | null = $state.raw(null);
  /** Those before it, the latest first. */
  earlier: readonly WrittenText[] = $state.raw([]);
  failure: Failure | null = $state.raw(null);
  /** What is being written. */
  job: string | null = $state.raw(null);
  #jobs = 0;

  constructor(service: AppService, run: number) {
    this.#service = service;
    this.#run = run;
  }

  async write(): Promise<void> {
    await this.cancel();
    const job = `write-${this.#run}-${++this.#jobs}-${Date.now()}`;
    const { prompt, settings } = this;
    const begun = performance.now();
    const run = this.#run;
    if (this.written) this.earlier = [this.written, ...this.earlier];
    this.job = job;
    this.failure = null;
    this.written = { prompt, settings, text: '', seconds: 0, unread: null, cancelled: false };
    try {
      const { unread } = await this.#service.startText({ run, job, prompt, ...settings });
      if (this.job === job) this.written = { ...this.written, unread };
      for (let done = false; !done && this.job === job;) {
        const piece = await this.#service.nextText({ run, job });
        done = piece.done;
        // What came after it was cancelled is no part of it.
        if (this.job !== job) return;
        const text: string = this.written.text + piece.text;
        this.written = { ...this.written, text, seconds: (performance.now() - begun) / 1000 };
      }
    } catch (error) {
      if (this.job === job) this.failure = failureOf(error);
    } finally {
      if (this.job === job) this.job = null;
    }
  }

  async cancel(): Promise<void> {
    const job = this.#leaveOff();
    if (job !== null) await this.#service.endText({ run: this.#run, job });
  }

  /** The process that writes ends with the model: nobody there would answer for the text. */
  close(): void {
    this.#leaveOff();
    void this.#service.closeModel({ run: this.#run });
  }

  /** What comes from now on is no part of the text; gives what was being written. */
  #leaveOff(): string | null {
    const { job } = this;
    if (job === null) return null;
    this.job = null;
    if (this.written) this.written = { ...this.written, cancelled: true };
    return job;
  }
}
