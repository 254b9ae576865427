// The evaluation of a run for the window: the data host prepares the rows, a process of its own predicts and scores them and cuts their
// columns, and the table crosses to the page, which makes every other figure from it.

import path from 'node:path';
import type { DataService } from '../../engine/protocol/data.ts';
import type { EvaluatedRun } from '../../engine/protocol/evaluated-rows.ts';
import { isCrossValidation } from '../../engine/protocol/folds.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { countOpening, openingsOf, prepareEvaluation, type EvaluationSource } from '../../engine/runs/evaluate.ts';
import { evaluateOutOfFold } from '../../engine/runs/out-of-fold.ts';
import type { Processes } from './processes.ts';

interface Parts {
  readonly store: StoreService;
  readonly data: DataService;
  readonly processes: Pick<Processes, 'startCpuHost'>;
}

interface Request {
  readonly job: string;
  readonly run: number;
  readonly source: EvaluationSource;
}

export async function evaluateRun({ store, data, processes }: Parts, request: Request): Promise<EvaluatedRun> {
  const { source, run } = request;
  // A process takes as long to start as rows take to be prepared.
  const starting = processes.startCpuHost();
  starting.catch(() => undefined);
  try {
    const { config } = await store.run({ run });
    if ('split' in source && source.split === 'out of fold' && isCrossValidation(config)) {
      const { evaluator } = await starting;
      const { table, share, warnings } = await evaluateOutOfFold({ store, data, evaluator }, request);
      return { ...table, file: null, share, opened: await openingsOf(store, run), warnings };
    }
    const prepared = await prepareEvaluation({ store, data }, { ...request, source });
    try {
      const table = await (await starting).evaluator.scored(prepared.request);
      await countOpening(store, run, source);
      const file = 'split' in source ? null : path.basename(source.path);
      return { ...table, file, opened: await openingsOf(store, run), warnings: prepared.warnings };
    } finally {
      await data.release({ handle: prepared.request.data.handle });
    }
  } finally {
    void starting.then((host) => host.kill()).catch(() => undefined);
  }
}
