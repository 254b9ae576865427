// Commands on past runs: compare, delete and restore, and the columns of lists; runs-list.ts lists them, show.ts shows one.

import { declarationOf } from '../../../engine/learners/declared/registry.ts';
import { layerText } from '../../../engine/model/layer-words.ts';
import { leadingMetrics, metricWords } from '../../../engine/model/metrics.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import { beginningWords, familyWords } from '../../../engine/protocol/family.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { leftOutText } from '../../../engine/protocol/use.ts';
import { about } from '../about.ts';
import { choiceOption, runNumber, type Command } from '../command.ts';
import { formatNumber, formatSeconds, formatTime, type Column } from '../output.ts';
import { pairedTests, pairText } from '../paired.ts';
import { splitText } from '../run-text.ts';

/** The metric that stands for a run in lists, at its best: its leading one of the validation split, else the loss. */
export function headline(run: RunRecord): { name: string; value: number } | null {
  for (const name of [...leadingMetrics.map((metric) => `val_${metric}`), 'val_loss', 'train_loss']) {
    const value = ownValue(run.best, name)?.value;
    if (value !== undefined) return { name, value };
  }
  return null;
}

export const runColumns: readonly Column<RunRecord>[] = [
  { title: 'run', value: (run) => String(run.id), right: true },
  { title: 'name', value: (run) => run.name },
  { title: 'state', value: (run) => run.state },
  { title: 'dataset', value: (run) => run.datasetName },
  { title: 'model', value: ({ config }) => declarationOf(config).label(config) },
  { title: 'device', value: (run) => (run.threads > 1 ? `${run.device} ×${run.threads}` : run.device) },
  {
    title: 'epochs',
    value: (run) => {
      if (!run.progress || !declarationOf(run.config).curves) return '–';
      const early = run.result?.reason === 'early_stopped' ? ' early' : '';
      return `${run.progress.epoch}/${run.progress.epochs}${early}`;
    },
    right: true,
  },
  {
    title: 'best',
    value: (run) => {
      const metric = headline(run);
      return metric ? `${metric.name} ${formatNumber(metric.value)}` : '–';
    },
  },
  { title: 'time', value: (run) => (run.progress ? formatSeconds(run.progress.secondsElapsed) : '–'), right: true },
  { title: 'created', value: (run) => formatTime(run.createdAt) },
];

/** Where there is any. */
export const familyColumn: Column<RunRecord> = { title: 'family', value: (run) => familyWords(run) ?? '' };

/** What `--json` prints of a run. */
export const runEvent = (run: RunRecord): object => ({ event: 'run', ...run, run: run.id });

export const compare: Command = {
  ...about.compare,
  positionals: [2, Infinity],
  options: {
    all: { type: 'boolean', help: 'also settings that are the same' },
    paired: {
      type: 'string',
      value: 'SPLIT',
      help: 'test the others against the first on the same rows of a split: train, validation, test, or out-of-fold (of runs without folds the validation split)',
    },
  },
  run: async (context) => {
    const { positionals, options, output, services } = context;
    const split = choiceOption(options, 'paired', ['train', 'validation', 'test', 'out-of-fold']);
    const store = await services.store;
    const ids = positionals.map(runNumber);
    const found = await Promise.all(ids.map((id) => store.run({ run: id })));
    const pairs = split === undefined ? [] : await pairedTests(context, found, split);
    const settings = found.map((run) =>
      flatten({
        dataset: run.datasetName,
        device: run.device,
        threads: run.threads,
        split: splitText(run),
        left_out: leftOutText(run.data?.leftOut ?? []),
        learner: run.config.learner,
        beginning: beginningWords(run) ?? '–',
        ...declarationOf(run.config).settings(run.config),
        seed: run.config.seed,
      }),
    );
    const names = [...new Set(settings.flatMap((entry) => Object.keys(entry)))];
    const differing = names.filter((name) => new Set(settings.map((entry) => ownValue(entry, name))).size > 1);
    const costs = {
      elapsed_seconds: found.map((run) => run.progress?.secondsElapsed ?? null),
      training_seconds: found.map((run) => run.result?.seconds ?? null),
      training_rows_per_second: found.map((run) => run.result?.examplesPerSecond || null),
    };
    const baselines = options.all === true ? baselineRows(found) : {};
    const metricNames = [...new Set(found.flatMap((run) => Object.keys(run.result?.metrics ?? {})))];
    output.event({
      event: 'comparison',
      runs: ids,
      settings: Object.fromEntries(
        (options.all === true ? names : differing).map((name) => [
          name,
          settings.map((entry) => ownValue(entry, name) ?? null),
        ]),
      ),
      metrics: Object.fromEntries(
        metricNames.map((name) => [name, found.map((run) => ownValue(run.result?.metrics ?? {}, name) ?? null)]),
      ),
      costs,
      ...(options.all === true ? { baselines } : {}),
      ...(split === undefined
        ? {}
        : {
            paired: pairs.map(({ first, second, test, corrected }) => ({
              first: first.id,
              second: second.id,
              split,
              test,
              corrected,
            })),
          }),
    });
    if (output.json) return;
    const rows = [
      ...(options.all === true ? names : differing).flatMap((name) =>
        name === modelLayers
          ? layerRows(found, options.all === true)
          : [[name, ...settings.map((entry) => ownValue(entry, name) ?? '–')]],
      ),
      [
        'scores of the weights kept',
        ...found.map(({ result, config }) => {
          const { curves, unit } = declarationOf(config);
          return result && curves ? `${unit.one} ${result.bestEpoch}` : '–';
        }),
      ],
      ...metricNames.map((name) => [
        name.replace(
          /^(train|val|test)_(.+)$/,
          (_, split: string, metric: string) => `${split} ${metricWords(metric)}`,
        ),
        ...found.map((run) => formatNumber(ownValue(run.result?.metrics ?? {}, name))),
      ]),
      ...Object.entries({ ...baselines, ...costs }).map(([name, values]) => [
        name.replaceAll('_', ' '),
        ...values.map(formatNumber),
      ]),
    ];
    output.table(rows, [
      { title: '', value: (row) => row[0] },
      ...found.map((run, i) => ({
        title: `${run.id} ${run.name}`,
        value: (row: readonly string[]) => row[i + 1],
        right: true,
      })),
    ]);
    if (differing.length === 0) output.line('The settings are the same.');
    for (const pair of pairs) output.line(pairText(pair));
  },
};

