// What a project that trains elsewhere takes along of its run, and brings back: metadata of its weights say of which run they are, beside them
// stand curves and scores.

import { z } from 'zod';
import type { MetricPoint, RunConfig, RunData, RunRecord } from './runs.ts';

/** The run that was exported. */
export interface ReturnedOrigin {
  readonly run: number;
  readonly createdAt: number;
  readonly name: string;
  readonly dataset: string;
  readonly datasetName: string;
  readonly config: RunConfig;
  readonly data: RunData | null;
}

/** `result.json` of a finished training. */
export interface ReturnedResult {
  readonly reason: 'completed' | 'early_stopped' | 'diverged';
  readonly epochs: number;
  readonly steps: number;
  readonly seconds: number;
  readonly examplesPerSecond: number;
  readonly bestEpoch: number;
  readonly processes: number;
  readonly kind: 'cpu' | 'gpu';
  /** Its name. */
  readonly device: string;
  /** Of PyTorch. */
  readonly torch: string;
  readonly metrics: Readonly<Record<string, number>>;
}

/** All that a run trained elsewhere is made of. */
export interface ReturnedRun {
  /** Folder it was read from. */
  readonly source: string;
  readonly origin: ReturnedOrigin;
  readonly result: ReturnedResult;
  readonly points: readonly MetricPoint[];
  readonly parameters: number;
  readonly files: Readonly<Record<'model.json' | 'preprocessing.json' | 'best.safetensors', Uint8Array>>;
}

/** Files that a project writes, the scores last. */
export const returnedFiles = ['weights.safetensors', 'metrics.jsonl', 'result.json'] as const;

/** Whether a folder is what a project has written, whole or not. One with a `config.json` is that of a model of others, whatever its files are called. */
export const isReturned = (names: readonly string[]): boolean =>
  returnedFiles.filter((file) => names.includes(file)).length > 1 && !names.includes('config.json');

const keys = { model: 'trainyard.model', preprocessing: 'trainyard.preprocessing', origin: 'trainyard.run' } as const;

/** Of weights that leave. */
export function returnedMetadata({
  record,
  model,
  preprocessing,
}: {
  readonly record: RunRecord;
  readonly model: string;
  readonly preprocessing: string;
}): Readonly<Record<string, string>> {
  const { id: run, createdAt, name, dataset, datasetName, config, data } = record;
  const origin: ReturnedOrigin = { run, createdAt, name, dataset, datasetName, config, data };
  return { [keys.model]: model, [keys.preprocessing]: preprocessing, [keys.origin]: JSON.stringify(origin) };
}

const count = z.int().min(0);
const finite = z.number();

const origin = z.looseObject({
  run: count,
  createdAt: finite,
  name: z.string(),
  dataset: z.string(),
  datasetName: z.string(),
  config: z.looseObject({ learner: z.literal('network') }),
  data: z.looseObject({}).nullable(),
});

const result = z.object({
  version: z.literal(1),
  reason: z.enum(['completed', 'early_stopped', 'diverged']),
  ...{ epochs: count, steps: count, bestEpoch: count, processes: z.int().min(1) },
  ...{ seconds: finite, examplesPerSecond: finite },
  ...{ kind: z.enum(['cpu', 'gpu']), device: z.string(), torch: z.string() },
  metrics: z.record(z.string().regex(/^(train|val|test)_[a-z0-9_]+$/), finite),
});

const point = z.object({
  series: z.string().regex(/^[a-z0-9_]{1,64}$/),
  step: count,
  ...{ epoch: finite, seconds: finite, value: finite },
});

/** What metadata of weights say; null: they are of no project of ours, or of none that can be read. */
export function originIn(metadata: Readonly<Record<string, string>>) {
  const texts = [metadata[keys.model], metadata[keys.preprocessing], metadata[keys.origin]] as const;
  const [model, preprocessing, run] = texts;
  if (texts.some((text) => text === undefined)) return null;
  const found = parsed(origin, run);
  return found && { model, preprocessing, origin: found as unknown as ReturnedOrigin };
}

/** null: it is no `result.json`. */
export const resultIn = (text: string): ReturnedResult | null => parsed(result, text);

/** Points of `metrics.jsonl`, or the number of the first line that is none, from 1. */
export function pointsIn(text: string): readonly MetricPoint[] | number {
  const points: MetricPoint[] = [];
  for (const [index, line] of text.trimEnd().split('\n').entries()) {
    const found = parsed(point, line);
    if (found === null) return index + 1;
    points.push(found);
  }
  return points;
}

function parsed<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
