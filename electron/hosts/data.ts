// The data host: serves DataService to the main process, and its rows to the processes that train. `--home=FOLDER` says
// where datasets are kept.

import { createDataService } from '../../engine/data/service.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import { parentPort } from '../../engine/protocol/port.electron.ts';
import { announceFailure, announceReady } from '../../engine/protocol/port.ready.ts';
import { serve } from '../../engine/protocol/rpc.ts';
import { onLink } from './linked.ts';
import { homeArgument } from './surroundings.ts';
import { reportOwnFailures } from './uncaught.ts';

reportOwnFailures('data');
const port = parentPort(process.parentPort);
try {
  const service = createDataService({ home: homeArgument() });
  serve<DataService>(port, service);
  // A process that computes reads rows, hands back what it predicts for them, and nothing else.
  const { readShard, rawRows, keepPredictions, keepNumbers } = service;
  onLink(process.parentPort, (link) => serve(link, { readShard, rawRows, keepPredictions, keepNumbers }));
  announceReady(port);
} catch (error) {
  announceFailure(port, error);
}
