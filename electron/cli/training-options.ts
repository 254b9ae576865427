// From the flags of `train` to the settings of a run.

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Declaration } from '../../engine/learners/declared/declare.ts';
import { declarations, usualSettings } from '../../engine/learners/declared/registry.ts';
import { defaultPreset, mlp, presetNamed, presets, specOf, trainedOn } from '../../engine/model/presets.ts';
import { mostLayers, type InputSpec, type ModelSpec, type Task, type TrainingSpec } from '../../engine/model/spec.ts';
import type { ColumnType, DatasetInfo, DatasetSettings, TextChoice } from '../../engine/protocol/data.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { parseJson } from '../../engine/protocol/json.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import { leftOutColumns, textColumns } from '../../engine/protocol/use.ts';
import { columnTypes, tasks, textFields } from '../../engine/settings/dataset.ts';
import { usualTraining } from '../../engine/settings/network.ts';
import { runFields } from '../../engine/settings/run.ts';
import { trainingFields } from '../../engine/settings/training.ts';
import { withChosen } from '../../engine/settings/values.ts';
import { augmentationFlag, augmentationOption } from './augmentation-option.ts';
import { checkChoicesFit, checkFlagsCount, chosenByFlags, flagsOf } from './setting-flags.ts';
import { choiceOption, textOption, type OptionDef, type OptionValues } from './command.ts';

export const dataOptions = {
  target: { type: 'string', value: 'NAME', help: 'column to predict (default: found out)' },
  task: { type: 'string', value: `auto|${tasks.join('|')}`, help: 'what to predict' },
  types: {
    type: 'string',
    value: 'COL=TYPE,…',
    help: `column types: ${columnTypes.join(', ')}`,
  },
  ignore: { type: 'string', value: 'COL,…', help: 'columns not to use' },
  text: {
    type: 'string',
    value: 'COL,…',
    help: 'columns of text to learn from (default: all, where there is no other column)',
  },
  ...flagsOf(textFields),
  split: { type: 'string', value: '0.8,0.1,0.1', help: 'shares of train, validation and test' },
  time: { type: 'string', value: 'COL', help: 'split in the order of this column: the latest rows test' },
  group: { type: 'string', value: 'COL', help: 'split so that all rows with the same value are in one split' },
} as const satisfies Record<string, OptionDef>;

/** Learners that `--model` names; networks are named by their layers. */
const named = declarations.filter(({ layers }) => layers === undefined);
const [network] = declarations;

export const trainingOptions = {
  model: {
    type: 'string',
    value: 'PRESET|FILE.json',
    path: true,
    names: [...presets, ...named].map(({ name }) => name),
    help: `${presets.map((p) => p.name).join(', ')}, or a model file; ${named.map(({ name, noun }) => `${name} for ${noun}`).join(', ')}`,
  },
  hidden: { type: 'string', value: '64,32', help: 'units of the hidden layers, instead of --model' },
  ...(Object.assign({}, ...declarations.map(({ fields }) => flagsOf(fields))) as Readonly<Record<string, OptionDef>>),
  augment: augmentationFlag,
} satisfies Record<string, OptionDef>;

export function datasetSettings(options: OptionValues): DatasetSettings {
  const task = choiceOption(options, 'task', ['auto', ...tasks] as const);
  const types = textOption(options, 'types');
  const ignored = textOption(options, 'ignore');
  const split = textOption(options, 'split');
  const texts = textsOption(options);
  return {
    ...(textOption(options, 'target') ? { target: textOption(options, 'target') } : {}),
    ...(task && task !== 'auto' ? { task } : {}),
    ...(types || texts ? { types: { ...(types && parseTypes(types)), ...asTexts(texts?.columns) } } : {}),
    ...(texts ? { texts } : {}),
    ...(ignored ? { ignored: ignored.split(',').map((name) => name.trim()) } : {}),
    ...(split ? { split: parseSplit(split) } : {}),
    ...splitByOption(options),
  };
}

/** What is said of texts; undefined: nothing. */
function textsOption(options: OptionValues): TextChoice | undefined {
  const columns = textOption(options, 'text')
    ?.split(',')
    .map((name) => name.trim());
  const how = chosenByFlags(textFields, options);
  return columns || Object.keys(how).length > 0 ? { ...how, ...(columns && { columns }) } : undefined;
}

