// Models that others have trained, and trainings that come back, dropped on the window: each is read in a process of its own and becomes a finished run.

import type { AppService } from '../../engine/protocol/app.ts';
import { isModel } from '../../engine/pretrained/paths.node.ts';
import { pretrainedSentences } from '../../engine/protocol/pretrained.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { importModel } from '../../engine/runs/import-model.ts';
import { importReturned, returnedSentences } from '../../engine/runs/import-returned.ts';
import type { ChosenPaths } from './paths.ts';
import type { Processes } from './processes.ts';

export function createModels(parts: {
  readonly store: StoreService;
  readonly processes: Pick<Processes, 'startCpuHost'>;
  readonly paths: Pick<ChosenPaths, 'resolve'>;
}): Pick<AppService, 'importModel'> {
  return {
    async importModel({ token }) {
      const path = parts.paths.resolve(token);
      if (!(await isModel(path))) return null;
      const { models, kill } = await parts.processes.startCpuHost();
      try {
        const found = await models.read({ path });
        const [{ store }, owner] = [parts, processOwner()];
        if ('origin' in found) {
          const { run, again } = await importReturned({ store, returned: found, owner });
          const there = `It was there already, as run ${run.id}: nothing was added.`;
          const said = [...(again ? [there] : []), ...returnedSentences(found, run.parent)];
          return { run: run.id, returned: true, title: run.name, head: true, said };
        }
        const { run } = await importModel({ store, pretrained: found, owner });
        const { title, head } = found;
        return { run: run.id, title, head, said: pretrainedSentences(found) };
      } finally {
        kill();
      }
    },
  };
}