/** The setting that is a list of layers: a line for each in words, instead of one that is wider than any terminal. */
const modelLayers = 'model.layers';

/** The layers of runs side by side, those alone that are not alike in all unless `all` are asked for. */
function layerRows(runs: readonly RunRecord[], all: boolean): readonly (readonly string[])[] {
  const layers = runs.map(({ config }) => declarationOf(config).layers?.(config) ?? []);
  const most = Math.max(...layers.map(({ length }) => length));
  return Array.from({ length: most }, (_, at) =>
    layers.map((its) => (its[at] ? layerText(its[at], String) : '–')),
  ).flatMap((texts, at) => (all || new Set(texts).size > 1 ? [[`layer ${at + 1}`, ...texts]] : []));
}

/** What each run has to beat, by the scores of the splits that were not trained on. */
function baselineRows(runs: readonly RunRecord[]): Readonly<Record<string, readonly (number | null)[]>> {
  const of = (kind: 'linear' | 'constant', name: string) =>
    runs.map(({ result }) => ownValue(result?.baseline?.[kind]?.metrics ?? {}, name) ?? null);
  return Object.fromEntries(
    ['val_accuracy', 'val_r2', 'test_accuracy', 'test_r2'].flatMap((name) =>
      (['linear', 'constant'] as const)
        .map((kind): [string, readonly (number | null)[]] => [`${kind}_${name}`, of(kind, name)])
        .filter(([, values]) => values.some((value) => value !== null)),
    ),
  );
}

/** Nested settings as `optimizer.name` → text. */
function flatten(value: object, prefix = ''): Record<string, string> {
  const result: [name: string, value: string][] = [];
  for (const [key, part] of Object.entries(value)) {
    const name = prefix + key;
    if (Array.isArray(part)) result.push([name, JSON.stringify(part)]);
    else if (part !== null && typeof part === 'object')
      result.push(...Object.entries(flatten(part as object, `${name}.`)));
    else result.push([name, String(part)]);
  }
  return Object.fromEntries(result);
}

export const remove: Command = {
  ...about.delete,
  positionals: [1, Infinity],
  options: {
    restore: { type: 'boolean', help: 'bring them back from the trash' },
    purge: { type: 'boolean', help: 'remove them and their files for good' },
  },
  run: async ({ positionals, options, output, services }) => {
    if (options.restore === true && options.purge === true) {
      throw new InputError('usage.delete', '--restore and --purge exclude each other.', 'Give one of them.');
    }
    const store = await services.store;
    const ids = positionals.map(runNumber);
    for (const id of ids) await store.run({ run: id });
    const list = ids.join(', ');
    if (options.restore === true) {
      await store.restoreRuns({ runs: ids });
      output.event({ event: 'restored', runs: ids });
      output.line(`Restored ${list}.`);
      return;
    }
    await store.deleteRuns({ runs: ids });
    if (options.purge === true) {
      const { bytes } = await store.purge({ runs: ids });
      output.event({ event: 'purged', runs: ids, bytes });
      output.line(`Removed ${list} for good.`);
      return;
    }
    output.event({ event: 'deleted', runs: ids });
    output.line(`Moved ${list} to the trash. Bring back: trainyard delete --restore ${positionals.join(' ')}`);
  },
};
