// The data host: serves DataService to the main process, and its rows to the processes that train. `--home=FOLDER` says
// where datasets are kept. The list of datasets, all that the window's first view asks for, comes without the data engine.

import { DatasetStore } from '../../engine/data/store.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import { lazyService } from '../../engine/protocol/lazy-service.ts';
import { loadPart } from '../../engine/protocol/loading.ts';
import { parentPort } from '../../engine/protocol/port.electron.ts';
import { announceFailure, announceReady } from '../../engine/protocol/port.ready.ts';
import { serve } from '../../engine/protocol/rpc.ts';
import { onLink } from './linked.ts';
import { homeArgument } from './surroundings.ts';
import { reportOwnFailures } from './uncaught.ts';

reportOwnFailures('data');
const port = parentPort(process.parentPort);
try {
  const home = homeArgument();
  const datasets = new DatasetStore(home);
  const ready = datasets.removeLeftovers();
  const service = lazyService<DataService>(
    async () => {
      const { createDataService } = await loadPart(import('../../engine/data/service.ts'));
      return createDataService({ home, ready });
    },
    { list: () => datasets.list() },
  );
  serve<DataService>(port, service);
  // A process that computes reads rows, hands back what it predicts for them, and nothing else.
  const { readShard, rawRows, keepPredictions, keepNumbers } = service;
  onLink(process.parentPort, (link) => serve(link, { readShard, rawRows, keepPredictions, keepNumbers }));
  announceReady(port);
} catch (error) {
  announceFailure(port, error);
}
