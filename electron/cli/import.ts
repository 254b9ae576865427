// Importing a file from the command line: progress, Ctrl-C, and the options for reading.

import path from 'node:path';
import process from 'node:process';
import type { DataService, DatasetInfo, DatasetSettings, Progress, ReadOptions } from '../../engine/protocol/data.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { readingFields } from '../../engine/settings/reading.ts';
import { withChosen } from '../../engine/settings/values.ts';
import type { OptionValues } from './command.ts';
import type { Interruption } from './interruption.ts';
import { chosenByFlags, flagsOf } from './setting-flags.ts';
import { formatSeconds, type Output } from './output.ts';

export const readOptionDefs = flagsOf(readingFields);

export function readOptions(options: OptionValues): ReadOptions {
  return withChosen<ReadOptions>({}, chosenByFlags(readingFields, options));
}

/** What the commands that read a file have at hand. */
export interface Reading {
  readonly output: Output;
  readonly interruption: Interruption;
}

/** Runs a job of the data service with its progress shown; a signal cancels it and leaves nothing behind. */
export async function withProgress<T>(
  data: DataService,
  { output, interruption }: Reading,
  start: (job: string) => Promise<T>,
): Promise<T> {
  const job = `cli-${process.pid}-${performance.now()}`;
  const stop = data.onProgress((event) => {
    if (event.job === job) output.bar(event.progress.share ?? 0, progressText(event.progress));
  });
  const deafen = interruption.listen(() => void data.cancel({ job }));
  try {
    const result = await start(job);
    interruption.check();
    return result;
  } finally {
    deafen();
    stop();
    output.clearBar();
  }
}

function progressText({ stage, share, secondsLeft }: Progress): string {
  const left = secondsLeft === null ? '' : `, ${formatSeconds(secondsLeft)} left`;
  return `${stage}${share === null ? '' : ` ${Math.floor(share * 100)} %`}${left}`;
}

/** Throws what the import throws; of a model that is taken for rows, what it is. */
export async function importFile(
  data: DataService,
  file: string,
  reading: Reading,
  options: ReadOptions,
  settings: DatasetSettings,
): Promise<DatasetInfo> {
  try {
    return await withProgress(data, reading, (job) =>
      data.import({ job, path: path.resolve(file), options, settings }),
    );
  } catch (error) {
    const { isModel } = await import('../../engine/pretrained/paths.node.ts');
    if (!(error instanceof InputError && (await isModel(file)))) throw error;
    throw new InputError(
      'input.is_model',
      `${path.basename(path.resolve(file))} is a model, not rows to learn from.`,
      'Make a run of it, trainyard import-model PATH, or begin with it: trainyard train DATA --from PATH.',
    );
  }
}
