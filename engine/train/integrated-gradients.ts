// What of a picture speaks for a class: integrated gradients (Sundararajan, Taly & Yan 2017). The gradient of the class's logit f is
// averaged along the straight path from a baseline x' to the picture x and multiplied by x − x'; what all pixels get adds up to
// f(x) − f(x'), the completeness axiom. The baseline is the mean colour of the training pictures, which is 0 as the model sees it.

import type { Backend, Executable } from '../backends/backend.ts';
import { outputWidth, resolveModel, type ResolvedModel } from '../model/resolve.ts';
import { compileInputGradients, inputTensors } from '../plan/input-gradients.ts';
import { programName } from '../plan/plan.ts';
import type { PreparedData } from '../protocol/data.ts';
import type { Attributions } from '../protocol/evaluation.ts';
import type { TrainedNetwork } from './predict.ts';
import type { ReadShard } from './resident-rows.ts';
import { normalizationOf } from './session-sizes.ts';
import { weightNames, writeWeights } from './weights.ts';

/** Points of the path at first; three times as many, the ones had among them, until they add up. */
const firstSteps = 30;
const mostSteps = 270;
/** The sum may be off by this share of what it should be. */
export const completeness = 0.02;
/** Points of a program. */
const batch = 15;
const mostPictures = 16;
/** Floating-point operations of all pictures, some seconds of a CPU; the first picture is made in any case. */
const mostFlops = 3e10;

/** Of the class `chosen` of each picture, as many as there is time for. Null where rows are no pictures. */
export async function integratedGradients(
  { model: spec, training, output, weights }: TrainedNetwork,
  backend: Backend,
  data: PreparedData,
  readShard: ReadShard,
  chosen: readonly number[],
): Promise<Attributions | null> {
  const { input, width, targets } = data;
  if (input.kind !== 'image') return null;
  const model = resolveModel(spec, input, outputWidth(output, training.loss));
  const plan = compileInputGradients({ model, output, training, data: { rows: 1, width, targets } }, batch);
  const executable = await backend.compile(plan);
  try {
    writeWeights(executable, plan, weightNames(model), weights);
    const path = new Path(executable, model, width);
    const budget = mostFlops / (3 * flopsOf(model));
    const count = Math.max(1, Math.min(chosen.length, mostPictures, Math.floor(budget / firstSteps)));
    const size = input.height * input.width;
    const values = new Float32Array(count * size);
    const pictures: Attributions['pictures'][number][] = [];
    for (let shard = 0; pictures.length < count; shard++) {
      const { x, rows } = await readShard(shard);
      for (let row = 0; row < rows && pictures.length < count; row++) {
        const seen = normalized(x.subarray(row * width, (row + 1) * width), data, input.channels);
        const steps = Math.max(firstSteps, Math.min(mostSteps, budget / count));
        const { evidence, ...sums } = await path.walk(seen, chosen[pictures.length], steps);
        scaled(evidence, size, values.subarray(pictures.length * size, (pictures.length + 1) * size));
        pictures.push(sums);
      }
    }
    return { width: input.width, height: input.height, values, pictures };
  } finally {
    executable.dispose();
  }
}

/** The path of one picture after the other. */
class Path {
  readonly #executable: Executable;
  readonly #outputs: number;
  readonly #width: number;

  constructor(executable: Executable, { outputs }: ResolvedModel, width: number) {
    this.#executable = executable;
    this.#outputs = outputs;
    this.#width = width;
  }

  /** `evidence` [channels · height · width]; `sum` of it, and the `difference` f(x) − f(x') that it should be. */
  async walk(x: Float32Array, chosen: number, most: number) {
    const ends = await this.#at(x, chosen, [0, 1]);
    const difference = ends.scores[1] - ends.scores[0];
    const total = new Float64Array(x.length);
    // Points are the middles of equal parts: with three times as many parts, every third middle was one already.
    let steps = firstSteps;
    let wanted = Array.from({ length: steps }, (_, k) => (k + 0.5) / steps);
    for (;;) {
      for (let k = 0; k < wanted.length; k += batch) {
        const { gradients } = await this.#at(x, chosen, wanted.slice(k, k + batch));
        gradients.forEach((value, i) => (total[i % x.length] += value));
      }
      const evidence = total.map((value, i) => (value / steps) * x[i]);
      const sum = evidence.reduce((all, value) => all + value, 0);
      const exact = Math.abs(sum - difference) <= completeness * Math.abs(difference);
      if (exact || 3 * steps > most) return { evidence, steps, sum, difference };
      steps *= 3;
      const parts = steps;
      wanted = Array.from({ length: parts }, (_, k) => (k + 0.5) / parts).filter((_, k) => k % 3 !== 1);
    }
  }

  /** The class's score at points of the path, and its gradients there [points, width]. */
  async #at(x: Float32Array, chosen: number, points: readonly number[]) {
    const [width, outputs] = [this.#width, this.#outputs];
    const inputs = new Float32Array(batch * width);
    const seeds = new Float32Array(batch * outputs);
    // One output stands for the second of two classes, and its opposite for the first.
    const [place, sign] = outputs === 1 ? [0, chosen === 1 ? 1 : -1] : [chosen, 1];
    points.forEach((share, row) => {
      for (let i = 0; i < width; i++) inputs[row * width + i] = share * x[i];
      seeds[row * outputs + place] = sign;
    });
    this.#executable.write(inputTensors.x, inputs);
    this.#executable.write(inputTensors.seeds, seeds);
    await this.#executable.run(programName('gradients', batch), 1);
    const scores = (await this.#executable.read(inputTensors.outputs)) as Float32Array;
    const gradients = (await this.#executable.read(inputTensors.gradient)) as Float32Array;
    return {
      scores: points.map((_, row) => sign * scores[row * outputs + place]),
      gradients: gradients.subarray(0, points.length * width),
    };
  }
}

const flopsOf = ({ layers }: ResolvedModel): number =>
  layers.reduce((sum, { def, inputShapes, outputShape, args }) => sum + def.flops(inputShapes, outputShape, args), 0);

/** Bytes as the first layer sees them. */
function normalized(bytes: ArrayLike<number>, data: PreparedData, channels: number): Float32Array {
  const pairs = normalizationOf(data, channels);
  const size = bytes.length / channels;
  return Float32Array.from(bytes, (value, i) => {
    const channel = Math.floor(i / size);
    return (value / 255 - pairs[2 * channel]) / pairs[2 * channel + 1];
  });
}

/** Sums over the channels of each place, between 0 and 1 of the strongest evidence for the class; evidence against it is 0. */
function scaled(evidence: Float64Array, size: number, target: Float32Array): void {
  evidence.forEach((value, i) => (target[i % size] += value));
  const strongest = target.reduce((most, value) => Math.max(most, value), 0);
  target.forEach((value, i) => (target[i] = strongest > 0 ? Math.max(0, value / strongest) : 0));
}
