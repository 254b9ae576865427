// Explanations of a run for the window. Rows that were prepared, and the process that asks the model, are kept for as long as the same run
// and split are looked at: another row or column is answered at once.

import type { DataService, Progress } from '../../engine/protocol/data.ts';
import type { EvaluatedSplit } from '../../engine/protocol/evaluated-rows.ts';
import type { AppService } from '../../engine/protocol/app.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import type { ExplainRequest } from '../../engine/protocol/explanation.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { prepareExplanation } from '../../engine/runs/explain.ts';
import type { CpuHost, Processes } from './processes.ts';

export interface ExplanationParts {
  readonly store: StoreService;
  readonly data: DataService;
  readonly processes: Pick<Processes, 'startCpuHost'>;
}

export type ExplanationMethods = Pick<AppService, 'explain' | 'explainColumns' | 'explainRow' | 'cancelExplanation'> & {
  readonly onProgress: (listener: (event: { job: string; progress: Progress }) => void) => () => void;
};

interface Opened {
  readonly key: string;
  readonly host: CpuHost;
  readonly request: ExplainRequest;
}

/** Milliseconds without a question after which process and rows are let go. */
const idleMilliseconds = 60_000;

export function createExplanations(parts: ExplanationParts): ExplanationMethods {
  const { data, processes } = parts;
  const progress = new Listeners<{ job: string; progress: Progress }>();
  let kept: { readonly key: string; readonly opened: Promise<Opened> } | null = null;
  let questions = 0;
  let idle: NodeJS.Timeout | undefined;

  const open = async (key: string, request: { job: string; run: number; split: EvaluatedSplit }): Promise<Opened> => {
    // A process takes as long to start as rows take to be prepared.
    const starting = processes.startCpuHost();
    starting.catch(() => undefined);
    try {
      const prepared = await prepareExplanation(parts, request);
      const host = await starting;
      host.explainer.onProgress((event) => progress.emit(event));
      void host.exited.then(() => {
        if (kept?.key === key) kept = null;
      });
      return { key, host, request: prepared.request };
    } catch (error) {
      void starting.then((host) => host.kill()).catch(() => undefined);
      throw error;
    }
  };

  const letGo = async (): Promise<void> => {
    const last = kept;
    kept = null;
    if (last === null) return;
    const opened = await last.opened.catch(() => null);
    if (opened === null) return;
    opened.host.kill();
    await data.release({ handle: opened.request.data.handle });
  };

  const ask = async <T>(
    request: { job: string; run: number; split: EvaluatedSplit; wanted?: number },
    use: (host: CpuHost, request: ExplainRequest) => Promise<T>,
  ): Promise<T> => {
    const key = `${request.run} ${request.split}`;
    clearTimeout(idle);
    questions++;
    try {
      if (kept?.key !== key) {
        void letGo();
        kept = { key, opened: open(key, request) };
      }
      const mine = kept;
      const { host, request: prepared } = await mine.opened.catch((error: unknown) => {
        if (kept === mine) kept = null;
        throw error;
      });
      return await use(host, { ...prepared, job: request.job, wanted: request.wanted });
    } finally {
      questions--;
      clearTimeout(idle);
      if (questions === 0) idle = setTimeout(() => void letGo(), idleMilliseconds).unref();
    }
  };

  return {
    explain: (request) => ask(request, ({ explainer }, prepared) => explainer.explain(prepared)),
    explainColumns: ({ columns, ...request }) =>
      ask(request, ({ explainer }, prepared) => explainer.dependence({ ...prepared, columns })),
    explainRow: ({ row, ...request }) => ask(request, ({ explainer }, prepared) => explainer.row({ ...prepared, row })),
    async cancelExplanation({ job }) {
      await data.cancel({ job });
      const opened = await kept?.opened.catch(() => null);
      await opened?.host.explainer.cancel({ job });
    },
    onProgress: (listener) => progress.add(listener),
  };
}
