// Commands on past runs: show, compare, delete and restore; runs-list.ts lists them.

import { leadingMetrics, metricWords } from '../../../engine/model/metrics.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import type { StoreService } from '../../../engine/protocol/store.ts';
import { costOf, costWords, electricityOf } from '../../../engine/hardware/bill.ts';
import { electricityKey } from '../../../engine/settings/electricity.ts';
import { isCrossValidation, missingFolds } from '../../../engine/protocol/folds.ts';
import { usualClass } from '../../../engine/explanation/subject.ts';
import { lookAtTree } from '../../../engine/runs/tree-look.ts';
import { refuseMember } from '../../../engine/runs/member-runs.ts';
import { readModelFiles } from '../../../engine/runs/model-files.ts';
import { treesOfRun } from '../../../engine/runs/trees.ts';
import { foldsOf } from '../../../engine/runs/cross-validation.ts';
import { foldsNow } from '../../../engine/runs/out-of-fold.ts';
import { phases, phaseWord } from '../../../engine/protocol/bill.ts';
import { isNetwork } from '../../../engine/learners/network/declaration.ts';
import { familyWords } from '../../../engine/protocol/family.ts';
import { baselineWords } from '../../../engine/protocol/baseline.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import { leftOutText, splitOrigin, splitRule, usualSplit } from '../../../engine/protocol/use.ts';
import { about } from '../about.ts';
import { choiceOption, numberOption, runNumber, textOption, type Command } from '../command.ts';
import { printTree } from '../tree-text.ts';
import { wantedClass } from '../wanted-class.ts';
import { gainText } from '../tree-gains.ts';
import { printLeaderboard } from '../leaderboard.ts';
import { printFolds } from '../out-of-fold.ts';
import { pairedTests, pairText } from '../paired.ts';
import { homeFolder } from '../home.ts';
import { openCatalogue } from '../own-catalogue.ts';
import {
  counted,
  formatBytes,
  formatCount,
  formatNumber,
  formatSeconds,
  formatTime,
  type Column,
  type Output,
} from '../output.ts';
import type { Fact } from '../../../engine/learners/declared/declare.ts';
import { declarationOf } from '../../../engine/learners/declared/registry.ts';
import { ownValue } from '../../../engine/protocol/own.ts';

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

export const show: Command = {
  ...about.show,
  positionals: [1, 1],
  options: {
    tree: { type: 'string', value: 'K', help: 'draws tree K of a run of trees, from 1, instead' },
    class: { type: 'string', value: 'NAME', help: 'class whose values the leaves of --tree show' },
    metrics: { type: 'boolean', help: 'also every recorded metric point' },
    log: { type: 'boolean', help: 'also what the run said: epochs, checkpoints, device, times' },
  },
  run: async ({ positionals, options, output, services }) => {
    const store = await services.store;
    const run = await store.run({ run: runNumber(positionals[0]) });
    const tree = numberOption(options, 'tree', { minimum: 1, whole: true });
    if (tree !== undefined) {
      refuseMember(run, 'could be drawn');
      const { model, weights } = await readModelFiles(store, run.id);
      const { trees, file } = treesOfRun(model, weights, run.id);
      const wanted = wantedClass(file.output, textOption(options, 'class')) ?? usualClass(file.output);
      const look = lookAtTree(trees, file, tree, wanted);
      output.event({ event: 'tree', run: run.id, ...look });
      if (!output.json) printTree(output, look);
      return;
    }
    output.event(runEvent(run));
    for (const [fold, child] of isCrossValidation(run.config) ? await foldsOf(store, run.id) : []) {
      output.event({ event: 'fold', fold, run: child.id, state: child.state, metrics: child.result?.metrics ?? null });
    }
    if (options.metrics === true) {
      const points = await store.metrics({ run: run.id });
      await output.events(points.map((point) => ({ event: 'metric', ...point })));
    }
    if (!output.json) {
      showRun(output, run);
      if (run.result?.folds) {
        printFolds(output, run.result.folds, await foldNumbers(store, run.id));
        const missing = missingFolds({ of: run.result.folds.of, folds: (await foldsNow(store, run)).folds });
        if (missing !== null && missing !== run.result.doubt) output.line(`! ${missing}`);
      }
      const gain = await gainText(store, run);
      if (gain !== null) output.line(`  gain      ${gain}`);
      for (const [name, value] of billFacts(run)) output.line(`  ${name.padEnd(9)} ${value}`);
      const cost = await costText(run, store, output);
      if (cost !== null) output.line(`  cost      ${cost}`);
    }
    if (options.log !== true) return;
    for (const { time, level, message } of await store.log({ run: run.id })) {
      output.event({ event: 'log', time, level, message });
      output.line(`  ${formatTime(time)}  ${level === 'info' ? '' : `${level}: `}${message}`);
    }
  },
};

