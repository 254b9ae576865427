// A session joins a model, its data and a device: the compiled plan with the rows resident and the weights in place. It
// knows how to run training steps and predictions; the trainer decides which and when.

import type { Backend, Executable } from '../backends/backend.ts';
import { optimizerStates } from '../model/summary.ts';
import { outputWidth, resolveModel, type ResolvedModel } from '../model/resolve.ts';
import type { ModelSpec, TrainingSpec } from '../model/spec.ts';
import { learningRateAt } from '../optim/schedules.ts';
import { drawBeta, streams } from '../optim/random.ts';
import { compilePlan } from '../plan/compile.ts';
import { programName, type Plan } from '../plan/plan.ts';
import { classWeightsTensor } from '../plan/step.ts';
import type { PreparedData } from '../protocol/data.ts';
import { ResidentRows, residentCapacity, windowsOf, type ReadShard, type RowRange } from './resident-rows.ts';
import { RowOrder, type TrainedRows } from './row-order.ts';

const largestStepCapacity = 512;
const largestPredictBatch = 256;
const predictSteps = 8;
/** Floating-point operations of one step of predictions on images: some 50 ms on a CPU, so that pause and stop answer. */
const predictFlops = 4e9;

/** Steps that are under way. */
export interface SubmittedSteps {
  /** Their losses, once they are done. */
  readonly losses: Promise<Float32Array>;
}

export interface SessionOptions {
  readonly backend: Backend;
  readonly model: ModelSpec;
  readonly training: TrainingSpec;
  readonly data: PreparedData;
  readonly readShard: ReadShard;
  /** Bytes the resident rows may take. */
  readonly dataBudget: number;
  /** Leave out everything that only training needs. */
  readonly predictOnly?: boolean;
  /** Predict with this instead of `model`: a part of it, to see inside. */
  readonly resolved?: ResolvedModel;
}

export class Session {
  readonly model: ResolvedModel;
  readonly plan: Plan;
  readonly executable: Executable;
  readonly rows: ResidentRows;
  readonly training: TrainingSpec;
  /** Rows of a full training step: the batch, or all rows if there are fewer. */
  readonly batch: number;
  readonly stepsPerEpoch: number;
  readonly totalSteps: number;
  /** Weights of the classes in the loss, or null. */
  readonly classWeights: Float32Array | null;
  readonly #trainedRows: TrainedRows;
  #order: RowOrder;
  /** Places on the device of the rows that are to be trained on next, in their order. */
  #entered: Uint32Array = new Uint32Array(0);
  readonly #scalars: Float32Array;
  readonly #counters: Uint32Array;
  readonly #predictIndices: Uint32Array;
  readonly #predictBatch: number;

  static async open(options: SessionOptions): Promise<Session> {
    const { data, training, predictOnly = false } = options;
    const model = options.resolved ?? resolveModel(options.model, data.input, outputWidth(data.output, training.loss));
    const batch = Math.min(training.batch, Math.max(1, data.counts.train));
    const dataBudget = Math.min(options.dataBudget, options.backend.dataBudget ?? Infinity);
    const capacity = residentCapacity(data, dataBudget, batch);
    const largestSplit = Math.max(data.counts.train, data.counts.validation, data.counts.test, 1);
    const plan = compilePlan({
      model,
      output: data.output,
      training,
      data: { rows: capacity, width: data.width, targets: data.targets },
      stepCapacity: Math.max(predictSteps, Math.min(largestStepCapacity, Math.ceil(data.counts.train / batch))),
      predictSteps,
      trainBatches: predictOnly ? [] : trainBatches(data.counts.train, batch, usesBatchStatistics(model)),
      predictBatch: predictBatch(model, training, largestSplit),
    });
    return new Session(options, model, plan, await options.backend.compile(plan), batch, capacity);
  }

