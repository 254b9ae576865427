// What the tab Step time knows: a profile of the run's step, measured when it is asked for.

import type { AppService } from '../../../../engine/protocol/app.ts';
import type { MeasuredProfile } from '../../../../engine/protocol/step-profile.ts';
import { failureOf, wasCancelled, type Failure } from '../../../app/failure.ts';

let jobs = 0;

export class Profiling {
  found: MeasuredProfile | null = $state.raw(null);
  working: boolean = $state(false);
  share: number | null = $state(null);
  failure: Failure | null = $state.raw(null);
  /** The kernel whose calls have all of the width. */
  zoomed: string | null = $state(null);
  readonly #run: number;
  readonly #service: AppService;
  #job = '';

  constructor(run: number, service: AppService) {
    this.#run = run;
    this.#service = service;
  }

  async measure(): Promise<void> {
    if (this.working) return;
    const job = (this.#job = `profile ${this.#run} ${++jobs}`);
    [this.working, this.share, this.failure] = [true, null, null];
    const stop = this.#service.onProgress((event) => {
      if (event.job === job) this.share = event.progress.share;
    });
    try {
      this.found = await this.#service.profileRun({ job, run: this.#run });
      this.zoomed = null;
    } catch (error) {
      if (!wasCancelled(error)) this.failure = failureOf(error);
    } finally {
      stop();
      this.working = false;
    }
  }

  cancel(): Promise<void> {
    return this.#service.cancelProfile({ job: this.#job });
  }

  /** Nobody waits for what is being measured any more: runs that train need not either. */
  close(): void {
    if (this.working) void this.cancel().catch(() => undefined);
  }
}