function showRun(output: Output, run: RunRecord): void {
  const { config, result } = run;
  output.line(`Run ${run.id}: ${run.name} (${run.state})`);
  const facts: readonly Fact[] = [
    ['dataset', `${run.datasetName} (${run.dataset.slice(0, 12)})`],
    ...declarationOf(config).facts(config, run.parameters),
    ['device', run.threads > 1 ? `${run.device}, ${run.threads} threads` : run.device],
    ['split', splitText(run)],
    ['left out', run.data ? leftOutText(run.data.leftOut) : 'known once its data is prepared'],
    ['created', formatTime(run.createdAt)],
    ...familyFacts(run),
  ];
  for (const [name, value] of facts) output.line(`  ${name.padEnd(9)} ${value}`);
  if (run.error) output.line(`  error     ${run.error.message} ${run.error.hint}`);
  if (result) {
    output.line(`  result    ${result.reason.replace('_', ' ')} after ${workText(run)}, ${timesText(run)}`);
    const { curves, unit } = declarationOf(config);
    if (result.folds) output.line('  scores    means of the folds:');
    else if (result.divergence && result.bestEpoch === 0) output.line('  weights   none');
    else if (!curves || isEnsemble(run)) output.line('  scores');
    else output.line(`  weights   of ${unit.one} ${result.bestEpoch}, the best by loss; their scores:`);
    printMetrics(output, result.metrics);
    printLeaderboard(output, run);
    const against = againstText(run);
    if (against !== null) output.line(`  to beat   ${against}`);
    if (result.doubt) output.line(`  in doubt  ${result.doubt}`);
  }
  if (run.tags.length > 0) output.line(`  tags      ${run.tags.join(', ')}`);
  if (run.notes) output.line(`  notes     ${run.notes}`);
}

/** What it comes from. */
function familyFacts(run: RunRecord): readonly Fact[] {
  const words = familyWords(run);
  return words === null ? [] : [['family', words]];
}

/** Seconds by phase, and what its process held in memory. */
function billFacts({ progress, config }: RunRecord): readonly Fact[] {
  const bill = progress?.bill;
  if (!bill) return [];
  const spent = phases.flatMap((phase) => {
    const seconds = bill.phases[phase];
    return seconds === undefined ? [] : [`${phaseWord(phase)} ${formatSeconds(seconds)}`];
  });
  const { deviceBytes, peakBytes } = bill;
  const allocated = isNetwork(config) ? 'model and rows' : 'the rows alone';
  const memory = [
    ...(peakBytes === undefined ? [] : [`its process held ${formatBytes(peakBytes)} at most`]),
    ...(deviceBytes === undefined ? [] : [`${allocated} took ${formatBytes(deviceBytes)}`]),
  ];
  return [
    ...(spent.length > 0 ? [['phases', spent.join(', ')] as const] : []),
    ...(memory.length > 0 ? [['memory', memory.join(', ')] as const] : []),
  ];
}

/** What it came to at the person's own electricity; null while nothing is known of it. */
async function costText({ progress }: RunRecord, store: StoreService, output: Output): Promise<string | null> {
  if (!progress?.bill) return null;
  const electricity = electricityOf(await store.getSetting({ key: electricityKey }));
  const cost = costOf(progress.bill, electricity, openCatalogue(homeFolder(), output).catalogue);
  if (cost === null) return `the power of ${progress.bill.deviceName ?? 'its GPU'} is not known`;
  return `${costWords(cost)}. ${cost.how}`;
}

/** `val accuracy 0.93, a linear model gets 0.91, always guessing “no” 0.62`; null where that is not known. */
export function againstText({ result }: RunRecord): string | null {
  const words = result && baselineWords(result, formatNumber);
  return words && `${words.series.replace('_', ' ')} ${words.text}`;
}

