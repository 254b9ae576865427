// What a training takes, and whom it tells.

import type { LogLine, MetricPoint, TrainingProgress, WrittenFile } from '../protocol/runs.ts';
import type { JobStart } from '../protocol/hosts.ts';
import type { RunControl, Surroundings } from './control.ts';
import type { SessionOptions } from './session.ts';

export interface TrainerEvents {
  readonly onReport: (event: { points: readonly MetricPoint[]; progress: TrainingProgress }) => void;
  /** Each point as it is made, before the report that it leaves with. */
  readonly onPoint?: (point: MetricPoint) => void;
  readonly onLog: (line: LogLine) => void;
  readonly onPaused: (event: { paused: boolean }) => void;
  /** May return when the file is kept: no checkpoint leaves before the one before it is. */
  readonly onFile: (event: WrittenFile) => void | Promise<void>;
}

export interface TrainerOptions extends SessionOptions {
  readonly control: RunControl;
  readonly surroundings: Surroundings;
  readonly events: TrainerEvents;
  /** When it is to be done, in milliseconds since 1970: its epochs go by that. */
  readonly until?: number;
  /** Of this run: it goes on from there. */
  readonly checkpoint?: Uint8Array;
  /** What it begins with instead of first weights, where there is no checkpoint yet. */
  readonly start?: JobStart;
}
