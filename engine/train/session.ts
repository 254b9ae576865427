// A session joins a model, its data and a device: the compiled plan with the rows resident and the weights in place. It
// knows how to run training steps and predictions; the trainer decides which and when.

import type { Backend, Executable } from '../backends/backend.ts';
import type { ResolvedModel } from '../model/resolve.ts';
import type { TrainingSpec } from '../model/spec.ts';
import { flatCosine, learningRateAt } from '../optim/schedules.ts';
import { compilePlan } from '../plan/compile.ts';
import { ratesOf } from '../plan/layout.ts';
import { programName, stepOf, type Plan } from '../plan/plan.ts';
import { classWeightsTensor } from '../plan/step.ts';
import type { TrainingState } from './checkpoint.ts';
import { shareAt, type DeadlinePlan } from './deadline.ts';
import { longestOf, paddingOf, type Buckets } from './buckets.ts';
import { beginLossScale } from './loss-scale.ts';
import { ResidentRows, residentCapacity, windowsOf, type RowRange } from './resident-rows.ts';
import { RowOrder, type TrainedRows } from './row-order.ts';
import { checkpointingWords, MisfitError } from './checkpointing-words.ts';
import { sessionModels, type SessionModels, type SessionSource } from './session-models.ts';
import {
  classWeights,
  isOutOfMemory,
  lengthOf,
  normalizationOf,
  planOptions,
  predictSteps,
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
  /** Of the rows that are predicted, each bucket with a program; null: one program is for all. */
  readonly #predicted: Buckets | null;
  readonly #trainedRows: TrainedRows;
  #order: RowOrder;
  /** Places on the device of the rows that are to be trained on next, in their order. */
  #entered: StepRows = { places: new Uint32Array(0), numbers: new Uint32Array(0) };
  readonly #tables: StepTables;
  /** Rows of each part of a step that takes so many; absent: steps are one program. */
  readonly #parts: SessionSizes['parts'];
  readonly #tableRows: number;
  /** Where the schedule began, and where the optimizer's state was new. */
  #begun = { scheduleStep: 0, scheduleEpoch: 0, optimizerStep: 0 };
  #plan: DeadlinePlan | null = null;
  /** Why the batch is in more parts than asked for. */
  #misfit: unknown = null;
  readonly #predictIndices: Uint32Array;
  /** The part of them that the last submit of predictions had: mostly that of the next one. */
  #writtenIndices: Uint32Array = new Uint32Array(0);
  readonly #predictBatch: number;
  /** Rows of the programs of `tokenLoss`, the larger first. */
  readonly #evaluateBatches: readonly number[];

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
    this.#predicted = predicted;
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
    this.#parts = parts;
    // Parts that are of one bucket each save no memory that anyone was short of.
    const dealt = !devices && (buckets?.parts ?? 1) > 1;
    this.accumulate = dealt ? accumulate : Math.max(...partsEach(parts?.(batch), devices?.(batch)));
    this.#tableRows = stepOf(plan, programName('train', batch))?.tableRows ?? 1;
    const predict = Object.values(plan.programs).at(-1)!;
    this.#predictBatch = predict.batch;
    this.#evaluateBatches = evaluateBatches;
    this.#predictIndices = new Uint32Array(predictSteps * this.#predictBatch);
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
      learningRate: (step) => this.learningRate(step),
      rates: ratesOf(model.parameters),
      regularisation:
        training.schedule.regularisation === 'flat_cosine' ? (step) => flatCosine(this.#progress(step)) : null,
      updates: (step) => step - this.#begun.optimizerStep,
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

  /** Takes the place of a run that goes on: where it began with the schedule and the optimizer it has now. */
  takeUp({ scheduleStep, scheduleEpoch, optimizerStep, plan }: TrainingState): void {
    this.#begun = { scheduleStep, scheduleEpoch, optimizerStep };
    this.#plan = plan ?? null;
  }

  /** Goes by a time instead of the number of epochs from now on. */
  takePlan(plan: DeadlinePlan): void {
    this.#plan = plan;
  }

  /** What is planned where nothing but the number of epochs is known: the schedule as it is. */
  get wholePlan(): DeadlinePlan {
    return this.#plan ?? { steps: this.totalSteps, fromStep: this.#begun.scheduleStep + this.#warmup, fromShare: 0 };
  }

  /** Steps of the whole run, those it took over included. */
  get totalSteps(): number {
    if (this.#plan) return this.#plan.steps;
    const { scheduleStep, scheduleEpoch } = this.#begun;
    return scheduleStep + this.stepsPerEpoch * (this.training.epochs - scheduleEpoch);
  }

  /** Epochs of the whole run; the last of a plan may be cut short. */
  get epochs(): number {
    return this.#plan ? Math.ceil(this.epochAt(this.#plan.steps)) : this.training.epochs;
  }

  /** Epochs after so many steps, with fractions. */
  epochAt(step: number): number {
    const { scheduleStep, scheduleEpoch } = this.#begun;
    return scheduleEpoch + (step - scheduleStep) / this.stepsPerEpoch;
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
  async predict(range: RowRange, pause?: () => Promise<void>): Promise<Float32Array> {
    const width = this.model.outputs;
    const outputs = new Float32Array((range.end - range.start) * width);
    const batch = this.#predictBatch;
    // Read one submit behind: a GPU has the next one before this one's outputs are on their way.
    let reading: Promise<void> | null = null;
    for (const window of windowsOf(range, this.rows.capacity)) {
      // The answer to a single row takes a few microseconds: what is there already is not waited for.
      const base = this.rows.shown(window) ?? (await this.rows.show(window));
      for (const { program, rows: all } of this.#predictGroups(window)) {
        for (let done = 0; done < all.length;) {
          const most = Math.min(predictSteps, this.executable.stepsAtOnce(program)) * batch;
          const rows = done === 0 && all.length <= most ? all : all.subarray(done, done + most);
          const steps = Math.ceil(rows.length / batch);
          if (this.#writtenIndices.length !== steps * batch) {
            this.#writtenIndices = this.#predictIndices.subarray(0, steps * batch);
          }
          // The last step is filled up with the last row; its extra outputs are not read.
          for (let i = 0; i < steps * batch; i++) {
            this.#writtenIndices[i] = base + rows[Math.min(i, rows.length - 1)] - window.start;
          }
          this.executable.write('step.indices', this.#writtenIndices);
          await this.executable.run(program, steps);
          const earlier: Promise<void> | null = reading;
          reading = this.executable.read('ring.outputs', 0, rows.length * width).then((values) => {
            if (!this.#predicted) outputs.set(values, (rows[0] - range.start) * width);
            else
              rows.forEach((row, i) =>
                outputs.set(values.subarray(i * width, (i + 1) * width) as Float32Array, (row - range.start) * width),
              );
          });
          // Who waits for it hears of a failure, unless one before it has ended the prediction.
          reading.catch(() => undefined);
          if (earlier) await earlier;
          done += rows.length;
          if (pause) await pause();
        }
      }
    }
    await reading;
    return outputs;
  }

  /** The rows of a window by the program that predicts them: those of a bucket that fill no batch go to the next longer one. */
  #predictGroups({ start, end }: RowRange): readonly { readonly program: string; readonly rows: Uint32Array }[] {
    const batch = this.#predictBatch;
    const all = new Uint32Array(end - start);
    for (let i = 0; i < all.length; i++) all[i] = start + i;
    if (!this.#predicted) return [{ program: programName('predict', batch), rows: all }];
    const { lengths, of } = this.#predicted;
    let rest = new Uint32Array(0);
    return lengths.flatMap((length, bucket) => {
      const waiting = Uint32Array.from([...rest, ...all.filter((row) => of[row] === bucket)]);
      const whole = bucket === lengths.length - 1 ? waiting.length : waiting.length - (waiting.length % batch);
      rest = waiting.slice(whole);
      return whole === 0 ? [] : [{ program: programName('predict', batch, length), rows: waiting.subarray(0, whole) }];
    });
  }

  /** The mean loss of consecutive rows at every position, of a language model. `pause` is called between submits. */
  async tokenLoss(range: RowRange, pause: () => Promise<void> = async () => {}): Promise<number> {
    const [batch] = this.#evaluateBatches;
    let sum = 0;
    for (const window of windowsOf(range, this.rows.capacity)) {
      const base = await this.rows.show(window);
      const count = window.end - window.start;
      for (let done = 0; done < count;) {
        const rows = count - done >= batch ? batch : 1;
        const program = programName('evaluate', rows);
        const most = Math.min(this.plan.stepCapacity, this.executable.stepsAtOnce(program));
        const steps = Math.min(most, rows === 1 ? count - done : Math.floor((count - done) / batch));
        const places = Uint32Array.from({ length: steps * rows }, (_, row) => base + done + row);
        this.executable.write('step.indices', places);
        await this.executable.run(program, steps);
        const losses = (await this.executable.read('ring.loss', 0, steps)) as Float32Array;
        for (const loss of losses) sum += loss * rows;
        done += steps * rows;
        await pause();
      }
    }
    return sum / (range.end - range.start);
  }

  /** What a language model expects after a text: logits [outputs] of codes [width]. They have a row of the device to themselves. */
  async following(codes: Float32Array): Promise<Float32Array> {
    const row = this.rows.capacity;
    this.executable.write('data.x', codes, row * codes.length);
    this.executable.write('step.indices', Uint32Array.of(row));
    await this.executable.run(programName('predict', 1), 1);
    return (await this.executable.read('ring.outputs', 0, this.model.outputs)) as Float32Array;
  }

  learningRate(step: number): number {
    const done = step - this.#begun.scheduleStep;
    if (this.#plan && done >= this.#warmup) {
      const total = this.#plan.steps - this.#begun.scheduleStep;
      const stretched = this.#warmup + shareAt(this.#plan, step) * Math.max(0, total - this.#warmup - 1);
      return learningRateAt(this.training, stretched, total, this.stepsPerEpoch);
    }
    return learningRateAt(this.training, step - this.#begun.scheduleStep, this.#scheduledSteps, this.stepsPerEpoch);
  }

  /** Steps of the schedule. */
  get #scheduledSteps(): number {
    const { epochs, schedule } = this.training;
    const last = schedule.overEpochs > 0 ? schedule.overEpochs : epochs;
    return this.stepsPerEpoch * Math.max(0, last - this.#begun.scheduleEpoch);
  }

  get #warmup(): number {
    return Math.round(this.training.schedule.warmupEpochs * this.stepsPerEpoch);
  }

  /** How far the schedule is at a step: 0 … 1. */
  #progress(step: number): number {
    if (this.#plan) return shareAt(this.#plan, step);
    return Math.min(1, (step - this.#begun.scheduleStep) / Math.max(1, this.#scheduledSteps - 1));
  }

  close(): void {
    this.executable.dispose();
  }
}

/** How many parts a batch has, or each device's share of it. */
function partsEach(parts: readonly number[] = [0], devices: readonly number[] = parts.map(() => 0)): readonly number[] {
  return devices.map((device) => devices.filter((other) => other === device).length);
}
