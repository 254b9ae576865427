// `datasets`: the imported copies on this machine, and `datasets remove`. Runs keep all they need to predict and to be
// exported; only to be resumed do they need their dataset, and importing the same file brings back the same one.

import type { DatasetInfo } from '../../../engine/protocol/data.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import { finalStates, type RunRecord, type RunState } from '../../../engine/protocol/runs.ts';
import type { RecordField, StoreService } from '../../../engine/protocol/store.ts';
import { about } from '../about.ts';
import type { Command, CommandContext } from '../command.ts';
import { formatBytes, formatCount, formatTime } from '../output.ts';

/** What is asked of each run. */
const fields = ['id', 'state'] as const satisfies readonly RecordField[];
type ListedRun = Pick<RunRecord, (typeof fields)[number]>;

interface Listed {
  readonly info: DatasetInfo;
  readonly runs: readonly ListedRun[];
}

/** Characters of a dataset's number that are shown, and that suffice to name it. */
const shownCharacters = 12;
const fewestCharacters = 4;

export const datasets: Command = {
  ...about.datasets,
  positionals: [0, Infinity],
  options: {},
  run: async (context) => {
    const [action, ...names] = context.positionals;
    if (action === undefined) return list(context);
    if (action !== 'remove') {
      throw new InputError('usage.arguments', `datasets cannot “${action}”.`, 'See `trainyard datasets --help`.');
    }
    if (names.length === 0) {
      throw new InputError(
        'usage.arguments',
        'datasets remove needs a dataset.',
        'List them with `trainyard datasets`.',
      );
    }
    await remove(context, names);
  },
};

async function list({ output, services }: CommandContext): Promise<void> {
  const found = await everyDataset(services);
  await output.events(
    found.map(({ info, runs }) => {
      const { id, name, kind, source, rows, columns, bytes, importedAt, target, task } = info;
      const facts = { name, kind, source, rows, columns: columns.length, bytes, importedAt, target, task };
      return { event: 'dataset', dataset: id, ...facts, runs: runs.map((run) => run.id) };
    }),
  );
  if (output.json) return;
  if (found.length === 0) {
    output.line('No datasets yet. Import one: trainyard inspect data.csv');
    return;
  }
  output.table(found, [
    { title: 'dataset', value: ({ info }) => info.id.slice(0, shownCharacters) },
    { title: 'source', value: ({ info }) => info.source },
    { title: 'rows', value: ({ info }) => formatCount(info.rows), right: true },
    { title: 'columns', value: ({ info }) => formatCount(info.columns.length), right: true },
    { title: 'size', value: ({ info }) => formatBytes(info.bytes), right: true },
    { title: 'imported', value: ({ info }) => formatTime(info.importedAt) },
    { title: 'runs', value: ({ runs }) => runs.map((run) => run.id).join(', ') || '–' },
  ]);
}

async function remove({ output, services }: CommandContext, names: readonly string[]): Promise<void> {
  const all = await everyDataset(services);
  const chosen = [...new Set(names.map((name) => datasetNamed(all, name)))];
  // All or none: nothing goes while one of them is at work.
  for (const { info, runs } of chosen) {
    const active = runs.filter((run) => !finalStates.has(run.state));
    if (active.length === 0) continue;
    throw new InputError(
      'input.dataset_used',
      `${info.source} is at work: ${runList(active)} ${active.length === 1 ? 'needs' : 'need'} it.`,
      'Wait for the end, or use `trainyard stop`.',
    );
  }
  for (const { info, runs } of chosen) {
    await services.data.remove({ dataset: info.id });
    const resumable = runs.filter((run) => resumableStates.includes(run.state));
    output.event({
      event: 'dataset_removed',
      dataset: info.id,
      source: info.source,
      bytes: info.bytes,
      runs: runs.map((run) => run.id),
      cannotResume: resumable.map((run) => run.id),
    });
    output.line(`Removed ${info.source} (${formatBytes(info.bytes)}). To have it back, import its file again.`);
    if (runs.length > 0)
      output.line(`  ${runList(runs)} can still be shown and predict, and leave in formats that need no rows of it.`);
    if (resumable.length > 0) output.line(`! ${runList(resumable)} cannot be resumed until then.`);
  }
}

const resumableStates: readonly RunState[] = ['stopped', 'failed', 'interrupted'];

const runList = (runs: readonly ListedRun[]): string =>
  `run${runs.length === 1 ? '' : 's'} ${runs.map((run) => run.id).join(', ')}`;

async function everyDataset(services: CommandContext['services']): Promise<readonly Listed[]> {
  const store = await services.store;
  const found = await services.data.list();
  return Promise.all(found.map(async (info) => ({ info, runs: await runsOn(store, info.id) })));
}

const everyRun = 2 ** 31 - 1;

/** Those in the trash as well: they may come back. */
async function runsOn(store: StoreService, dataset: string): Promise<readonly ListedRun[]> {
  const found = [false, true].map((deleted) => store.runs({ dataset, deleted, limit: everyRun, fields }));
  const lists = await Promise.all(found);
  return lists.flatMap(({ runs }) => runs).sort((a, b) => a.id - b.id);
}

/** The dataset whose number begins so. Throws InputError for none and for several. */
function datasetNamed(all: readonly Listed[], name: string): Listed {
  const found = name.length < fewestCharacters ? [] : all.filter(({ info }) => info.id.startsWith(name.toLowerCase()));
  if (found.length === 1) return found[0];
  throw new InputError(
    'input.unknown_dataset',
    found.length === 0 ? `There is no dataset “${name}” here.` : `${found.length} datasets begin with “${name}”.`,
    'List them with `trainyard datasets` and give the number in its first column.',
  );
}
