// A run as a project of PyTorch that trains it from scratch: the model, the rows as the run saw them, the same first weights and, for
// the first epoch, the same order of rows, so that its first losses are the run's own to the rounding of sums. Alone or, unchanged,
// under torchrun: each step's batch is divided among the processes and weighed so that the mean gradient is that of the whole batch.

import { isNetworkFile, type NetworkModelFile } from '../../learners/network/file.ts';
import { sizeOf } from '../../graph/op.ts';
import { frozenModel } from '../../model/freeze.ts';
import type { ParameterDef } from '../../model/layer.ts';
import { resolveLoss } from '../../model/losses.ts';
import { initialize } from '../../optim/initializers.ts';
import { predictsTokens } from '../../model/spec.ts';
import type { PreparedData } from '../../protocol/data.ts';
import type { ExportedFile } from '../../protocol/exports.ts';
import { bucketsOf } from '../../train/buckets.ts';
import { RowOrder } from '../../train/row-order.ts';
import { classWeights, trainBatches, usesBatchStatistics } from '../../train/session-sizes.ts';
import { transferTo } from '../../train/transfer.ts';
import { firstState, type Weights } from '../../train/weights.ts';
import type { Shard } from '../../protocol/data.ts';
import type { OpenedRun } from '../opened.ts';
import { cannotExport } from '../refusal.ts';
import { torchWeights } from '../safetensors.ts';
import { tokenFilesOf } from '../texts/tokens.ts';
import { torchLayers } from './layers.ts';
import { isLinearFile } from './linear-model.ts';
import { linearProject } from './linear.ts';
import { frozenLayersOf, loaderSource, modelSource, resolvedOf } from './model.ts';
import { moduleNames, underModules } from './names.ts';
import { npy } from './npy.ts';
import { rowFiles } from './rows.ts';
import { dataSource, readme, requirements, text } from './sources.ts';
import { trainSource } from './training-source.ts';

/** Losses of the run that stand in the project to be compared with. */
const comparedSteps = 10;

export async function exportProject(
  run: OpenedRun,
  data: PreparedData,
  readShard: (shard: number) => Promise<Shard>,
): Promise<readonly ExportedFile[]> {
  const { record, file } = run;
  if (isLinearFile(file)) return linearProject(run, file, data, readShard);
  if (!isNetworkFile(file)) {
    throw cannotExport('Only networks and linear models are trained in PyTorch.', 'Export the run as JSON.');
  }
  const { config, tokens, torch, files } = await networkParts(run, file, data, readShard, { format: 'pt' });
  return [
    text(
      'README.md',
      readme(record, config.firstLosses.length > 0, tokens.length > 0 && (config.everyPosition ? 'written' : 'read')),
    ),
    text('requirements.txt', requirements(torch) + (tokens.length > 0 ? 'tokenizers>=0.20\n' : '')),
    text('data.py', dataSource(true)),
    text('train.py', trainSource),
    text('config.json', `${JSON.stringify(config, null, 2)}\n`),
    ...files,
    ...(await rowFiles(data, readShard)),
  ];
}

/**
 * What every project of a network holds, wherever it is trained. `about`: metadata of its weights; `torch`: the first version that will do;
 * `files`: module, weights, order of the first epoch and `tokens`, how it reads texts.
 */
export async function networkParts(
  run: OpenedRun,
  file: NetworkModelFile,
  data: PreparedData,
  readShard: (shard: number) => Promise<Shard>,
  about: Readonly<Record<string, string>>,
) {
  const { record, tensors, points } = run;
  const model = resolvedOf(file);
  const { counts } = data;
  const { training } = file;
  const batch = Math.min(training.batch, counts.train);
  // How a batch is dealt goes by what is trained, as in the run.
  const learning = frozenModel(model, frozenLayersOf(file));
  const steps = trainBatches(counts.train, batch, usesBatchStatistics(model));
  const leftOut = steps.length === 1 ? counts.train % batch : 0;
  const buckets = await bucketsOf(learning, data, training, readShard);
  const dealing = buckets ? { buckets, batch } : undefined;
  // What is left out of an epoch stands at its end.
  const order = new RowOrder({ rows: counts.train, leftOut, seed: training.seed, dealing }, counts.train)
    .rowsOf(0, 0)
    .subarray(0, counts.train - leftOut);
  const tokens = tokenFilesOf(run, '');
  const config = {
    name: record.name,
    task: file.task,
    output: file.output,
    loss: resolveLoss(training.loss, file.output),
    counts,
    batch,
    rowsOfEpoch: counts.train - leftOut,
    training,
    everyPosition: predictsTokens(file.input),
    classWeights: [...(classWeights(training, data.classCounts, model.outputs) ?? [])],
    normalization: data.normalization ?? null,
    undecayed: namesOf(file, ({ decay }) => !decay),
    rates: ratesByName(file),
    frozen: frozenModules(file),
    // A run that goes on begins with the curve of another, whose settings may have been others.
    firstLosses:
      record.relation === 'continued' ? [] : firstLosses(points, Math.ceil((counts.train - leftOut) / batch)),
    result: record.result?.metrics ?? {},
  };
  return {
    config,
    tokens,
    torch: model.layers.map(({ def }) => torchLayers[def.type].since).find((version) => version !== undefined),
    files: [
      text('model.py', modelSource(file) + loaderSource('trained.safetensors')),
      { path: 'initial.safetensors', data: torchWeights(file, firstWeights(run, file), about) },
      { path: 'trained.safetensors', data: torchWeights(file, tensors, about) },
      ...tokens,
      { path: 'data/order.npy', data: npy(order, [order.length]) },
    ],
  };
}