/** `100 epochs`, or `55 of 100 epochs` of a run that ended before its time. */
export function epochsText({ result, config }: RunRecord): string {
  const { unit, units } = declarationOf(config);
  const [done, all] = [result?.epochs ?? 0, units(config)];
  const inWords = (count: number): string => (count === 1 ? unit.one : unit.many);
  return done < all ? `${done} of ${all} ${inWords(all)}` : `${done} ${inWords(done)}`;
}

/** `12 of 100 epochs, 300 steps`, or what the learner has to say. */
export function workText(run: RunRecord): string {
  const { folds } = run.result ?? {};
  if (folds) return `${folds.folds.filter(({ problem }) => problem === null).length} of ${counted(folds.of, 'fold')}`;
  return run.result?.remark ?? `${epochsText(run)}, ${formatCount(run.result?.steps ?? 0)} steps`;
}

/** The run of each fold of a cross-validation. */
export async function foldNumbers(store: StoreService, run: number): Promise<ReadonlyMap<number, number>> {
  return new Map([...(await foldsOf(store, run))].map(([fold, { id }]) => [fold, id]));
}

/** Whether several models answer together. */
const isEnsemble = ({ result, relation }: RunRecord): boolean =>
  result?.leaderboard !== undefined || relation === 'member';

/** Which weights are kept. */
export function keptText(run: RunRecord): string {
  const { result, config } = run;
  if (isEnsemble(run)) return 'its scores:';
  if (result?.folds) return 'means over the folds:';
  const { curves, unit } = declarationOf(config);
  if (result?.divergence && result.bestEpoch === 0) return 'no weights are kept';
  return `${curves ? `the weights of ${unit.one} ${result?.bestEpoch ?? 0}` : 'the weights'} are kept, their scores:`;
}

/** What a run took: all of it, and the training alone with its speed. */
export function timesText({ progress, result }: RunRecord): string {
  // What has no steps has no rate.
  const rate = result?.examplesPerSecond ? `, ${formatCount(result.examplesPerSecond)} training rows/s` : '';
  const training = result ? ` (training ${formatSeconds(result.seconds)}${rate})` : '';
  return progress ? `${formatSeconds(progress.secondsElapsed)} without pauses${training}` : training.trim();
}

function splitText({ data, config }: RunRecord): string {
  if (data === null) return `${(config.settings.split ?? usualSplit).join(', ')} asked for`;
  const { train, validation, test } = data.counts;
  const { folds } = config;
  const origin = [splitRule(config.settings), splitOrigin(data)].filter((text) => text !== '').join('; ');
  return (
    (folds === undefined ? '' : `${counted(folds, 'fold')}, of the first `) +
    `${counted(train, 'row')} train, ${formatCount(validation)} validate, ${formatCount(test)} test` +
    (origin === '' ? '' : `; ${origin}`)
  );
}

/** A table with a row a metric and a column a split; nothing where there are none. */
export function printMetrics(output: Output, metrics: Readonly<Record<string, number>>): void {
  const names = [...new Set(Object.keys(metrics).map((name) => name.replace(/^(train|val|test)_/, '')))];
  if (names.length === 0) return;
  output.table(names, [
    { title: '  metric', value: (name) => `  ${metricWords(name)}` },
    ...['train', 'val', 'test'].map((split) => ({
      title: split,
      value: (name: string) => formatNumber(ownValue(metrics, `${split}_${name}`)),
      right: true,
    })),
  ]);
}

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
        ...declarationOf(run.config).settings(run.config),
        seed: run.config.seed,
      }),
    );
    const names = [...new Set(settings.flatMap((entry) => Object.keys(entry)))];
    const differing = names.filter((name) => new Set(settings.map((entry) => ownValue(entry, name))).size > 1);
    const costs = {
      elapsed_seconds: found.map((run) => run.progress?.secondsElapsed ?? null),
      training_seconds: found.map((run) => run.result?.seconds ?? null),
      training_rows_per_second: found.map((run) => run.result?.examplesPerSecond ?? null),
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
      ...(options.all === true ? names : differing).map((name) => [
        name,
        ...settings.map((entry) => ownValue(entry, name) ?? '–'),
      ]),
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
