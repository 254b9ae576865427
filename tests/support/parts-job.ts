// A job of a learner that trains on parts of the rows (best of all, a search, their members): on a table in memory, without a device, and
// nobody listens.

import { nodeSurroundings } from '../../electron/hosts/surroundings.ts';
import { otherLearners } from '../../engine/learners/predict.ts';
import type { LearnerJob } from '../../engine/learners/learner.ts';
import type { RunConfig } from '../../engine/protocol/runs.ts';
import { RunControl } from '../../engine/train/control.ts';
import { makeTable } from './table.ts';

const nothing = (): undefined => undefined;
/** Rows to learn from, of 200. */
const learned = 160;

/** Rows are dealt to `parts` in turn. `heard` replaces what is said to nobody. */
export function partsJob(config: RunConfig, parts: number, heard: Partial<LearnerJob['events']> = {}): LearnerJob {
  const { data, readShard } = makeTable({ rows: 200, numeric: 3, classes: 2, split: [0.8, 0, 0.2] });
  return {
    config,
    data: { ...data, preprocessing: {}, parts: Uint8Array.from({ length: learned }, (_, row) => 1 + (row % parts)) },
    readShard,
    dataBudget: 1e9,
    backend: () => Promise.reject(new Error('no device')),
    control: new RunControl(),
    surroundings: nodeSurroundings,
    others: otherLearners,
    events: { onStarted: nothing, onReport: nothing, onLog: nothing, onPaused: nothing, onFile: nothing, ...heard },
  };
}
