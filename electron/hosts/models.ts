// Reads models that others have trained, and trainings that come back, for the window: their weights are as large as they are.

import { findReturned } from '../../engine/export/returned/find.node.ts';
import { readReturned } from '../../engine/export/returned/read.ts';
import { readRun } from '../../engine/pretrained/run.node.ts';
import type { ModelReaderService } from '../../engine/protocol/pretrained.ts';

export const modelReader: ModelReaderService = {
  async read({ path }) {
    const returned = await findReturned(path);
    return returned ? readReturned(returned) : readRun(path);
  },
};