const asTexts = (columns: readonly string[] = []): Readonly<Record<string, ColumnType>> =>
  Object.fromEntries(columns.map((name) => [name, 'text']));

function splitByOption(options: OptionValues): Pick<DatasetSettings, 'splitBy'> {
  const [time, group] = [textOption(options, 'time'), textOption(options, 'group')];
  if (time !== undefined && group !== undefined) {
    throw new InputError('usage.split', 'A split goes by time or by group.', 'Give --time or --group, not both.');
  }
  if (time !== undefined) return { splitBy: { kind: 'time', column: time } };
  return group === undefined ? {} : { splitBy: { kind: 'group', column: group } };
}

function parseTypes(text: string): Readonly<Record<string, ColumnType>> {
  return Object.fromEntries(
    text.split(',').map((part) => {
      const at = part.lastIndexOf('=');
      const type = part.slice(at + 1).trim() as ColumnType;
      if (at <= 0 || !columnTypes.includes(type)) {
        throw new InputError(
          'usage.types',
          `--types has “${part.trim()}”.`,
          `Write COLUMN=TYPE with a type of ${columnTypes.join(', ')}.`,
        );
      }
      return [part.slice(0, at).trim(), type];
    }),
  );
}

function parseSplit(text: string): readonly [number, number, number] {
  const shares = text.split(',').map(Number);
  const sum = shares.reduce((total, share) => total + share, 0);
  const fits = shares.length === 3 && shares.every((share) => share >= 0) && shares[0] > 0 && Math.abs(sum - 1) < 1e-6;
  if (!fits) {
    throw new InputError(
      'usage.split',
      `--split is “${text}”.`,
      'Write three shares that sum to 1, such as 0.8,0.1,0.1.',
    );
  }
  return [shares[0], shares[1], shares[2]];
}

/** What a run trains on, as far as defaults depend on it. */
export interface TrainedOn {
  readonly rows: number;
  readonly task: Task;
  readonly input: InputSpec;
  /** Of a classification. */
  readonly classes: number;
  /** It begins with weights that others have trained. */
  readonly begun?: boolean;
}

/** What a dataset gives a run to train on; of a table the widths do not matter here. */
export function dataOf(info: DatasetInfo, rows: number, task: Task): TrainedOn {
  const classes = task === 'classification' ? info.classes.length : 0;
  if (!info.image) {
    const [names, predicted] =
      task === 'language' ? [[info.target ?? ''], true as const] : [textColumns(info), undefined];
    const texts = names.map((name) => ({ name, vocabulary: 0, length: 0, ...(predicted && { predicted }) }));
    const left = new Set([info.target, ...names, ...leftOutColumns(info).map(({ column }) => column)]);
    const others = predicted || texts.length === 0 ? 0 : info.columns.filter(({ name }) => !left.has(name)).length;
    const table = { kind: 'table', width: others, numeric: others, embeddings: [] } as const;
    return { rows, task, classes, input: texts.length > 0 ? { ...table, texts } : table };
  }
  const { channels, height, width } = info.image;
  return { rows, task, classes, input: { kind: 'image', channels, height, width } };
}

/** The model asked for, or the preset that suits the data. Throws InputError for an unknown preset or a bad file. */
export async function modelOption(options: OptionValues, { rows, input, classes }: TrainedOn): Promise<ModelSpec> {
  const hidden = textOption(options, 'hidden');
  if (hidden !== undefined) {
    const units = hidden === '' ? [] : hidden.split(',').map(Number);
    if (!units.every((unit) => Number.isInteger(unit) && unit > 0)) {
      throw new InputError('usage.hidden', `--hidden is “${hidden}”.`, 'Write whole numbers such as 64,32.');
    }
    return mlp(units);
  }
  const name = textOption(options, 'model');
  if (name === undefined) return specOf(defaultPreset(rows, input, classes), input);
  const preset = presetNamed(name);
  if (preset) return specOf(preset, input);
  if (name.endsWith('.json')) return readModel(name);
  const known = presets.map((p) => p.name).join(', ');
  throw new InputError(
    'usage.model',
    `There is no preset “${name}”.`,
    `Presets: ${[known, ...named.map((learner) => learner.name)].join(', ')}; or name a .json file.`,
  );
}

