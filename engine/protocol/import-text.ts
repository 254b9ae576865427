// What came of taking up runs of another home, in sentences: for the command line and the window alike.

import type { ImportedRun, ImportReport, RefusedRun } from './keeping.ts';

/** Runs named one by one. */
const named = 20;

export function importText({ machine, imported, known, refused, datasets }: ImportReport): readonly string[] {
  const taken = imported
    .slice(0, named)
    .map(({ run, from, name }) => `Run ${run}: ${name}, run ${from} of ${machine}.`);
  return [
    ...taken,
    ...(imported.length > named ? [`And ${imported.length - named} more.`] : []),
    ...([imported, known, refused].every(({ length }) => length === 0) ? ['The file holds no runs.'] : []),
    ...(known.length > 0 ? [`${here(known)} here already.`] : []),
    ...refused.slice(0, named).map(refusedText),
    ...(refused.length > named ? [`${refused.length - named} more cannot be used.`] : []),
    ...(datasets > 0 ? [`${datasets} ${datasets === 1 ? 'dataset' : 'datasets'} came with them.`] : []),
  ];
}

/** `Run 3 of the file, walrus, is left out: its settings cannot be read.` */
export function refusedText({ from, name, why }: RefusedRun): string {
  const run = from === null ? 'A run of the file' : `Run ${from} of the file, ${name},`;
  return `${run} is left out: ${why}.`;
}

function here(known: readonly ImportedRun[]): string {
  const shown =
    known
      .slice(0, named)
      .map(({ run }) => run)
      .join(', ') + (known.length > named ? ', …' : '');
  return known.length === 1 ? `Run ${shown} is` : `${known.length} runs (${shown}) are`;
}
