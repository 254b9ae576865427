// What `forecast` and `crossover` are asked about: a familiar model, a preset, a model file, or the model of a run.

import { readFile } from 'node:fs/promises';
import {
  subjectNamed,
  subjectOf,
  classOutput,
  knownNames,
  type Asked,
  type Subject,
} from '../../engine/hardware/costs/familiar.ts';
import { crossedMember } from '../../engine/learners/auto/file.ts';
import { declarationOf } from '../../engine/learners/declared/registry.ts';
import { readModelFile } from '../../engine/learners/model-file.ts';
import { isNetworkFile } from '../../engine/learners/network/file.ts';
import type { InputSpec } from '../../engine/model/spec.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { tableLearners } from '../../engine/hardware/tables/work.ts';
import { refuseMember } from '../../engine/runs/member-runs.ts';
import { readModelFiles } from '../../engine/runs/model-files.ts';
import { choiceOption, numberOption, runNumber, textOption, type OptionDef, type OptionValues } from './command.ts';
import type { Services } from './services.ts';
import { readModel } from './training-options.ts';

const modelNames = [...knownNames, ...tableLearners];

export const subjectOptions = {
  model: {
    type: 'string',
    value: 'NAME|FILE|RUN',
    path: true,
    names: modelNames,
    help: `${modelNames.join(', ')}; a file, or a run`,
  },
  input: { type: 'string', value: '3x224x224', help: 'pictures; or the columns of a table, the tokens of a sequence' },
  classes: { type: 'string', value: 'N', help: 'classes to tell apart; of trees and linear models 0 = a number' },
  batch: { type: 'string', value: 'N', help: 'rows of a step (default 32)' },
  optimizer: { type: 'string', value: 'adam|sgd', help: 'sgd with momentum (default adam)' },
  rows: { type: 'string', value: 'N', help: 'rows of an epoch' },
} as const satisfies Record<string, OptionDef>;

const mostRows = 1e12;

/** The subject that the flags name. Throws InputError. */
export async function subjectOption(options: OptionValues, services: Services): Promise<Subject> {
  const name = textOption(options, 'model');
  if (name === undefined) {
    throw new InputError('usage.model', '--model is missing.', `Models: ${modelNames.join(', ')}; a file, or a run.`);
  }
  const asked: Asked = {
    batch: numberOption(options, 'batch', { minimum: 1, maximum: 2 ** 20, whole: true }),
    classes: numberOption(options, 'classes', { minimum: 2, maximum: 2 ** 24, whole: true }),
    optimizer: choiceOption(options, 'optimizer', ['adam', 'sgd'] as const),
    rows: numberOption(options, 'rows', { minimum: 1, maximum: mostRows, whole: true }),
    input: inputOption(options),
  };
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as Asked;
  if ((tableLearners as readonly string[]).includes(name)) {
    const hint = '`trainyard forecast` says how long it takes.';
    throw new InputError('usage.model', `${name} is trained on the CPU alone: there is nothing to overtake it.`, hint);
  }
  const run = runOf(options);
  if (run !== undefined) return subjectOfRun(services, run, given);
  if (name.endsWith('.json')) return subjectOfFile(name, given);
  return subjectNamed(name, given);
}

/** The run that `--model` names, if it is one. */
export function runOf(options: OptionValues): number | undefined {
  const name = textOption(options, 'model') ?? '';
  return /^#?\d+$/.test(name) ? runNumber(name) : undefined;
}

/** `3x224x224` as [3, 224, 224]. */
function inputOption(options: OptionValues): readonly number[] | undefined {
  const text = textOption(options, 'input');
  if (text === undefined) return undefined;
  const sizes = text.split(/[x×]/).map(Number);
  if (sizes.length <= 3 && sizes.every((size) => Number.isInteger(size) && size >= 1 && size <= 2 ** 24)) return sizes;
  throw new InputError(
    'usage.input',
    `--input is “${text}”.`,
    'Write whole numbers such as 3x224x224, or 20 for a table.',
  );
}

async function subjectOfRun(services: Services, run: number, asked: Asked): Promise<Subject> {
  const store = await services.store;
  const record = await store.run({ run });
  refuseMember(record, 'could be forecast');
  const files = await readModelFiles(store, run);
  const file = readModelFile(files.model, run);
  if (crossedMember(file)) {
    throw new InputError(
      'usage.model',
      `Run ${run} is a cross-validation, the mean of several models.`,
      'Forecast the run of one of its folds.',
    );
  }
  if (!isNetworkFile(file)) {
    throw new InputError('usage.model', `Run ${run} is ${declarationOf(file).noun}.`, 'Forecasts are of networks.');
  }
  const rows = record.data?.counts.train;
  const known = rows === undefined ? asked : { rows, ...asked };
  return subjectOf(`run ${run}`, file.model, file.input, file.output, known, file.training);
}

/** A model file: a spec alone, or the model.json of an exported run. */
async function subjectOfFile(path: string, asked: Asked): Promise<Subject> {
  const exported = await exportedModel(path);
  if (exported) return subjectOf(path, exported.model, exported.input, exported.output, asked, exported.training);
  const spec = await readModel(path);
  const image = spec.layers.some(({ type }) => /^conv|pool$/.test(type));
  const [channels, height, width] = asked.input ?? (image ? [3, 32, 32] : [20]);
  const input: InputSpec =
    height !== undefined && width !== undefined
      ? { kind: 'image', channels, height, width }
      : { kind: 'table', width: channels, numeric: channels, embeddings: [] };
  return subjectOf(path, spec, input, classOutput(asked.classes ?? 10), asked);
}

/** Null: it is none. Throws TrainyardError where it is a damaged one. */
async function exportedModel(path: string) {
  const text = await readFile(path, 'utf8').catch(() => '');
  if (!/"input"\s*:/.test(text) || !/"model"\s*:/.test(text)) return null;
  const file = readModelFile(text, 0);
  return isNetworkFile(file) ? file : null;
}
