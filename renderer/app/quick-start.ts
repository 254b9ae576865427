// From a dataset to a running training with the settings a careful colleague would start from.

import { networkConfig } from '../../engine/learners/network/declaration.ts';
import { defaultPreset, defaultTraining, specOf } from '../../engine/model/presets.ts';
import { predictsTokens, type OutputSpec, type Task } from '../../engine/model/spec.ts';
import type { DatasetShape } from '../../engine/protocol/app.ts';
import type { DatasetInfo, DatasetSettings } from '../../engine/protocol/data.ts';
import type { AppState } from './state.svelte.ts';

/** `penguins.csv`, `small` → `penguins-small`. */
export function suggestName(dataset: string, preset: string): string {
  return `${dataset.replace(/\.[a-z0-9]{1,8}$/i, '')}-${preset}`;
}

/** A dataset's settings with the target and the task that were found out, where they were not chosen. */
export function decided(dataset: DatasetInfo): DatasetSettings {
  const { target, task, settings } = dataset;
  return { ...settings, ...(target === null ? {} : { target }), ...(task === null ? {} : { task }) };
}

/** Classes of the target; 0 = a number. */
export function classesOf(output: OutputSpec): number {
  return output.kind === 'classes' ? output.classes.length : 0;
}

export function taskOf({ input, output }: Pick<DatasetShape, 'input' | 'output'>): Task {
  if (predictsTokens(input)) return 'language';
  return output.kind === 'classes' ? 'classification' : 'regression';
}

/** Starts a run with the default preset and opens its page. */
export async function startWithDefaults(app: AppState, dataset: DatasetInfo): Promise<void> {
  const settings = decided(dataset);
  const shape = await app.service.datasetShape({ dataset: dataset.id, settings });
  const { input, output, counts } = shape;
  const preset = defaultPreset(counts.train, input, classesOf(output));
  const model = specOf(preset, input);
  const common = { dataset: dataset.id, settings, device: 'auto', threads: 0 } as const;
  const config = networkConfig(common, model, defaultTraining(counts.train, taskOf(shape), input, model));
  const run = await app.service.startRun({ name: suggestName(dataset.name, preset.name), config });
  app.router.go(`#run/${run.id}`);
}
