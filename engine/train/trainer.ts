// The training loop: epochs of steps, validation after each, early stopping, checkpoints. It runs the same on every device
// and reports through events; who listens (a window, a terminal, the history) is not its business.

import type { DeviceDescription } from '../backends/backend.ts';
import { TrainyardError } from '../protocol/errors.ts';
import type { PreparedData, SplitName } from '../protocol/data.ts';
import type { LogLine, Metrics, MetricPoint, RunFile, RunResult, TrainingProgress } from '../protocol/runs.ts';
import { noValidationWarning } from '../protocol/use.ts';
import { timeText } from '../protocol/words.ts';
import { sizeOf } from '../graph/op.ts';
import { decodeCheckpoint, encodeCheckpoint, initialState, type Checkpoint, type TrainingState } from './checkpoint.ts';
import type { RunControl, Surroundings } from './control.ts';
import { Diary } from './diary.ts';
import { constantLoss, doubtHint, doubtOf } from './doubt.ts';
import { EvaluationFiles, type EvaluatedSplit } from './evaluation-files.ts';
import { evaluate } from './metrics.ts';
import type { RowRange } from './resident-rows.ts';
import { encodeSafetensors, encodeText } from './safetensors.ts';
import { Session, type SessionOptions } from './session.ts';
import { initializeWeights, readWeights, weightNames, writeWeights, type Weights } from './weights.ts';

/** One submit aims at this many milliseconds, so that pause, stop and the screen answer at once. */
const submitMilliseconds = 40;
/** Reports leave at most this often; points wait meanwhile. */
const reportMilliseconds = 100;
/** Points of the step curve a run makes at most. */
const stepPoints = 2000;
/** Validation losses below this are not looked at while training: batch statistics of first epochs may be far off. */
const earlyLoss = 100;
/** Time between checkpoints; the first comes sooner. */
const checkpointMilliseconds = 10_000;
const firstCheckpointMilliseconds = 1_000;

export interface TrainerEvents {
  readonly onReport: (event: { points: readonly MetricPoint[]; progress: TrainingProgress }) => void;
  readonly onLog: (line: LogLine) => void;
  readonly onPaused: (event: { paused: boolean }) => void;
  readonly onFile: (event: { file: RunFile; data: Uint8Array }) => void;
}

export interface TrainerOptions extends SessionOptions {
  readonly control: RunControl;
  readonly surroundings: Surroundings;
  readonly events: TrainerEvents;
  readonly checkpoint?: Uint8Array;
}

/** Trains one run to its end and returns its result. `started` is called once the plan is compiled. */
export async function train(
  options: TrainerOptions,
  started: (event: { device: DeviceDescription; parameters: number; bytes: number; step: number }) => void,
): Promise<RunResult> {
  const diary = new Diary(options.surroundings, options.events.onLog);
  const session = await diary.during('preparing', () => Session.open(options));
  try {
    const parameters = session.model.parameters.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
    const trainer = new Trainer(session, options, diary);
    const step = trainer.begin();
    const device = { ...options.backend.device, threads: threadsOf(session, options) };
    started({ device, parameters, bytes: session.executable.bytes, step });
    return await trainer.run();
  } finally {
    session.close();
  }
}

const threadsOf = ({ executable }: Session, { backend }: TrainerOptions): number =>
  executable.threads ?? backend.device.threads;

class Trainer {
  readonly #session: Session;
  readonly #options: TrainerOptions;
  readonly #data: PreparedData;
  readonly #files: EvaluationFiles;
  readonly #diary: Diary;
  #doubted = false;
  #state: TrainingState = initialState();
  #best: Weights = {};
  #points: MetricPoint[] = [];
  #lastReport = -Infinity;
  #lastCheckpoint: number;
  #stepMilliseconds = 0;
  #resumedSeconds = 0;
  #stepsHere = 0;
  #rowsHere = 0;
  #secondsHere = 0;
  /** When this trainer began, put off by every pause. */
  #begun = 0;
  #lastLoss: number | null = null;