  private constructor(
    options: SessionOptions,
    model: ResolvedModel,
    plan: Plan,
    executable: Executable,
    batch: number,
    capacity: number,
  ) {
    const { data, training } = options;
    this.model = model;
    this.plan = plan;
    this.executable = executable;
    this.training = training;
    this.batch = batch;
    this.rows = new ResidentRows(data, options.readShard, executable, capacity);
    const programs = trainBatches(data.counts.train, batch, usesBatchStatistics(model));
    const leftOut = programs.length === 1 ? data.counts.train % batch : 0;
    this.#trainedRows = { rows: data.counts.train, leftOut, seed: training.seed };
    this.#order = new RowOrder(this.#trainedRows, capacity);
    this.stepsPerEpoch = Math.floor(data.counts.train / batch) + programs.length - 1;
    this.totalSteps = this.stepsPerEpoch * training.epochs;
    this.#scalars = new Float32Array(plan.stepCapacity * 4);
    this.#counters = new Uint32Array(plan.stepCapacity);
    const predict = Object.values(plan.programs).at(-1)!;
    this.#predictBatch = predict.batch;
    this.#predictIndices = new Uint32Array(predictSteps * this.#predictBatch);
    this.classWeights = classWeights(training, data.classCounts, model.outputs);
    if (this.classWeights && !options.predictOnly) executable.write(classWeightsTensor, this.classWeights);
    if (data.input.kind === 'image') {
      executable.write('data.normalization', normalizationOf(data, data.input.channels));
    }
  }

  /** The order in which epochs visit the rows. */
  get order(): RowOrder {
    return this.#order;
  }

