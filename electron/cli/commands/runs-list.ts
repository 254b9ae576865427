// `runs`: the list of runs and finding in it, groups, and runs carried from one machine to another.

import path from 'node:path';
import { InputError } from '../../../engine/protocol/errors.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { importText } from '../../../engine/protocol/import-text.ts';
import { about } from '../about.ts';
import { numberOption, runNumber, textOption, type Command, type CommandContext } from '../command.ts';
import { counted, type Column } from '../output.ts';
import { checkOutput } from '../output-file.ts';
import { contentText, sizeText, withJob } from './backup.ts';
import { familyColumn, runColumns, runEvent } from './runs.ts';

const groupColumn: Column<RunRecord> = { title: 'group', value: ({ group }) => group ?? '' };

export const runs: Command = {
  ...about.runs,
  positionals: [0, Infinity],
  options: {
    search: {
      type: 'string',
      value: 'TEXT',
      help: 'only runs with these words in their name, dataset, group, tags, notes, columns or settings',
    },
    group: { type: 'string', value: 'NAME', help: 'only runs of this group; with runs behind it, put them into it' },
    ungroup: { type: 'boolean', help: 'take the runs behind it out of their groups' },
    limit: { type: 'string', value: 'N', help: 'at most so many (default 50)' },
    deleted: { type: 'boolean', help: 'those in the trash' },
    folds: { type: 'boolean', help: 'also the folds of cross-validations' },
    datasets: { type: 'boolean', help: 'export: the datasets of the runs, too' },
  },
  run: async (context) => {
    const [first, ...rest] = context.positionals;
    if (first === 'export') return exportRunsTo(context, rest);
    if (first === 'import') return importRunsFrom(context, rest);
    if (first === undefined) return listRuns(context);
    return groupRuns(context);
  },
};

async function listRuns({ options, output, services }: CommandContext): Promise<void> {
  const store = await services.store;
  const group = textOption(options, 'group');
  const search = textOption(options, 'search');
  const { runs: found, total } = await store.runs({
    search,
    group,
    deleted: options.deleted === true,
    // Folds stand under their cross-validation (`show`); whoever looks for words finds them too.
    withoutFolds: search === undefined && options.folds !== true,
    limit: numberOption(options, 'limit', { minimum: 1, whole: true }) ?? 50,
  });
  await output.events(found.map(runEvent));
  if (output.json) return;
  if (total === 0) {
    const asked = search !== undefined || group !== undefined || options.deleted === true;
    output.line(asked ? 'No run matches.' : 'No runs yet. Train one: trainyard train data.csv');
    return;
  }
  output.table(found, [
    ...runColumns,
    ...(found.some(({ parent }) => parent !== null) ? [familyColumn] : []),
    ...(found.some(({ group }) => group !== null) ? [groupColumn] : []),
  ]);
  if (total > found.length) output.line(`${found.length} of ${counted(total, 'run')}; more with --limit.`);
}

async function groupRuns({ positionals, options, output, services }: CommandContext): Promise<void> {
  const group = textOption(options, 'group')?.trim();
  if (Number(options.ungroup === true) + Number(Boolean(group)) !== 1) {
    throw new InputError(
      'usage.arguments',
      `runs ${positionals.join(' ')} says nothing to do.`,
      'See `trainyard runs --help`; `trainyard show RUN` shows one.',
    );
  }
  const store = await services.store;
  const ids = positionals.map(runNumber);
  for (const run of ids) await store.run({ run });
  for (const run of ids) await store.updateRun({ run, patch: { group: group ?? null } });
  output.event({ event: 'grouped', runs: ids, group: group ?? null });
  output.line(
    group ? `${counted(ids.length, 'run')} in group “${group}”.` : `${counted(ids.length, 'run')} in no group.`,
  );
}

async function exportRunsTo(context: CommandContext, rest: readonly string[]): Promise<void> {
  const { options, output, services } = context;
  const [target, ...numbers] = [...rest].reverse();
  if (numbers.length === 0) {
    throw new InputError(
      'usage.arguments',
      'runs export takes runs and a file: RUN… FILE.',
      'See `trainyard runs --help`.',
    );
  }
  const ids = numbers.reverse().map(runNumber);
  const file = path.resolve(target);
  await checkOutput(file, output);
  const store = await services.store;
  const report = await withJob(context, store, (job) =>
    store.exportRuns({ job, file, runs: ids, datasets: options.datasets === true }),
  );
  output.event({ event: 'exported_runs', ...report, runs: ids });
  output.line(`${contentText(report)} written to ${target} and read again: ${sizeText(report)}.`);
}

async function importRunsFrom(context: CommandContext, rest: readonly string[]): Promise<void> {
  const { output, services } = context;
  if (rest.length !== 1) {
    throw new InputError('usage.arguments', 'runs import takes one file.', 'See `trainyard runs --help`.');
  }
  const store = await services.store;
  const report = await withJob(context, store, (job) => store.importRuns({ job, file: path.resolve(rest[0]) }));
  output.event({ event: 'imported_runs', ...report });
  for (const line of importText(report)) output.line(line);
}
