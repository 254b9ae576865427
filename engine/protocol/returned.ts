// What a project that trains elsewhere takes along of its run, and brings back: metadata of its weights, so that the finished folder says
// by itself what it is.

import type { RunConfig, RunRecord } from './runs.ts';

/** The run that was exported. */
export interface ReturnedOrigin {
  readonly run: number;
  readonly createdAt: number;
  readonly name: string;
  readonly datasetName: string;
  readonly config: RunConfig;
}

const keys = { model: 'trainyard.model', preprocessing: 'trainyard.preprocessing', origin: 'trainyard.run' } as const;

/** Of weights that leave. */
export function returnedMetadata({
  record: { id: run, createdAt, name, datasetName, config },
  model,
  preprocessing,
}: {
  readonly record: RunRecord;
  readonly model: string;
  readonly preprocessing: string;
}): Readonly<Record<string, string>> {
  const origin: ReturnedOrigin = { run, createdAt, name, datasetName, config };
  return { [keys.model]: model, [keys.preprocessing]: preprocessing, [keys.origin]: JSON.stringify(origin) };
}