  /**
   * Takes windows of another size, as a checkpoint has them. An epoch that was begun with them is finished with them even where
   * this device cannot hold one; a new epoch takes them only where it can.
   */
  takeWindows(windowRows: number, newEpoch: boolean): void {
    const fits = Math.min(windowRows, this.#trainedRows.rows) <= this.rows.capacity;
    this.#order = new RowOrder(this.#trainedRows, newEpoch && !fits ? this.rows.capacity : windowRows);
  }

  /**
   * Makes the rows that follow the first `done` of an epoch resident. Returns how many of them there are now: a multiple of the
   * batch, or all that are left.
   */
  async enter(epoch: number, done: number): Promise<number> {
    const { window, from, next } = this.#order.placeOf(epoch, done);
    const { start, end } = this.#order.windows[window];
    const rows = this.#order.rowsOf(window, epoch).subarray(from, this.#order.countOf(window));
    if (end - start > this.rows.capacity) {
      this.#entered = await this.#gather(rows.subarray(0, this.rows.capacity));
    } else {
      const base = await this.rows.show({ start, end });
      for (let i = 0; i < rows.length; i++) rows[i] += base - start;
      this.#entered = rows;
      if (next !== null) this.rows.prefetch(this.#order.windows[next]);
    }
    return this.#entered.length;
  }

  async #gather(rows: Uint32Array): Promise<Uint32Array> {
    const ascending = rows.slice().sort();
    await this.rows.gather(ascending);
    const places = new Map<number, number>();
    ascending.forEach((row, place) => places.set(row, place));
    return rows.map((row) => places.get(row)!);
  }

  /** Full steps that one submit should hold. */
  get stepsAtOnce(): number {
    return Math.min(this.plan.stepCapacity, this.executable.stepsAtOnce(programName('train', this.batch)));
  }

  /**
   * Starts `steps` training steps on the entered rows from number `from` on; `step` is the run's global step. All have the full
   * batch, or there is one with the remainder. Resolves when the next may be submitted, which is before these are done.
   */
  async submit(step: number, from: number, steps: number, rows: number): Promise<SubmittedSteps> {
    this.executable.write('step.indices', this.#entered.subarray(from, from + steps * rows));
    this.#fillTables(step, steps);
    await this.executable.run(programName('train', rows), steps);
    return { losses: this.executable.read('ring.loss', 0, steps) as Promise<Float32Array> };
  }

  /** `submit`, and waits for the losses. */
  async train(step: number, from: number, steps: number, rows: number): Promise<Float32Array> {
    return (await this.submit(step, from, steps, rows)).losses;
  }

  /** The model's raw outputs [rows, outputs] for consecutive rows. `pause` is called between submits. */
  async predict(range: RowRange, pause: () => Promise<void> = async () => {}): Promise<Float32Array> {
    const width = this.model.outputs;
    const outputs = new Float32Array((range.end - range.start) * width);
    const batch = this.#predictBatch;
    const program = programName('predict', batch);
    // Read one submit behind: a GPU has the next one before this one's outputs are on their way.
    let reading: Promise<void> = Promise.resolve();
    for (const window of windowsOf(range, this.rows.capacity)) {
      const base = await this.rows.show(window);
      const count = window.end - window.start;
      for (let done = 0; done < count;) {
        const most = Math.min(predictSteps, this.executable.stepsAtOnce(program)) * batch;
        const rows = Math.min(most, count - done);
        const steps = Math.ceil(rows / batch);
        // The last step is filled up with the last row; its extra outputs are not read.
        for (let i = 0; i < steps * batch; i++) this.#predictIndices[i] = base + done + Math.min(i, rows - 1);
        this.executable.write('step.indices', this.#predictIndices.subarray(0, steps * batch));
        await this.executable.run(program, steps);
        const place = (window.start - range.start + done) * width;
        const part = this.executable.read('ring.outputs', 0, rows * width);
        await reading;
        reading = part.then((values) => outputs.set(values, place));
        // Who waits for it hears of a failure.
        reading.catch(() => undefined);
        done += rows;
        await pause();
      }
    }
    await reading;
    return outputs;
  }

  learningRate(step: number): number {
    return learningRateAt(this.training, step, this.totalSteps, this.stepsPerEpoch);
  }

  close(): void {
    this.executable.dispose();
  }

  #fillTables(step: number, steps: number): void {
    const { beta1, beta2 } = this.training.optimizer;
    const corrected = optimizerStates(this.training.optimizer) > 0;
    const mixup = this.training.augmentation?.mixup ?? 0;
    for (let i = 0; i < steps; i++) {
      this.#scalars[4 * i] = this.learningRate(step + i);
      this.#scalars[4 * i + 1] = corrected ? 1 - beta1 ** (step + i + 1) : 1;
      this.#scalars[4 * i + 2] = corrected ? 1 - beta2 ** (step + i + 1) : 1;
      this.#scalars[4 * i + 3] = mixup > 0 ? drawBeta(mixup, this.training.seed, streams.mixup, step + i) : 0;
      this.#counters[i] = step + i;
    }
    this.executable.write('step.scalars', this.#scalars.subarray(0, 4 * steps));
    this.executable.write('step.counters', this.#counters.subarray(0, steps));
  }
}

/** [channels, 2]: mean and deviation of each. */
function normalizationOf({ normalization }: PreparedData, channels: number): Float32Array {
  const pair = (channel: number): readonly number[] =>
    normalization ? [normalization.mean[channel], normalization.deviation[channel]] : [0, 1];
  return Float32Array.from(Array.from({ length: channels }, (_, channel) => pair(channel)).flat());
}

/** Rows of a step of predictions: on images no more than keep a submit short and than the training's memory holds. */
function predictBatch(model: ResolvedModel, training: TrainingSpec, rows: number): number {
  if (model.input.kind === 'table') return Math.min(largestPredictBatch, rows);
  const flops = model.layers.reduce((sum, { def, inputShapes, outputShape, args }) => {
    return sum + def.flops(inputShapes, outputShape, args);
  }, 0);
  const affordable = Math.max(1, Math.floor(predictFlops / Math.max(1, flops)));
  return Math.min(largestPredictBatch, training.batch, affordable, rows);
}

/** Statistics of a batch of one row do not exist: such a remainder is left out. */
function usesBatchStatistics(model: ResolvedModel): boolean {
  return model.layers.some((layer) => layer.def.type === 'batch_norm');
}

function trainBatches(rows: number, batch: number, batchStatistics: boolean): readonly number[] {
  const remainder = rows % batch;
  return remainder === 0 || (remainder === 1 && batchStatistics) ? [batch] : [batch, remainder];
}

/** `balanced`: rows / (classes · rows of the class), so that the weights' mean over the rows is 1. */
function classWeights(training: TrainingSpec, counts: readonly number[], outputs: number): Float32Array | null {
  if (training.classWeights === 'none' || counts.length === 0) return null;
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const present = counts.filter((count) => count > 0).length;
  const weights = new Float32Array(Math.max(2, outputs));
  counts.forEach((count, k) => (weights[k] = count > 0 ? rows / (present * count) : 0));
  return weights;
}
