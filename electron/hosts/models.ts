// Reads models that others have trained, for the window: their weights are as large as they are.

import { readRun } from '../../engine/pretrained/run.node.ts';
import type { ModelReaderService } from '../../engine/protocol/pretrained.ts';

export const modelReader: ModelReaderService = { read: ({ path }) => readRun(path) };
