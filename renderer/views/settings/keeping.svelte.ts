// The state of the history's part of the settings: what takes how much room, the work under way, and what came of the last.

import type { AppService } from '../../../engine/protocol/app.ts';
import { importText } from '../../../engine/protocol/import-text.ts';
import type { HomeUsage, UsageId } from '../../../engine/protocol/keeping.ts';
import { repairText } from '../../../engine/protocol/repair-text.ts';
import { failureOf, wasCancelled, type Failure } from '../../app/failure.ts';
import { bytes, plural, when } from '../../lib/format.ts';

/** Work that is under way. */
export interface Working {
  readonly job: string;
  readonly title: string;
  /** null: it does not say. */
  readonly share: number | null;
  readonly cancellable: boolean;
}

/** What has been done, for a dialog. */
export interface Told {
  readonly title: string;
  readonly lines: readonly string[];
  /** The window has to be loaded again: the history is another one. */
  readonly anew: boolean;
}

export class Keeping {
  usage: HomeUsage | null = $state.raw(null);
  working: Working | null = $state.raw(null);
  told: Told | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  readonly #service: AppService;
  #jobs = 0;

  constructor(service: AppService) {
    this.#service = service;
  }

  /** Looks at the disk, and follows the work; returns what ends that. */
  open(): () => void {
    void this.refresh();
    return this.#service.onProgress(({ job, progress }) => {
      if (this.working?.job === job) this.working = { ...this.working, title: progress.stage, share: progress.share };
    });
  }

  async refresh(): Promise<void> {
    this.usage = await this.#service.usage();
  }

  bytesOf(id: UsageId): number {
    return this.usage?.parts.find((part) => part.id === id)?.bytes ?? 0;
  }

  async backUp(datasets: boolean): Promise<void> {
    await this.#work('Writing the backup', true, async (job) => {
      const report = await this.#service.backUp({ job, datasets });
      if (report === null) return null;
      const content = `${plural(report.runs, 'run')}${report.datasets > 0 ? ` and ${plural(report.datasets, 'dataset')}` : ''}`;
      return {
        title: 'The backup is written.',
        lines: [`${content}, ${bytes(report.bytes)}, in ${report.file}. All of it was read again and is whole.`],
        anew: false,
      };
    });
  }

  async restore(token: string): Promise<void> {
    await this.#work('Reading the backup', true, async (job) => {
      const { head, setAside } = await this.#service.restoreBackup({ job, token });
      return {
        title: 'The backup is restored.',
        lines: [
          `${plural(head.runs, 'run')} of ${head.machine}, backed up ${when(head.created)}.`,
          ...(setAside === null ? [] : [`What was here before is kept in ${setAside}.`]),
        ],
        anew: true,
      };
    });
  }

  async importRuns(token: string): Promise<void> {
    await this.#work('Reading the file', true, async (job) => {
      const report = await this.#service.importRuns({ job, token });
      const title =
        report.imported.length === 0
          ? 'Nothing new was in the file.'
          : `${plural(report.imported.length, 'run')} taken up.`;
      return { title, lines: importText(report), anew: false };
    });
  }

  async repair(): Promise<void> {
    await this.#work('Looking at the history', false, async () => {
      const report = await this.#service.repairHistory();
      const title = report.problem === null ? 'The history is whole.' : 'The history has been repaired.';
      return { title, lines: repairText(report), anew: report.problem !== null };
    });
  }

  async free(id: 'trash' | 'free' | 'set_aside'): Promise<void> {
    const title = {
      trash: 'Emptying the trash',
      free: 'Compacting the history',
      set_aside: 'Removing what was set aside',
    }[id];
    await this.#work(title, false, async () => {
      if (id === 'trash') await this.#service.emptyTrash();
      else if (id === 'free') await this.#service.compact();
      else await this.#service.dropSetAside();
      return null;
    });
  }

  async cancel(): Promise<void> {
    if (this.working) await this.#service.cancel({ job: this.working.job });
  }

  async #work(title: string, cancellable: boolean, work: (job: string) => Promise<Told | null>): Promise<void> {
    if (this.working !== null) return;
    const job = `keeping-${Date.now()}-${++this.#jobs}`;
    this.failure = null;
    this.working = { job, title, share: null, cancellable };
    try {
      this.told = await work(job);
    } catch (error) {
      if (!wasCancelled(error)) this.failure = failureOf(error);
    } finally {
      this.working = null;
      await this.refresh().catch(() => undefined);
    }
  }
}
