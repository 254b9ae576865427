// A session joins a model, its data and a device: the compiled plan with the rows resident and the weights in place. It
// knows how to run training steps and predictions; the trainer decides which and when.

import type { Backend, Executable } from '../backends/backend.ts';
import type { ResolvedModel } from '../model/resolve.ts';
import type { TrainingSpec } from '../model/spec.ts';
import { flatCosine } from '../optim/schedules.ts';
import { compilePlan } from '../plan/compile.ts';
import { ratesOf } from '../plan/layout.ts';
import { programName, stepOf, type Plan } from '../plan/plan.ts';
import { classWeightsTensor } from '../plan/step.ts';
import { longestOf, paddingOf, type Buckets } from './buckets.ts';
import { beginLossScale } from './loss-scale.ts';
import { ResidentRows, residentCapacity, type RowRange } from './resident-rows.ts';
import { RowOrder, type TrainedRows } from './row-order.ts';
import { checkpointingWords, MisfitError } from './checkpointing-words.ts';
import { sessionModels, type SessionModels, type SessionSource } from './session-models.ts';
import { Predictions } from './session-predictions.ts';
import { SessionSchedule } from './session-schedule.ts';
import {
  classWeights,
  isOutOfMemory,
  lengthOf,
  normalizationOf,
  planOptions,
  trainBatches,
  usesBatchStatistics,
  type SessionSizes,
} from './session-sizes.ts';
import { StepTables, type StepRows } from './step-tables.ts';

/** Steps that are under way. */
export interface SubmittedSteps {
  /** Their losses, once they are done. */
  readonly losses: Promise<Float32Array>;
}

export interface SessionOptions extends SessionSource {
  readonly backend: Backend;
  /** Bytes the resident rows may take. */
  readonly dataBudget: number;
  /** Rows of a full batch for each of several devices; absent: the batch is not shared. */
  readonly shares?: readonly number[];
}

export class Session {
  readonly model: ResolvedModel;
  /** The same without anything frozen: what has first weights. */
  readonly whole: ResolvedModel;
  readonly plan: Plan;
  readonly executable: Executable;
  readonly rows: ResidentRows;
  readonly training: TrainingSpec;
  /** Rows of a full training step: the batch, or all rows if there are fewer. */
  readonly batch: number;
  /** Parts in which a batch is computed, or a device's share of it; more than asked for where those do not fit the device's memory. */
  readonly accumulate: number;
  readonly stepsPerEpoch: number;
  /** Rows of a full batch for each of several devices; absent: it is not shared. */
  readonly shares: readonly number[] | undefined;
  /** Weights of the classes in the loss, or null. */
  readonly classWeights: Float32Array | null;
  /** Of rows with a text of like length; null: there are none. */
  readonly buckets: Buckets | null;
  readonly #trainedRows: TrainedRows;
  #order: RowOrder;
  /** Places on the device of the rows that are to be trained on next, in their order. */
  #entered: StepRows = { places: new Uint32Array(0), numbers: new Uint32Array(0) };
  readonly #tables: StepTables;
  /** Rows of each part of a step that takes so many; absent: steps are one program. */
  readonly #parts: SessionSizes['parts'];
  readonly #tableRows: number;
  readonly schedule: SessionSchedule;
  /** Why the batch is in more parts than asked for. */
  #misfit: unknown = null;
  readonly #predictions: Predictions;

  /** A batch that does not fit the device's memory is computed in more and more parts, until one does. */
  static async open(options: SessionOptions): Promise<Session> {
    const { training, data, predictOnly = false } = options;
    const most = predictOnly ? 1 : Math.max(1, Math.min(training.batch, data.counts.train));
    const wanted = predictOnly ? 1 : training.accumulate;
    const models = await sessionModels(options);
    let failure: unknown = null;
    for (let accumulate = Math.min(wanted, most); ; accumulate = Math.min(2 * accumulate, most)) {
      try {
        const session = await Session.#openInParts(options, models, accumulate);
        session.#misfit = failure;
        return session;
      } catch (error) {
        // If the smallest parts do not fit either, it is not for the batch.
        failure ??= error;
        if (!isOutOfMemory(error) || accumulate >= most) throw failure;
      }
    }
  }