  constructor(session: Session, options: TrainerOptions, diary: Diary) {
    this.#session = session;
    this.#options = options;
    this.#diary = diary;
    this.#data = options.data;
    const { data, surroundings, events } = options;
    this.#files = new EvaluationFiles({ data, clock: surroundings.clock, onFile: events.onFile });
    this.#lastCheckpoint = options.surroundings.clock() - checkpointMilliseconds + firstCheckpointMilliseconds;
    // Whoever stops a run may not wait until it has.
    options.control.onStop(() => {
      if (this.#state.bestEpoch > 0) this.#handOver(this.#best);
    });
  }

  async run(): Promise<RunResult> {
    const { training } = this.#session;
    this.#begun = this.#options.surroundings.clock();
    let early = false;
    while (this.#state.epoch < training.epochs && !this.#options.control.stopRequested && !early) {
      const complete = await this.#epoch();
      if (!complete) break;
      early = await this.#endEpoch();
    }
    const stopped = this.#options.control.stopRequested && this.#state.epoch < training.epochs && !early;
    if (stopped) await this.#saveCheckpoint();
    return this.#finish(stopped ? 'stopped' : early ? 'early_stopped' : 'completed');
  }

  /** Sets first weights, or those of the checkpoint; returns the steps done already. */
  begin(): number {
    const { executable, plan, model, training } = this.#session;
    this.#announce();
    if (!this.#options.checkpoint) {
      initializeWeights(executable, model, training.seed);
      return 0;
    }
    const checkpoint = decodeCheckpoint(this.#options.checkpoint);
    writeWeights(executable, plan, plan.checkpoint, checkpoint.tensors);
    this.#best = checkpoint.best;
    this.#state = { ...checkpoint.state };
    this.#resumedSeconds = this.#state.seconds;
    this.#diary.say(`Continues after epoch ${this.#state.epoch}, step ${this.#state.step}.`);
    return this.#state.step;
  }

  #announce(): void {
    const { training, batch, windows, stepsPerEpoch, rows } = this.#session;
    const { warning } = this.#options.backend.device;
    if (warning) this.#diary.warn(warning);
    if (batch < training.batch) {
      this.#diary.warn(`The batch of ${training.batch} is larger than the training split; it is ${batch} now.`);
    }
    if (windows.length > 1) {
      const capacity = rows.capacity.toLocaleString('en');
      this.#diary.say(`The rows stream in ${windows.length} windows of ${capacity} rows.`);
    }
    if (this.#data.counts.validation === 0) this.#diary.warn(noValidationWarning().message);
    this.#diary.begins(this.#data, stepsPerEpoch, training.epochs);
  }

  /** Runs what is left of the current epoch. False when stopped in its middle. */
  async #epoch(): Promise<boolean> {
    const { windows } = this.#session;
    const state = this.#state;
    const order = this.#session.windowOrder(state.epoch);
    while (state.window < windows.length) {
      const index = order[state.window];
      await this.#session.enterWindow(index, state.epoch);
      if (state.window + 1 < windows.length) this.#session.rows.prefetch(windows[order[state.window + 1]]);
      if (!(await this.#window(windows[index]))) return false;
      state.window++;
      state.windowStep = 0;
    }
    return true;
  }

  async #window(range: RowRange): Promise<boolean> {
    const { batch } = this.#session;
    const { full, remainder } = this.#session.stepsOf(range);
    const state = this.#state;
    while (state.windowStep < full) {
      await this.#submit(this.#submitSteps(full - state.windowStep), batch);
      if (!(await this.#between())) return false;
    }
    if (remainder > 0 && state.windowStep === full) {
      await this.#submit(1, remainder);
      if (!(await this.#between())) return false;
    }
    return true;
  }

  /** As many steps as fill a submit at the speed measured so far. */
  #submitSteps(left: number): number {
    const affordable = this.#stepMilliseconds > 0 ? Math.floor(submitMilliseconds / this.#stepMilliseconds) : 1;
    return Math.max(1, Math.min(left, affordable, this.#session.plan.stepCapacity));
  }

  async #submit(steps: number, rows: number): Promise<void> {
    const { clock } = this.#options.surroundings;
    const state = this.#state;
    const start = clock();
    const losses = await this.#session.train(state.step, state.windowStep, steps, rows);
    const milliseconds = clock() - start;
    this.#diary.add('training', milliseconds);
    if (rows === this.#session.batch) {
      // Rise slowly, fall at once: one slow step must not be followed by a submit of hundreds.
      const measured = milliseconds / steps;
      const before = this.#stepMilliseconds;
      this.#stepMilliseconds = before === 0 ? measured : Math.max(measured, before / 4);
    }
    this.#stepsHere += steps;
    this.#rowsHere += steps * rows;
    this.#secondsHere += milliseconds / 1000;
    state.seconds = this.#resumedSeconds + this.#secondsHere;
    for (const loss of losses) this.#recordLoss(loss, rows);
    state.windowStep += steps;
  }

  #recordLoss(loss: number, rows: number): void {
    const state = this.#state;
    state.step++;
    state.lossSum += loss * rows;
    state.lossRows += rows;
    state.bucketSum += loss;
    state.bucketSteps++;
    this.#lastLoss = loss;
    if (!Number.isFinite(loss)) this.#diverged(loss);
    const bucket = Math.max(1, Math.ceil(this.#session.totalSteps / stepPoints));
    if (state.bucketSteps < bucket) return;
    this.#point('step_loss', state.bucketSum / state.bucketSteps, state.step / this.#session.stepsPerEpoch);
    state.bucketSum = 0;
    state.bucketSteps = 0;
  }

  #diverged(loss: number): never {
    const { learningRate } = this.#session.training.optimizer;
    // The figures that stay are those of the step the message names.
    this.#report(true);
    throw new TrainyardError(
      'run.diverged',
      `The loss became ${loss} at step ${this.#state.step}.`,
      `Lower the learning rate (it is ${learningRate}) or set “Clip gradients at” to 1.`,
    );
  }

  /** Between submits: report, checkpoint, pause. False when the run has to stop. */
  async #between(): Promise<boolean> {
    const { control, surroundings, events } = this.#options;
    this.#report(false);
    await surroundings.breathe();
    if (surroundings.clock() - this.#lastCheckpoint >= checkpointMilliseconds) await this.#saveCheckpoint();
    if (control.pauseRequested) {
      await this.#saveCheckpoint();
      this.#report(true);
      events.onPaused({ paused: true });
      const since = surroundings.clock();
      this.#diary.say(`Paused at step ${this.#state.step}.`);
      await control.whileRunning();
      this.#begun += surroundings.clock() - since;
      if (!control.stopRequested) {
        events.onPaused({ paused: false });
        this.#diary.say(`Goes on after a pause of ${timeText(surroundings.clock() - since)}.`);
      }
    }
    return !control.stopRequested;
  }

  /** Validation, metrics, best weights. True when training should stop early. */
  async #endEpoch(): Promise<boolean> {
    const { training, executable, plan, model } = this.#session;
    const state = this.#state;
    state.epoch++;
    state.window = 0;
    state.windowStep = 0;
    const trainLoss = state.lossRows > 0 ? state.lossSum / state.lossRows : NaN;
    state.lossSum = 0;
    state.lossRows = 0;
    this.#point('train_loss', trainLoss, state.epoch);
    const validation = await this.#evaluate('validation', 'validation');
    const metrics = validation?.evaluation.metrics ?? {};
    for (const [name, value] of Object.entries(metrics)) this.#point(`val_${name}`, value, state.epoch);
    this.#point('learning_rate', this.#session.learningRate(Math.max(0, state.step - 1)), state.epoch);

    if (validation) this.#believe(metrics.loss, trainLoss, validation);
    const watched = metrics.loss ?? trainLoss;
    const better = state.bestLoss === null || watched < state.bestLoss - training.earlyStopping.minimumDelta;
    if (better) {
      state.bestLoss = watched;
      state.bestEpoch = state.epoch;
      state.stale = 0;
      this.#best = await readWeights(executable, plan, weightNames(model));
    } else {
      state.stale++;
    }
    this.#report(false);
    if (validation && state.epoch < training.epochs) this.#files.live(state.epoch, state.bestEpoch, validation);
    const { enabled, patience } = training.earlyStopping;
    const early = enabled && this.#data.counts.validation > 0 && state.stale >= patience;
    const last = early || state.epoch === training.epochs;
    this.#diary.epoch({ epoch: state.epoch, trainLoss, validation: metrics, best: better, last }, training.epochs);
    if (early) {
      this.#diary.say(`Stops early: no better validation loss for ${patience} epochs after epoch ${state.bestEpoch}.`);
    }
    return early;
  }

  /** Says once when the validation loss of an epoch is no number, or beyond what early epochs may look like. */
  #believe(loss: number, trainLoss: number, { targets }: EvaluatedSplit): void {
    if (this.#doubted || (Number.isFinite(loss) && loss < earlyLoss)) return;
    const doubt = doubtOf({ train: trainLoss, validation: loss, constant: this.#constantLoss(targets) });
    if (doubt === null) return;
    this.#doubted = true;
    this.#diary.warn(`Epoch ${this.#state.epoch}: ${doubt}`);
  }

  #constantLoss(targets: Float32Array): number {
    const { training, classWeights, model } = this.#session;
    return constantLoss(targets, { output: this.#data.output, training, weights: classWeights }, model.outputs);
  }

  /** Why the result cannot be believed, or null; for the weights that are kept. */
  #doubt({ validation }: Readonly<Record<SplitName, EvaluatedSplit | null>>, metrics: Metrics): string | null {
    if (!validation) return null;
    return doubtOf({
      train: metrics['train_loss'] ?? NaN,
      validation: metrics['val_loss'] ?? NaN,
      constant: this.#constantLoss(validation.targets),
    });
  }

  /** Restores the best weights, evaluates all splits and hands over the files. */
  async #finish(reason: RunResult['reason']): Promise<RunResult> {
    const { executable, plan, model } = this.#session;
    const { backend } = this.#options;
    const state = this.#state;
    this.#diary.keeps(state.bestEpoch);
    if (state.bestEpoch > 0) writeWeights(executable, plan, weightNames(model), this.#best);
    // What the run has come to leaves first: evaluating takes its time, and somebody may not wait for it.
    this.#handOver(await readWeights(executable, plan, weightNames(model)));
    const splits: Record<SplitName, EvaluatedSplit | null> = { train: null, validation: null, test: null };
    const metrics: Record<string, number> = {};
    for (const split of ['train', 'validation', 'test'] as const) {
      splits[split] = await this.#evaluate(split, 'scoring');
      const prefix = split === 'validation' ? 'val' : split;
      const values = splits[split]?.evaluation.metrics ?? {};
      for (const [name, value] of Object.entries(values)) metrics[`${prefix}_${name}`] = value;
    }
    this.#report(true);
    this.#files.final(state.bestEpoch > 0 ? state.bestEpoch : state.epoch, state.bestEpoch, splits);
    const doubt = this.#doubt(splits, metrics);
    const result: RunResult = {
      reason,
      device: backend.device.kind,
      threads: threadsOf(this.#session, this.#options),
      epochs: state.epoch,
      steps: state.step,
      seconds: state.seconds,
      examplesPerSecond: this.#rowsPerSecond(),
      metrics,
      bestEpoch: state.bestEpoch,
      ...(doubt === null ? {} : { doubt: `${doubt} ${doubtHint}` }),
    };
    this.#diary.ends(result);
    if (result.doubt) this.#diary.warn(result.doubt);
    return result;
  }

  /** What predicting and exporting need. */
  #handOver(weights: Weights): void {
    const { events, training, model } = this.#options;
    const { input, output, task, preprocessing } = this.#data;
    const json = (value: unknown): Uint8Array => encodeText(JSON.stringify(value));
    events.onFile({
      file: 'best.safetensors',
      data: encodeSafetensors({ tensors: weights, metadata: { format: 'pt' } }),
    });
    events.onFile({ file: 'model.json', data: json({ model, training, input, output, task }) });
    events.onFile({ file: 'preprocessing.json', data: json(preprocessing) });
  }

  /** Null when the split is empty. */
  #evaluate(split: SplitName, phase: 'validation' | 'scoring'): Promise<EvaluatedSplit | null> {
    return this.#diary.during(phase, () => this.#evaluateSplit(split));
  }

  async #evaluateSplit(split: SplitName): Promise<EvaluatedSplit | null> {
    const range = splitRange(this.#data, split);
    if (range.end === range.start) return null;
    const outputs = await this.#session.predict(range, this.#options.surroundings.breathe);
    const targets = this.#session.rows.targets.subarray(range.start, range.end);
    const evaluation = evaluate(outputs, targets, {
      output: this.#data.output,
      training: this.#session.training,
      weights: this.#session.classWeights,
    });
    return { evaluation, outputs, targets };
  }

  #saveCheckpoint(): Promise<void> {
    return this.#diary.during('checkpoints', () => this.#writeCheckpoint());
  }

  async #writeCheckpoint(): Promise<void> {
    const { executable, plan } = this.#session;
    const tensors = await readWeights(executable, plan, plan.checkpoint);
    const checkpoint: Checkpoint = { state: this.#state, tensors, best: this.#best };
    // Points up to here leave first, so that the history never lacks what a resumed run will not repeat.
    this.#report(true);
    const data = encodeCheckpoint(checkpoint);
    this.#options.events.onFile({ file: 'checkpoint.bin', data });
    this.#diary.checkpoint(this.#state.step, this.#state.epoch, data.byteLength);
    this.#lastCheckpoint = this.#options.surroundings.clock();
  }

  #point(series: string, value: number, epoch: number): void {
    if (!Number.isFinite(value)) return;
    this.#points.push({ series, step: this.#state.step, epoch, seconds: this.#state.seconds, value });
  }

  #report(now: boolean): void {
    const time = this.#options.surroundings.clock();
    if (!now && time - this.#lastReport < reportMilliseconds) return;
    this.#lastReport = time;
    const points = this.#points;
    this.#points = [];
    this.#options.events.onReport({ points, progress: this.#progress() });
  }

  /** Rows trained on a second of training. */
  #rowsPerSecond(): number {
    return this.#secondsHere > 0 ? this.#rowsHere / this.#secondsHere : 0;
  }

  #progress(): TrainingProgress {
    const { totalSteps, training } = this.#session;
    const { epoch, step, seconds } = this.#state;
    const secondsAtWork = (this.#options.surroundings.clock() - this.#begun) / 1000;
    return {
      epoch,
      epochs: training.epochs,
      step,
      steps: totalSteps,
      examplesPerSecond: this.#rowsPerSecond(),
      secondsTraining: seconds,
      secondsLeft: this.#stepsHere > 0 ? ((totalSteps - step) * secondsAtWork) / this.#stepsHere : null,
      loss: this.#lastLoss,
    };
  }
}

/** Rows of a split: train first, then validation, then test. */
export function splitRange({ counts }: Pick<PreparedData, 'counts'>, split: SplitName): RowRange {
  const { train: first, validation, test } = counts;
  switch (split) {
    case 'train':
      return { start: 0, end: first };
    case 'validation':
      return { start: first, end: first + validation };
    case 'test':
      return { start: first + validation, end: first + validation + test };
  }
}
