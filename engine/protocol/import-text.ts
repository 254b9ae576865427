// What came of taking up runs of another home, in sentences: for the command line and the window alike.

import type { ImportedRun, ImportReport } from './keeping.ts';

/** Runs named one by one. */
const named = 20;

export function importText({ machine, imported, known, datasets }: ImportReport): readonly string[] {
  const taken = imported
    .slice(0, named)
    .map(({ run, from, name }) => `Run ${run}: ${name}, run ${from} of ${machine}.`);
  return [
    ...taken,
    ...(imported.length > named ? [`And ${imported.length - named} more.`] : []),
    ...(imported.length === 0 && known.length === 0 ? ['The file holds no runs.'] : []),
    ...(known.length > 0 ? [`${here(known)} here already.`] : []),
    ...(datasets > 0 ? [`${datasets} ${datasets === 1 ? 'dataset' : 'datasets'} came with them.`] : []),
  ];
}

function here(known: readonly ImportedRun[]): string {
  const shown =
    known
      .slice(0, named)
      .map(({ run }) => run)
      .join(', ') + (known.length > named ? ', …' : '');
  return known.length === 1 ? `Run ${shown} is` : `${known.length} runs (${shown}) are`;
}