  static async #openInParts(options: SessionOptions, models: SessionModels, accumulate: number): Promise<Session> {
    const { data, training, predictOnly = false } = options;
    const { model, buckets, predicted } = models;
    const batch = Math.min(training.batch, Math.max(1, data.counts.train));
    const dataBudget = Math.min(options.dataBudget, options.backend.dataBudget ?? Infinity);
    const capacity = residentCapacity(data, dataBudget, batch);
    const { halfStorage } = options.backend;
    const { shares: asked } = options;
    const shape = {
      ...{ model, training, data, capacity, accumulate, shares: asked, halfStorage, predictOnly },
      buckets: buckets ?? predicted ?? undefined,
    };
    const planned = planOptions(shape);
    const plan = compilePlan(planned.options);
    const { parts, devices, shares } = planned;
    const executable = await options.backend.compile(plan).catch((error: unknown) => {
      throw isOutOfMemory(error) ? new MisfitError(error, checkpointingWords(shape, plan)) : error;
    });
    const { evaluateBatches } = planned.options;
    const sizes = { batch, accumulate, capacity, shares, parts, devices, evaluateBatches };
    return new Session(options, models, plan, executable, sizes);
  }

  private constructor(
    options: SessionOptions,
    { model, whole, buckets, predicted = null }: SessionModels,
    plan: Plan,
    executable: Executable,
    { batch, accumulate, capacity, shares, parts, devices, evaluateBatches = [] }: SessionSizes,
  ) {
    const { data, training } = options;
    this.model = model;
    this.whole = whole;
    this.buckets = buckets;
    this.plan = plan;
    this.executable = executable;
    this.training = training;
    this.shares = shares;
    this.batch = batch;
    this.rows = new ResidentRows(data, options.readShard, executable, capacity);
    const programs = trainBatches(data.counts.train, batch, usesBatchStatistics(model));
    const leftOut = programs.length === 1 ? data.counts.train % batch : 0;
    const dealing = buckets ? { buckets, batch } : undefined;
    this.#trainedRows = { rows: data.counts.train, leftOut, seed: training.seed, dealing };
    this.#order = new RowOrder(this.#trainedRows, capacity);
    this.stepsPerEpoch = Math.floor(data.counts.train / batch) + programs.length - 1;
    this.schedule = new SessionSchedule(training, this.stepsPerEpoch);
    this.#parts = parts;
    // Parts that are of one bucket each save no memory that anyone was short of.
    const dealt = !devices && (buckets?.parts ?? 1) > 1;
    this.accumulate = dealt ? accumulate : Math.max(...partsEach(parts?.(batch), devices?.(batch)));
    this.#tableRows = stepOf(plan, programName('train', batch))?.tableRows ?? 1;
    this.#predictions = new Predictions({
      executable,
      plan,
      model,
      rows: this.rows,
      buckets: predicted,
      evaluateBatches,
    });
    this.classWeights = classWeights(training, data.classCounts, model.outputs);
    if (this.classWeights && !options.predictOnly) executable.write(classWeightsTensor, this.classWeights);
    if (data.input.kind === 'image') {
      executable.write('data.normalization', normalizationOf(data, data.input.channels));
    }
    beginLossScale(this, 0);
    this.#tables = new StepTables({
      executable,
      capacity: plan.stepCapacity,
      training,
      learningRate: (step) => this.schedule.learningRate(step),
      rates: ratesOf(model.parameters),
      regularisation:
        training.schedule.regularisation === 'flat_cosine' ? (step) => flatCosine(this.schedule.progress(step)) : null,
      updates: (step) => this.schedule.updatesBefore(step),
      parts: parts ?? null,
      // On one device alone the parts of all are added up in one sum.
      devices: (options.backend.together && devices) ?? null,
      batches: programs,
      weightOf: this.#weightOf(),
    });
  }

  /** How rows weigh in the mean that the loss is; mixed images are a mean over the rows, whatever their classes weigh. */
  #weightOf(): ((row: number) => number) | null {
    const weights = this.classWeights;
    if (!weights || (this.training.augmentation?.mixup ?? 0) > 0) return null;
    return (row) => weights[this.rows.targets[row]];
  }

  /** What would make a batch that did not fit the memory smaller, in words. */
  get smaller(): string | null {
    return this.#misfit instanceof MisfitError ? this.#misfit.smaller : null;
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
      const numbers = rows.subarray(0, this.rows.capacity);
      this.#entered = { numbers, places: await this.#gather(numbers) };
    } else {
      const base = await this.rows.show({ start, end });
      this.#entered = { numbers: rows, places: rows.map((row) => row + base - start) };
      if (next !== null) this.rows.prefetch(this.#order.windows[next]);
    }
    return this.#entered.places.length;
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
    const capacity = Math.floor(this.plan.stepCapacity / this.#tableRows);
    return Math.min(capacity, this.executable.stepsAtOnce(programName('train', this.batch)));
  }

  /** Shares of the positions of an epoch that are padding, with buckets and without; null where there are none. */
  get padding(): { readonly share: number; readonly without: number } | null {
    const { rows, dealing } = this.#trainedRows;
    if (!dealing) return null;
    const longest = lengthOf(this.model);
    const order = Uint32Array.from(this.#order.windows.flatMap((_, window) => [...this.#order.rowsOf(window, 0)]));
    return {
      share: paddingOf(dealing, order, longest),
      without: 1 - dealing.buckets.tokens / (rows * longest),
    };
  }

  /** Full steps from row `from` of the entered ones on that one submit may hold: of one bucket, no more than `most`. */
  stepsFrom(from: number, most: number): number {
    const steps = Math.min(most, this.stepsAtOnce);
    if (!this.buckets) return steps;
    const program = (step: number): string =>
      this.#programFor(this.#entered.numbers.subarray(from + step * this.batch, from + (step + 1) * this.batch));
    const first = program(0);
    let alike = 1;
    while (alike < steps && program(alike) === first) alike++;
    return alike;
  }

  /** The training program for the rows of a step: that of the buckets of its parts, or the one for all lengths. */
  #programFor(numbers: Uint32Array): string {
    const { buckets } = this;
    const whole = programName('train', numbers.length);
    if (!buckets) return whole;
    let from = 0;
    const lengths = (this.#parts?.(numbers.length) ?? [numbers.length]).map(
      (rows) => buckets.lengths[longestOf(buckets, numbers.subarray(from, (from += rows)))],
    );
    const name = `${whole}x${new Set(lengths).size === 1 ? lengths[0] : lengths.join()}`;
    return stepOf(this.plan, name) ? name : whole;
  }

  /**
   * Starts `steps` training steps on the entered rows from number `from` on; `step` is the run's global step. All have the full
   * batch and rows of one bucket, or there is one with the remainder. Resolves when the next may be submitted, which is before these are done.
   */
  async submit(step: number, from: number, steps: number, rows: number): Promise<SubmittedSteps> {
    const [places, numbers] = [this.#entered.places, this.#entered.numbers].map((all) =>
      all.subarray(from, from + steps * rows),
    );
    const lossesOf = this.#tables.write(step, steps, rows, { places, numbers });
    const name = this.#programFor(numbers.subarray(0, rows));
    await this.executable.run(name, steps);
    const tableRows = steps * (stepOf(this.plan, name)?.tableRows ?? 1);
    const read = this.executable.read('ring.loss', 0, tableRows) as Promise<Float32Array>;
    return { losses: read.then(lossesOf) };
  }

  /** `submit`, and waits for the losses. */
  async train(step: number, from: number, steps: number, rows: number): Promise<Float32Array> {
    return (await this.submit(step, from, steps, rows)).losses;
  }

  /** The model's raw outputs [rows, outputs] for consecutive rows. `pause` is called between submits. */
  predict(range: RowRange, pause?: () => Promise<void>): Promise<Float32Array> {
    return this.#predictions.outputs(range, pause);
  }

  /** The mean loss of consecutive rows at every position, of a language model. `pause` is called between submits. */
  tokenLoss(range: RowRange, pause?: () => Promise<void>): Promise<number> {
    return this.#predictions.tokenLoss(range, pause);
  }

  /** What a language model expects after a text: logits [outputs] of codes [width]. */
  following(codes: Float32Array): Promise<Float32Array> {
    return this.#predictions.following(codes);
  }

  close(): void {
    this.executable.dispose();
  }
}

/** How many parts a batch has, or each device's share of it. */
function partsEach(parts: readonly number[] = [0], devices: readonly number[] = parts.map(() => 0)): readonly number[] {
  return devices.map((device) => devices.filter((other) => other === device).length);
}
