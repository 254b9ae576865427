// A check as the window knows it: what it has found so far, which finding is chosen, and the report in the end.

import type { AppService } from '../../../../engine/protocol/app.ts';
import { checkIds, type CheckFinding, type CheckReport } from '../../../../engine/protocol/checking.ts';
import type { Progress } from '../../../../engine/protocol/data.ts';
import type { RunConfig } from '../../../../engine/protocol/runs.ts';
import { failureOf, wasCancelled, type Failure } from '../../../app/failure.ts';

const kinds = ['fix', 'look', 'undone', 'fine'] as const;
/** Drawings in the order they stand; the start is drawn where a batch is learned by heart. */
const drawn = ['gradients', 'activations', 'heart', 'shuffled', 'agreement', 'data', 'dead'] as const;
let jobs = 0;

export class Checking {
  report: CheckReport | null = $state.raw(null);
  progress: Progress | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  working: boolean = $state(false);
  chosen: CheckFinding['id'] | null = $state(null);
  #found: readonly CheckFinding[] = $state.raw([]);
  readonly #service: AppService;
  #job = '';

  constructor(service: AppService) {
    this.#service = service;
  }

  /** What there is to fix first. */
  readonly findings: readonly CheckFinding[] = $derived(
    this.#found.toSorted(
      (a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || checkIds.indexOf(a.id) - checkIds.indexOf(b.id),
    ),
  );
  /** With a drawing, the chosen one first. */
  readonly drawings: readonly CheckFinding[] = $derived.by(() => {
    const first = this.chosen === 'start' ? 'heart' : this.chosen;
    const order = [...drawn].sort((a, b) => Number(b === first) - Number(a === first));
    return order.flatMap((id) => this.#found.find((finding) => finding.id === id && finding.drawing) ?? []);
  });

  /** Checks these settings; one that goes on is cancelled. */
  async check(config: RunConfig): Promise<void> {
    if (this.working) this.cancel();
    const job = `check ${++jobs}`;
    this.#job = job;
    [this.working, this.report, this.failure, this.#found, this.chosen] = [true, null, null, [], null];
    const stops = [
      this.#service.onProgress((event) => {
        if (event.job === job) this.progress = event.progress;
      }),
      this.#service.onCheckFinding((event) => {
        if (event.job === job && this.#job === job) this.#found = [...this.#found, event.finding];
      }),
    ];
    try {
      const report = await this.#service.checkRun({ job, config });
      if (this.#job !== job) return;
      [this.report, this.#found] = [report, report.findings];
      this.chosen ??= report.findings.find(({ kind }) => kind !== 'fine')?.id ?? null;
    } catch (error) {
      if (this.#job === job && !wasCancelled(error)) this.failure = failureOf(error);
    } finally {
      stops.forEach((stop) => stop());
      if (this.#job === job) [this.working, this.progress] = [false, null];
    }
  }

  cancel(): void {
    if (this.working) void this.#service.cancelCheck({ job: this.#job }).catch(() => undefined);
  }
}