/** What the run began with: first values of all parameters and states, and what it took over from another run. */
function firstWeights({ record, tensors, start }: OpenedRun, file: NetworkModelFile): Weights {
  const model = resolvedOf(file);
  const { parameters, states } = model;
  const first = parameters.map(({ name, shape, initializer }, index) => {
    const data = new Float32Array(sizeOf(shape));
    initialize(initializer, data, file.training.seed, index);
    return [name, { shape, data }] as const;
  });
  // What is fitted to the data before the training does not change in it.
  const kept = states.map(
    (state) =>
      [state.name, state.fitted ? tensors[state.name] : { shape: state.shape, data: firstState(state) }] as const,
  );
  const drawn: Weights = Object.fromEntries([...first, ...kept]);
  // What is frozen stands among the weights of the run as it began.
  const stayed = Object.fromEntries(frozenNames(file).map((name) => [name, tensors[name]]));
  if (record.relation === 'trained elsewhere') {
    throw cannotExport(
      'This run was trained elsewhere: what it began with is not kept here.',
      record.parent === null
        ? 'Export the model alone.'
        : `Export run ${record.parent}, which it left as, or the model alone.`,
    );
  }
  if (record.parent === null || record.relation !== 'started from') return { ...drawn, ...stayed };
  if (!start) {
    throw cannotExport(
      `What this run took over from run ${record.parent} is gone from its folder: it cannot be trained again.`,
      `Export the model alone, or start it from run ${record.parent} once more and export that: a run keeps now what it started from.`,
    );
  }
  const from = { file: start, parent: record.parent, ...record.start };
  const { taken, weights } = transferTo(model, from, frozenLayersOf(file), file.output);
  return { ...drawn, ...Object.fromEntries(taken.map((name) => [name, weights[name]])) };
}

/** Names of the parameters and states of frozen layers. */
function frozenNames(file: NetworkModelFile): readonly string[] {
  const count = frozenLayersOf(file);
  if (count === 0) return [];
  const { layers, inputParameters } = resolvedOf(file);
  const frozen = layers.slice(0, count).flatMap(({ parameters, states }) => [...parameters, ...states]);
  return [...inputParameters, ...frozen].map(({ name }) => name);
}

/** Modules that are not trained. */
function frozenModules(file: NetworkModelFile): readonly string[] {
  const model = resolvedOf(file);
  const names = moduleNames(model);
  const layers = model.layers
    .slice(0, frozenLayersOf(file))
    .filter((layer) => torchLayers[layer.def.type].module?.(layer));
  const input = frozenLayersOf(file) > 0 && model.inputParameters.length > 0 ? ['input'] : [];
  return [...input, ...layers.map(({ id }) => names.get(id)!)];
}

/** Names of some of the parameters. */
function namesOf(file: NetworkModelFile, chosen: (parameter: ParameterDef) => boolean): readonly string[] {
  const model = resolvedOf(file);
  const zero = { shape: [0], data: new Float32Array(0) };
  const names = model.parameters.filter(chosen).map(({ name }) => [name, zero] as const);
  return Object.keys(underModules(model, Object.fromEntries(names)));
}

/** Factors of the learning rate other than 1. */
function ratesByName(file: NetworkModelFile): Readonly<Record<string, number>> {
  const rates = new Set(resolvedOf(file).parameters.flatMap(({ rate = 1 }) => (rate === 1 ? [] : [rate])));
  return Object.fromEntries(
    [...rates].flatMap((rate) => namesOf(file, (parameter) => parameter.rate === rate).map((name) => [name, rate])),
  );
}

/** Of the run's first steps, as far as its first epoch goes, whose order is known, where its curve has each of them. */
function firstLosses(points: OpenedRun['points'], ofEpoch: number): readonly number[] {
  const losses = points.filter(({ series }) => series === 'step_loss').sort((a, b) => a.step - b.step);
  const first = losses.slice(0, Math.min(comparedSteps, ofEpoch));
  return first.every(({ step }, index) => step === index + 1) ? first.map(({ value }) => value) : [];
}
