// The run that the flags of `train` and `check` ask for: on a file that is imported first, or on a dataset that is here.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { configWith } from '../../engine/learners/declared/registry.ts';
import { isNetwork, networkConfig } from '../../engine/learners/network/declaration.ts';
import type { DatasetInfo, DatasetSettings } from '../../engine/protocol/data.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { RunConfig, RunRecord } from '../../engine/protocol/runs.ts';
import { namedDevices } from '../../engine/protocol/several-devices.ts';
import { isPretrained } from '../../engine/protocol/pretrained.ts';
import { expectedCounts, fewTestedText, leftOutColumns, leftOutText, readAs } from '../../engine/protocol/use.ts';
import { readingOf } from '../../engine/runs/reading.ts';
import { runFields } from '../../engine/settings/run.ts';
import { textOption, type CommandContext, type OptionValues } from './command.ts';
import { withFlag } from './data-warning.ts';
import { importFile, readOptions } from './import.ts';
import { counted, type Output } from './output.ts';
import { chosenByFlags } from './setting-flags.ts';
import { threadsOption } from './threads-option.ts';
import {
  checkTrainingOptions,
  dataOf,
  datasetSettings,
  learnerOption,
  modelOption,
  seedOption,
  settingsByFlags,
  trainingSpec,
  type TrainedOn,
} from './training-options.ts';
import { layersOption, parentOption } from './transfer-options.ts';

export interface AskedRun {
  readonly info: DatasetInfo;
  readonly config: RunConfig;
  /** Whose weights it begins with. */
  readonly parent: RunRecord | undefined;
}

const chosenFolds = (options: OptionValues): Pick<RunConfig, 'folds'> => {
  const { folds } = chosenByFlags(runFields, options);
  return folds === undefined ? {} : { folds };
};

/** Where to train; on several devices this process, or the app's CPU process, is the one that sums. */
function chosenDevices(options: OptionValues): Pick<RunConfig, 'device' | 'devices'> {
  const { devices } = chosenByFlags(runFields, options);
  const device = deviceOption(options) ?? 'auto';
  if (devices === undefined) return { device };
  namedDevices(devices);
  if (device === 'auto') return { device: 'cpu', devices };
  throw new InputError('usage.option', '--device and --devices do not go together.', 'Leave one of them out.');
}

export const deviceOption = (options: OptionValues): RunConfig['device'] | undefined =>
  chosenByFlags(runFields, options).device;

/** `datasets`: the first argument may name one that is here. */
export async function askedRun(
  context: CommandContext,
  { datasets = false }: { readonly datasets?: boolean } = {},
): Promise<AskedRun> {
  const { positionals, options, output, services } = context;
  const [file] = positionals;
  let settings = datasetSettings(options);
  // Which layer a name means is known with the model.
  await checkTrainingOptions({ ...options, freeze: undefined });
  const devices = chosenDevices(options);
  const known = datasets && !existsSync(path.resolve(file)) ? await datasetNamed(context, file, settings) : null;
  let info = known ?? (await importFile(services.data, file, context, readOptions(options), settings));
  const parent = await parentOption(context);
  if (parent && learnerOption(options).layers !== undefined) {
    const reading = await readingOf({ store: await services.store, data: services.data }, parent);
    settings = readAs({ ...info, settings }, reading, options.text === undefined);
    if (settings.texts?.kept !== undefined) refuseOwnTokenizer(options, parent);
    if (settings.texts?.columns) info = await services.data.describe({ dataset: info.id, settings });
  }
  announce(output, info);
  if (info.task === null) {
    throw new InputError(
      'input.no_target',
      `${info.source}: ${info.targetReason}`,
      'Name the column to predict: --target NAME.',
    );
  }
  const data = dataOf(info, Math.max(1, expectedCounts(info, settings).train), info.task);
  const learner = learnerOption(options);
  // One that cuts its rows into parts by itself is told how many, and is one training.
  const ownParts = learner.parts !== undefined;
  const folds = ownParts ? {} : chosenFolds(options);
  const few =
    ownParts || folds.folds !== undefined || info.kind !== 'table'
      ? null
      : fewTestedText(expectedCounts(info, settings), info.task);
  if (few !== null) output.line(`${few} (--folds 5)`);
  const common = {
    dataset: info.id,
    settings: { ...settings, target: info.target ?? undefined, task: info.task },
    ...devices,
    threads: threadsOption(options, output),
    ...folds,
  };
  const config = learner.layers
    ? await networkOption(common, options, data, parent)
    : configWith(learner, { ...common, seed: seedOption(options) }, settingsByFlags(learner, options, data));
  return { info, config, parent };
}

/** A run that begins with another one cuts texts by that one's tokenizer. */
function refuseOwnTokenizer(options: OptionValues, parent: RunRecord): void {
  for (const flag of ['tokenizer', 'vocabulary']) {
    if (textOption(options, flag) === undefined) continue;
    throw new InputError(
      'usage.option',
      `--${flag} does not go with --from: run ${parent.id} reads texts by a tokenizer of its own, which the new run keeps.`,
      'Leave one of them out.',
    );
  }
}

/** Null where none has this name, source or number: then it has to be a file. */
async function datasetNamed(
  { services: { data } }: CommandContext,
  name: string,
  settings: DatasetSettings,
): Promise<DatasetInfo | null> {
  const all = await data.list();
  const found = all.filter((info) => info.id.startsWith(name) || info.name === name || info.source === name);
  return found.length === 1 ? data.describe({ dataset: found[0].id, settings }) : null;
}

async function networkOption(
  common: Parameters<typeof networkConfig>[0],
  options: OptionValues,
  data: TrainedOn,
  parent: RunRecord | undefined,
): Promise<RunConfig> {
  const own = options.model === undefined && options.hidden === undefined && parent && isNetwork(parent.config);
  const model = own ? parent.config.model : await modelOption(options, data);
  const freeze = layersOption(options, 'freeze', model);
  const begun = parent !== undefined && isPretrained(parent.config);
  return networkConfig(common, model, trainingSpec({ ...options, freeze }, { ...data, begun }, model));
}

function announce(output: Output, info: DatasetInfo): void {
  output.line(`${info.source}: ${counted(info.rows, 'row')}, ${counted(info.columns.length, 'column')}`);
  if (info.target) output.line(`predicts ${info.target} (${info.task}): ${info.targetReason}`);
  if (info.kind === 'table') output.line(`left out: ${leftOutText(leftOutColumns(info))}`);
  // What keeps it from being trained on is said when it is refused.
  for (const warning of info.warnings) if (!warning.blocks) output.line(`! ${withFlag(warning)}`);
}