const modelSchema = z.object({
  version: z.literal(1),
  preset: z.string().optional(),
  layers: z
    .array(z.looseObject({ type: z.string(), id: z.string().optional() }))
    .min(1)
    .max(mostLayers, `a model has at most ${mostLayers} layers`),
});

/** A model of a file. Throws InputError. */
export async function readModel(file: string): Promise<ModelSpec> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    throw new InputError('input.missing', `There is no model file ${file}.`, 'Check the path.');
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new InputError(
      'input.model',
      `${file} is not JSON: ${(error as Error).message}.`,
      'Mend it, or export a model.',
    );
  }
  const parsed = modelSchema.safeParse(value);
  if (parsed.success) return parsed.data as ModelSpec;
  const [issue] = parsed.error.issues;
  throw new InputError(
    'input.model',
    `${file} is no model: ${issue.path.join('.') || 'the file'}: ${issue.message}.`,
    'It needs {"version": 1, "layers": [{"type": "dense", "units": 64}, …, {"type": "output"}]}.',
  );
}

/** The training settings: defaults for the data and the model, changed by the flags. Throws InputError for what does not fit. */
export function trainingSpec(options: OptionValues, data: TrainedOn, model?: ModelSpec): TrainingSpec {
  const chosen = chosenByFlags(trainingFields, options);
  const about = { ...trainedOn(data.rows, data.task, { ...data, model }), optimizer: chosen['optimizer.name'] };
  checkChoicesFit(trainingFields, options, about);
  const usual = usualTraining(about);
  return {
    ...withChosen(usual, { ...chosen, seed: seedOption(options) }),
    ...augmentationOption(options, usual.augmentation),
  };
}

/** The learner that is asked for. */
export function learnerOption(options: OptionValues): Declaration {
  const name = textOption(options, 'model');
  return named.find((learner) => learner.name === name) ?? network;
}

/** The settings of a learner of one table: defaults for the data, changed by the flags. Throws InputError for what does not fit. */
export function settingsByFlags(learner: Declaration, options: OptionValues, data: TrainedOn): object {
  const about = trainedOn(data.rows, data.task, data);
  checkChoicesFit(learner.fields, options, about);
  // The parts of what cuts its rows by itself are its folds.
  const { parts } = learner.parts
    ? chosenByFlags({ parts: { ...learner.fields['parts'], flag: 'folds' } }, options)
    : {};
  const settings = withChosen(usualSettings(learner, about), { parts, ...chosenByFlags(learner.fields, options) });
  checkFlagsCount(learner.fields, options, settings, about);
  return settings;
}

/** The seed of a run. */
export function seedOption(options: OptionValues): number {
  return chosenByFlags(runFields, options).seed ?? runFields.seed.default;
}

/** The flags that mean something for a learner. */
function flagsFor({ fields, layers }: Declaration): readonly string[] {
  return [...Object.keys(flagsOf(fields)), ...(layers ? ['hidden', 'augment'] : [])];
}

/** Flags that only other learners have are a mistake. */
function checkFlagsFit(options: OptionValues): void {
  const learner = learnerOption(options);
  const own = flagsFor(learner);
  const odd = declarations
    .flatMap(flagsFor)
    .find((flag) => !own.includes(flag) && ownValue(options, flag) !== undefined);
  if (odd === undefined) return;
  throw new InputError(
    'usage.option',
    `--${odd} means nothing for ${learner.noun}.`,
    'Leave it out, or choose another --model.',
  );
}

/** Refuses bad flags before anything is read; what depends on the task is checked again when that is known. */
export async function checkTrainingOptions(options: OptionValues): Promise<void> {
  checkFlagsFit(options);
  const learner = learnerOption(options);
  chosenByFlags(learner.fields, options);
  chosenByFlags(runFields, options);
  augmentationOption(options, undefined);
  if (learner.layers === undefined) return;
  await modelOption(options, {
    rows: 1,
    task: 'classification',
    classes: 0,
    input: { kind: 'table', width: 0, numeric: 0, embeddings: [] },
  });
}
