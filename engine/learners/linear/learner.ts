// Linear models as a learner: solved on one thread of whatever process they are in, in float64; no device is opened.

import { InputError } from '../../protocol/errors.ts';
import type { Weights } from '../../train/weights.ts';
import type { Learner, RawOutputs, Rows, Trained } from '../learner.ts';
import { plainLoss } from '../scoring.ts';
import { checkSearch } from './checkpoint.ts';
import { columnsOf, outputsOf, type LinearConfig } from './declaration.ts';
import { readDesign, termCount } from './design.ts';
import { readTerms, type Terms } from './terms.ts';
import { examineLinear } from './examine.ts';
import type { LinearModelFile } from './file.ts';
import { outputsFor } from './outputs.ts';
import type { LinearWeights } from './path.ts';
import { openLinear } from './training.ts';

export const learner: Learner<LinearConfig, LinearModelFile> = {
  open: openLinear,
  read: readLinear,
  examine: async (job) => examineLinear(job),
  checkCheckpoint: checkSearch,
};

function readLinear(file: LinearModelFile, tensors: Weights): Trained {
  const { input, output, grid } = file;
  const K = outputsOf(output);
  const terms = readTerms(tensors, input.kind === 'table' ? (input.texts ?? []).length : 0);
  const width = columnsOf(input, grid) + termCount(terms ?? []);
  const wanted = { 'output.weight': [width, K], 'output.bias': [K] };
  for (const [name, shape] of Object.entries(wanted)) {
    const found = tensors[name as keyof typeof wanted]?.shape;
    if (terms !== null && found?.join() === shape.join()) continue;
    throw new InputError(
      'model.weights',
      `The weights do not fit the model: ${name} is ${found ? `[${found.join(', ')}]` : 'missing'}, the model needs [${shape.join(', ')}].`,
      'Use the weights with the model and the data they were trained with.',
    );
  }
  const weights = { weight: tensors['output.weight'].data, bias: tensors['output.bias'].data };
  return {
    file,
    evaluation: { output, training: plainLoss, weights: null },
    outputs: (rows) => predict(rows, grid, weights, terms ?? []),
  };
}

/** Shard by shard: there may be more rows than memory. */
async function predict(
  { data, readShard }: Rows,
  grid: number,
  weights: LinearWeights,
  terms: readonly Terms[],
): Promise<RawOutputs> {
  const { shardStarts } = data;
  const rows = shardStarts[shardStarts.length - 1];
  const outputs = new Float32Array(rows * weights.bias.length);
  const targets = new Float32Array(rows);
  for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
    const first = shardStarts[shard];
    const count = shardStarts[shard + 1] - first;
    const one = { data: { ...data, shardStarts: [0, count] }, readShard: () => readShard(shard), dataBudget: Infinity };
    const design = await readDesign(one, grid, async () => undefined, terms);
    outputs.set(outputsFor(design, 0, count, weights), first * weights.bias.length);
    targets.set(design.targets, first);
  }
  return { outputs, targets };
}
