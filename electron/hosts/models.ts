// Reads models that others have trained, for the window: their weights are as large as they are.

import { openModel } from '../../engine/pretrained/find.node.ts';
import { readPretrained, runOf } from '../../engine/pretrained/read.ts';
import type { ModelReaderService } from '../../engine/protocol/pretrained.ts';

export const modelReader: ModelReaderService = {
  async read({ path }) {
    const opened = await openModel(path);
    try {
      return runOf(await readPretrained(opened, {}));
    } finally {
      await opened.close();
    }
  },
};
