// Looks inside a network on a device: batches go forward and back as in training, without an update. B rows of a batch.

import type { Backend, Executable } from '../../backends/backend.ts';
import type { ResolvedModel } from '../../model/resolve.ts';
import type { TrainingSpec } from '../../model/spec.ts';
import { compileProbe, keptName } from '../../plan/probe.ts';
import { programName, type Plan } from '../../plan/plan.ts';
import { classWeightsTensor } from '../../plan/step.ts';
import { gradientName } from '../../graph/tensors.ts';
import { normalizationOf } from '../../train/session-sizes.ts';
import { initializeWeights, weightNames, writeWeights, type Weights } from '../../train/weights.ts';
import type { SampledRows } from '../check.ts';

export interface ProbeOptions {
  readonly backend: Backend;
  readonly model: ResolvedModel;
  readonly training: TrainingSpec;
  readonly sample: SampledRows;
  readonly batch: number;
  /** Positions of layers whose values are wanted. */
  readonly watched: readonly number[];
  readonly classWeights: Float32Array | null;
  /** Default: the first weights of the run. */
  readonly weights?: Weights;
}

export class Probe {
  readonly plan: Plan;
  readonly batch: number;
  readonly #executable: Executable;
  readonly #sample: SampledRows;

  static async open(options: ProbeOptions): Promise<Probe> {
    const { backend, model, sample, batch, watched } = options;
    const { output, width, targets } = sample.data;
    const training = { ...options.training, augmentation: undefined };
    const plan = compileProbe({ model, output, training, data: { rows: batch, width, targets } }, batch, watched);
    return new Probe(options, plan, await backend.compile(plan));
  }

  private constructor(options: ProbeOptions, plan: Plan, executable: Executable) {
    const { model, training, sample, batch, classWeights, weights } = options;
    this.plan = plan;
    this.batch = batch;
    this.#executable = executable;
    this.#sample = sample;
    initializeWeights(executable, model, training.seed);
    if (weights) writeWeights(executable, plan, weightNames(model), weights);
    if (classWeights && training.classWeights !== 'none') executable.write(classWeightsTensor, classWeights);
    const { input } = sample.data;
    if (input.kind === 'image') {
      executable.write('data.normalization', normalizationOf(sample.data, input.channels));
    }
    executable.write(
      'step.indices',
      Uint32Array.from({ length: batch }, (_, row) => row),
    );
    executable.write('step.scalars', new Float32Array(4));
  }

  /** Batches there are of the training rows. */
  get batches(): number {
    return Math.floor(this.#sample.data.counts.train / this.batch);
  }

  /** Takes a batch of the training rows forward and back, and returns its loss. */
  async run(number: number): Promise<number> {
    const { data, shard } = this.#sample;
    const { batch } = this;
    const x = shard.x.subarray(number * batch * data.width, (number + 1) * batch * data.width);
    if (x instanceof Float64Array) throw new RangeError('columns as they are have no place on a device');
    const y = shard.y.subarray(number * batch * data.targets, (number + 1) * batch * data.targets);
    this.#executable.write('data.x', x);
    this.#executable.write('data.y', y);
    this.#executable.write('step.counters', Uint32Array.of(number));
    await this.#executable.run(programName('gradients', batch), 1);
    return (await this.#read('ring.loss'))[0];
  }

  /** What a layer gave to the last batch, [B, …]. */
  kept(position: number): Promise<Float32Array> {
    return this.#read(keptName(position));
  }

  /** Gradient of a parameter in the last batch. */
  gradient(parameter: string): Promise<Float32Array> {
    return this.#read(gradientName(parameter));
  }

  parameter(name: string): Promise<Float32Array> {
    return this.#read(name);
  }

  close(): void {
    this.#executable.dispose();
  }

  async #read(tensor: string): Promise<Float32Array> {
    return (await this.#executable.read(tensor)) as Float32Array;
  }
}
