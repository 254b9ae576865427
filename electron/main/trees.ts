// Trees of a run for the window. The process that has read them is kept for as long as somebody looks: another tree is there at once.

import type { AppService } from '../../engine/protocol/app.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { readModelFiles } from '../../engine/runs/model-files.ts';
import type { CpuHost, Processes } from './processes.ts';

/** Milliseconds without a question after which the process is let go. */
const idleMilliseconds = 60_000;

export function createTreeLooks(parts: {
  readonly store: StoreService;
  readonly processes: Pick<Processes, 'startCpuHost'>;
}): Pick<AppService, 'lookAtTree'> {
  let host: Promise<CpuHost> | null = null;
  let questions = 0;
  let idle: NodeJS.Timeout | undefined;

  const letGo = (): void => {
    host?.then(
      (started) => started.kill(),
      () => undefined,
    );
    host = null;
  };
  const started = async (): Promise<CpuHost> => {
    const mine = (host ??= parts.processes.startCpuHost());
    const forget = (): void => {
      if (host === mine) host = null;
    };
    mine.then(({ exited }) => void exited.then(forget), forget);
    return mine;
  };

  return {
    async lookAtTree(request) {
      clearTimeout(idle);
      questions++;
      try {
        const [{ explainer }, { model, weights }] = await Promise.all([
          started(),
          readModelFiles(parts.store, request.run),
        ]);
        return await explainer.tree({ ...request, model, weights });
      } finally {
        questions--;
        clearTimeout(idle);
        if (questions === 0) idle = setTimeout(letGo, idleMilliseconds).unref();
      }
    },
  };
}
