// Importing a file from the command line: progress, Ctrl-C, and the options for reading.

import path from 'node:path';
import process from 'node:process';
import type { DataService, DatasetInfo, DatasetSettings, Progress, ReadOptions } from '../../engine/protocol/data.ts';
import { choiceOption, numberOption, textOption, type OptionDef, type OptionValues } from './command.ts';
import type { Interruption } from './interruption.ts';
import { formatSeconds, type Output } from './output.ts';

export const readOptionDefs = {
  delimiter: { type: 'string', value: 'CHAR', help: 'field delimiter; \\t for a tab (default: found out)' },
  decimal: { type: 'string', value: '.|,', help: 'decimal mark' },
  encoding: { type: 'string', value: 'utf-8|utf-16|latin-1', help: 'character encoding' },
  'no-header': { type: 'boolean', help: 'the first line is data' },
  'skip-bad-lines': { type: 'boolean', help: 'leave out lines that cannot be read' },
  'image-size': {
    type: 'string',
    value: 'N',
    help: 'pictures: side in pixels, 8 to 256 (default: their own, else 64)',
  },
  fit: {
    type: 'string',
    value: 'crop|pad|stretch',
    help: 'pictures: how they are brought to that size (default crop)',
  },
} as const satisfies Record<string, OptionDef>;

export function readOptions(options: OptionValues): ReadOptions {
  const delimiter = textOption(options, 'delimiter');
  const decimal = choiceOption(options, 'decimal', ['.', ','] as const);
  const encoding = choiceOption(options, 'encoding', ['utf-8', 'utf-16', 'latin-1'] as const);
  const size = numberOption(options, 'image-size', { minimum: 8, maximum: 256, whole: true });
  const fit = choiceOption(options, 'fit', ['crop', 'pad', 'stretch'] as const);
  return {
    ...(delimiter ? { delimiter: delimiter === '\\t' ? '\t' : delimiter } : {}),
    ...(decimal ? { decimal } : {}),
    ...(encoding ? { encoding } : {}),
    ...(options['no-header'] === true ? { header: false } : {}),
    ...(options['skip-bad-lines'] === true ? { skipBadLines: true } : {}),
    ...(size !== undefined || fit ? { image: { size, fit } } : {}),
  };
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

export function importFile(
  data: DataService,
  file: string,
  reading: Reading,
  options: ReadOptions,
  settings: DatasetSettings,
): Promise<DatasetInfo> {
  return withProgress(data, reading, (job) => data.import({ job, path: path.resolve(file), options, settings }));
}
