// Runs the trainer in the test's own process and keeps everything it reports.

import type { Backend } from '../../engine/backends/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import type { ModelSpec, TrainingSpec } from '../../engine/model/spec.ts';
import type { JobStart } from '../../engine/protocol/hosts.ts';
import type { LogLine, MetricPoint, RunFile, RunResult, TrainingProgress } from '../../engine/protocol/runs.ts';
import { RunControl } from '../../engine/train/control.ts';
import { train } from '../../engine/train/trainer.ts';
import type { MadeImages } from './images.ts';
import type { MadeTable } from './table.ts';

export interface TrainTestOptions {
  readonly backend?: Backend;
  readonly model?: ModelSpec;
  readonly training?: Partial<TrainingSpec>;
  readonly dataBudget?: number;
  readonly checkpoint?: Uint8Array;
  readonly start?: JobStart;
  /** Collects the files, so that they are there even if the run fails. */
  readonly files?: Map<RunFile, Uint8Array>;
  /** Collects the progress reported, so that it is there even if the run fails. */
  readonly reports?: TrainingProgress[];
  /** Resolves when a file is kept. */
  readonly keep?: (file: RunFile) => Promise<void>;
  /** How much faster the trainer's clock runs. */
  readonly haste?: number;
  /** Called once the run stands still: what ends a pause in time. */
  readonly onPaused?: (control: RunControl) => void;
  /** Called between submits with their number; may pause or stop the run. */
  readonly onSubmit?: (submits: number, control: RunControl) => void;
}

export interface TrainTestResult {
  readonly result: RunResult;
  readonly points: readonly MetricPoint[];
  readonly log: readonly LogLine[];
  readonly files: ReadonlyMap<RunFile, Uint8Array>;
  readonly control: RunControl;
}

export async function trainHere(
  table: MadeTable | MadeImages,
  options: TrainTestOptions = {},
): Promise<TrainTestResult> {
  const points: MetricPoint[] = [];
  const log: LogLine[] = [];
  const files = options.files ?? new Map<RunFile, Uint8Array>();
  const control = new RunControl();
  let submits = 0;
  const base = defaultTraining(table.data.counts.train, table.data.task);
  const result = await train(
    {
      backend: options.backend ?? createReferenceBackend(),
      model: options.model ?? mlp([8]),
      training: { ...base, ...options.training },
      data: table.data,
      readShard: table.readShard,
      dataBudget: options.dataBudget ?? 1e9,
      control,
      surroundings: {
        clock: () => (options.haste ?? 1) * performance.now(),
        now: () => Date.now(),
        breathe: () => {
          options.onSubmit?.(++submits, control);
          return new Promise((resolve) => setImmediate(resolve));
        },
      },
      checkpoint: options.checkpoint,
      start: options.start,
      events: {
        onReport: (event) => {
          points.push(...event.points);
          options.reports?.push(event.progress);
        },
        onLog: (line) => log.push(line),
        onPaused: ({ paused }) => {
          if (paused) options.onPaused?.(control);
        },
        onFile: ({ file, data }) => {
          files.set(file, data);
          return options.keep?.(file);
        },
      },
    },
    () => {},
  );
  return { result, points, log, files, control };
}

/** The values of a series, in order. */
export const series = (points: readonly MetricPoint[], name: string): readonly number[] =>
  points.filter((point) => point.series === name).map((point) => point.value);
