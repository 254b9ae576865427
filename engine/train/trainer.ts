// The training loop: epochs of steps, validation after each, early stopping, checkpoints. It runs the same on every device
// and reports through events; who listens (a window, a terminal, the history) is not its business. The parts: steps on their
// way (step-stream), reports (reporter), checkpoints (checkpoint-writer), scores, and what a run comes to (outcome).

import type { DeviceDescription } from '../backends/backend.ts';
import { parameterCount } from '../model/resolve.ts';
import { unreadWarning } from '../model/unread.ts';
import { TrainyardError } from '../protocol/errors.ts';
import type { RunResult } from '../protocol/runs.ts';
import { noValidationWarning } from '../protocol/use.ts';
import { timeText } from '../protocol/words.ts';
import { decodeCheckpoint, initialState, type Checkpoint, type TrainingState } from './checkpoint.ts';
import { CheckpointWriter } from './checkpoint-writer.ts';
import { Diary } from './diary.ts';
import { EvaluationFiles } from './evaluation-files.ts';
import type { TrainerOptions } from './options.ts';
import { finish, handOver, threadsOf, type Divergence } from './outcome.ts';
import { beginLossScale, LossScale, withoutLossScale } from './loss-scale.ts';
import { Reporter } from './reporter.ts';
import { Samples } from './samples.ts';
import { Scores } from './scores.ts';
import type { Session } from './session.ts';
import { goOnFrom } from './start.ts';
import { type Opened, openSession, sharingOf, sharingText } from './together.ts';
import { StepStream } from './step-stream.ts';
import { Timekeeper } from './timekeeper.ts';
import { initializeWeights, readWeights, weightNames, writeWeights, type Weights } from './weights.ts';

/** Trains one run to its end and returns its result. `started` is called once the plan is compiled. */
export async function train(
  options: TrainerOptions,
  started: (event: { device: DeviceDescription; parameters: number; bytes: number; step: number }) => void,
): Promise<RunResult> {
  const diary = new Diary(options.surroundings, options.events.onLog);
  const opened = await diary.during('preparing', () => openSession(options, diary));
  const { session } = opened;
  try {
    const parameters = parameterCount(session.whole);
    const trainer = new Trainer(opened, options, diary);
    const device = { ...options.backend.device, threads: threadsOf(session, options) };
    started({ device, parameters, bytes: session.executable.bytes, step: trainer.step });
    return await trainer.run();
  } finally {
    session.close();
  }
}

class Trainer {
  readonly #opened: Opened;
  readonly #session: Session;
  readonly #options: TrainerOptions;
  readonly #diary: Diary;
  readonly #state: TrainingState;
  readonly #stream: StepStream;
  readonly #reporter: Reporter;
  readonly #checkpoints: CheckpointWriter;
  readonly #scores: Scores;
  readonly #samples: Samples;
  readonly #lossScale: LossScale;
  readonly #files: EvaluationFiles;
  /** Null: its settings say how many epochs it has. */
  readonly #time: Timekeeper | null;
  #best: Weights;
  #divergence: Divergence | null = null;
  /** It begins with weights that are not its own: how good they are decides whether others are better. */
  #unjudged: boolean;

  /** Sets first weights, or those of the checkpoint. */
  constructor(opened: Opened, options: TrainerOptions, diary: Diary) {
    const { data, control, surroundings, events } = options;
    const { clock, breathe } = surroundings;
    const { session } = opened;
    this.#opened = opened;
    this.#session = session;
    this.#options = options;
    this.#diary = diary;
    this.#announce();
    const checkpoint = options.checkpoint ? decodeCheckpoint(options.checkpoint) : null;
    const begun = checkpoint || !options.start ? null : goOnFrom(session, options.start, options.data.output);
    if (!checkpoint) initializeWeights(session.executable, session.whole, session.training.seed, begun?.written);
    this.#state = checkpoint ? restore(session, checkpoint) : (begun?.state ?? initialState());
    this.#best = checkpoint?.best ?? begun?.best ?? {};
    this.#unjudged = begun?.unjudged ?? false;
    this.#state.shares = session.shares;
    session.schedule.takeUp(this.#state);
    const { until } = options;
    const timed = { session, state: this.#state, surroundings, diary, counts: data.counts };
    this.#time = until === undefined ? null : new Timekeeper({ ...timed, until });
    if (checkpoint) diary.say(`Continues after epoch ${this.#state.epoch}, step ${this.#state.step}.`);
    for (const message of begun?.said ?? []) diary.say(message);
    if (begun && options.start?.seen) diary.warn(seenWarning(options.start.parent));

    this.#stream = new StepStream(session, clock, (...taken) => this.#take(...taken));
    this.#reporter = new Reporter({
      state: this.#state,
      planned: () => ({ epochs: session.schedule.epochs, steps: session.schedule.totalSteps }),
      epochAt: (step) => session.schedule.epochAt(step),
      clock,
      diary,
      sharing: () => sharingOf(options.backend, opened),
      onReport: events.onReport,
      onPoint: events.onPoint,
    });
    this.#checkpoints = new CheckpointWriter({
      session,
      best: weightNames(session.model),
      clock,
      diary,
      onFile: events.onFile,
    });
    this.#scores = new Scores(session, data, diary, breathe);
    this.#lossScale = new LossScale(session, diary);
    this.#samples = new Samples(session, data, diary, clock);
    this.#files = new EvaluationFiles({ data, clock, onFile: events.onFile });
    // Whoever stops a run may not wait until it has.
    control.onStop(() => {
      if (this.#state.bestEpoch > 0) handOver(options, this.#best);
    });
  }

  /** Steps done. */
  get step(): number {
    return this.#state.step;
  }

  async run(): Promise<RunResult> {
    const { control } = this.#options;
    await this.#lossScale.begin();
    if (this.#unjudged) await this.#judge();
    // One that was killed after its last checkpoint and before its end.
    let early = this.#isStale;
    while (!this.#isDone && !control.stopRequested && !early) {
      if (!(await this.#epoch())) break;
      early = await this.#endEpoch();
    }
    await this.#stream.settle();
    const sharing = sharingOf(this.#options.backend, this.#opened);
    if (sharing) this.#diary.say(sharingText(sharing));
    if (this.#divergence) return this.#finish('diverged');
    const stopped = control.stopRequested && !this.#isDone && !early;
    // Of the end, too: somebody may want it to go on.
    await this.#checkpoint();
    if (!stopped) await this.#samples.write(this.#state.step);
    return this.#finish(stopped ? 'stopped' : early ? 'early_stopped' : 'completed');
  }

  /** Nothing is left to train. */
  get #isDone(): boolean {
    const { epoch, step } = this.#state;
    return this.#time ? this.#time.isOver(step) : epoch >= this.#session.training.epochs;
  }

  #finish(reason: RunResult['reason']): Promise<RunResult> {
    const parts = {
      session: this.#session,
      options: this.#options,
      state: this.#state,
      best: this.#best,
      scores: this.#scores,
      files: this.#files,
      reporter: this.#reporter,
      diary: this.#diary,
      deadline: this.#time?.result(),
    };
    return finish(parts, reason, this.#divergence);
  }

  #announce(): void {
    const { model, training, batch, accumulate, order, stepsPerEpoch, rows, smaller, executable } = this.#session;
    const { backend, data } = this.#options;
    if (backend.device.warning) this.#diary.warn(backend.device.warning);
    const unread = unreadWarning(model);
    if (unread !== null) this.#diary.warn(unread);
    const { threads, payingThreads } = executable;
    if (threads !== undefined && payingThreads !== undefined) {
      const fewer = payingThreads === 1 ? 'one is' : `${payingThreads} are`;
      // CPUs that share the batches divide the cores among them and do not measure.
      const [held, advice] = backend.together
        ? ['Each CPU of the run', `The number of threads is that of each CPU: set it to ${payingThreads}.`]
        : ['The run', 'With the number of threads left at 0 and the cores free, a run measures which.'];
      this.#diary.warn(
        `${held} is held to ${threads} threads, but the calls of its model are so small that ${fewer} likely faster, and far faster while other programs are at work. ${advice}`,
      );
    }
    if (batch < training.batch) {
      this.#diary.warn(`The batch of ${training.batch} is larger than the training split; it is ${batch} now.`);
    }
    if (accumulate > training.accumulate) {
      const each = Math.ceil(batch / accumulate);
      const parts = `${accumulate} parts of ${each === 1 ? 'one row' : `up to ${each} rows`}`;
      const said = `A batch of ${batch} does not fit the memory of the device: it is computed in ${parts}.`;
      this.#diary.say(smaller === null ? said : `${said} ${smaller}`);
    }
    if (training.precision === 'mixed16') {
      if (backend.halfStorage)
        this.#diary.say('Activations and their gradients are stored in 16 bits, all else in float32.');
      else this.#diary.warn('Numbers of 16 bits are for GPUs: on this device everything is stored in float32.');
    }
    if (order.windows.length > 1) {
      const capacity = rows.capacity.toLocaleString('en');
      this.#diary.say(`The rows stream in ${order.windows.length} windows of ${capacity} rows.`);
    }
    const { padding } = this.#session;
    if (padding) {
      const [share, without] = [padding.share, padding.without].map((part) => `${Math.round(100 * part)} %`);
      this.#diary.say(`Batches are of texts of like length: padding ${share}, without buckets ${without}.`);
    }
    if (data.counts.validation === 0) this.#diary.warn(noValidationWarning().message);
    this.#diary.begins(data, stepsPerEpoch, training.epochs);
  }

  /** Runs what is left of the current epoch. False when it ends in its middle: stopped, or diverged. */
  async #epoch(): Promise<boolean> {
    const session = this.#session;
    const state = this.#state;
    session.takeWindows(state.windowRows || session.order.windowRows, state.rows === 0);
    state.windowRows = session.order.windowRows;
    while (state.rows < session.order.total && !this.#time?.isOver(state.step)) {
      const entered = await this.#diary.during('data', () => session.enter(state.epoch, state.rows));
      if (!(await this.#trainOn(entered))) return false;
    }
    return true;
  }

  /** Trains on the entered rows, submit by submit. */
  async #trainOn(entered: number): Promise<boolean> {
    const { batch } = this.#session;
    let { step } = this.#state;
    for (let from = 0; from < entered && !this.#time?.isOver(step);) {
      const full = Math.floor((entered - from) / batch);
      const rows = full > 0 ? batch : entered - from;
      const most = this.#time ? Math.min(full, this.#session.schedule.totalSteps - step) : full;
      const steps = full > 0 ? this.#session.stepsFrom(from, most) : 1;
      await this.#stream.submit({ step, from, steps, rows });
      step += steps;
      from += steps * rows;
      if (!(await this.#between())) return false;
      this.#time?.look(step);
    }
    await this.#stream.settle();
    return this.#divergence === null;
  }

  /** Takes in the losses of a submit. */
  #take(losses: Float32Array, rows: number, milliseconds: number): void {
    this.#diary.add('training', milliseconds);
    const state = this.#state;
    // Steps that were under way when one before them diverged count for nothing.
    if (this.#divergence) return;
    this.#reporter.trained(losses.length, losses.length * rows, milliseconds);
    for (const loss of losses) {
      state.step++;
      state.rows += rows;
      state.lossSum += loss * rows;
      this.#reporter.loss(loss);
      if (Number.isFinite(loss)) continue;
      this.#divergence = { step: state.step, loss };
      return;
    }
  }

  /** Between submits: report, checkpoint, pause. False when the run has to end. */
  async #between(): Promise<boolean> {
    const { control, surroundings } = this.#options;
    this.#reporter.report();
    await surroundings.breathe();
    if (this.#checkpoints.due) await this.#checkpoint();
    if (this.#samples.due) await this.#sample();
    if (control.pauseRequested) await this.#pause();
    return !control.stopRequested && this.#divergence === null;
  }

  async #pause(): Promise<void> {
    const { control, surroundings, events } = this.#options;
    await this.#checkpoint();
    if (this.#divergence) return;
    this.#reporter.report(true);
    events.onPaused({ paused: true });
    const since = surroundings.clock();
    this.#diary.say(`Paused at step ${this.#state.step}.`);
    await control.whileRunning();
    const milliseconds = surroundings.clock() - since;
    this.#reporter.paused(milliseconds);
    this.#time?.aside(milliseconds);
    if (control.stopRequested) return;
    events.onPaused({ paused: false });
    this.#diary.say(`Goes on after a pause of ${timeText(milliseconds)}.`);
  }

  /** Of a run that has diverged there is nothing to go on from. */
  async #checkpoint(): Promise<void> {
    await this.#stream.settle();
    if (this.#divergence) return;
    await this.#checkpoints.write(this.#state, this.#best, () => this.#reporter.report(true));
  }

  async #sample(): Promise<void> {
    await this.#stream.settle();
    if (!this.#divergence) await this.#samples.write(this.#state.step);
  }

  /** For good; the last one is kept anyway. */
  async #keepEpoch(): Promise<void> {
    if (this.#isDone) return;
    await this.#stream.settle();
    if (!this.#divergence) await this.#checkpoints.keep(this.#state, () => this.#reporter.report(true));
  }

  /** Validation, metrics, best weights. True when training should stop early. */
  async #endEpoch(): Promise<boolean> {
    const { training } = this.#session;
    const state = this.#state;
    const trainLoss = state.rows > 0 ? state.lossSum / state.rows : NaN;
    state.epoch++;
    state.rows = 0;
    state.lossSum = 0;
    this.#reporter.point('train_loss', trainLoss, state.epoch);
    const { clock } = this.#options.surroundings;
    const since = clock();
    const validation = await this.#scores.validation();
    this.#time?.aside(clock() - since, true);
    const metrics = validation?.evaluation.metrics ?? {};
    for (const [name, value] of Object.entries(metrics)) this.#reporter.point(`val_${name}`, value, state.epoch);
    this.#reporter.point(
      'learning_rate',
      this.#session.schedule.learningRate(Math.max(0, state.step - 1)),
      state.epoch,
    );

    const scaled = await this.#lossScale.tell();
    if (scaled) {
      this.#reporter.point('loss_scale', scaled.scale, state.epoch);
      this.#reporter.point('skipped_steps', scaled.skipped, state.epoch);
    }
    if (validation) this.#scores.believe(state.epoch, trainLoss, validation);
    const better = await this.#keepIfBetter(metrics['loss'] ?? trainLoss);
    this.#time?.judge();
    this.#reporter.report();
    await this.#keepEpoch();
    if (validation && !this.#isDone) this.#files.live(state.epoch, state.bestEpoch, validation);
    const { patience } = training.earlyStopping;
    const early = this.#isStale;
    const last = early || this.#isDone;
    this.#diary.epoch(
      { epoch: state.epoch, trainLoss, validation: metrics, best: better, last },
      this.#session.schedule.epochs,
    );
    if (early) {
      this.#diary.say(`Stops early: no better validation loss for ${patience} epochs after epoch ${state.bestEpoch}.`);
    }
    return early;
  }

  /** The validation loss has not been better for as many epochs as are allowed. */
  get #isStale(): boolean {
    // Who ends by the clock comes to the end of the schedule first.
    if (this.#time) return false;
    const { enabled, patience } = this.#session.training.earlyStopping;
    return enabled && this.#options.data.counts.validation > 0 && this.#state.stale >= patience;
  }

  /** How good the weights are that it begins with. */
  async #judge(): Promise<void> {
    if (this.#state.epoch === 0) return;
    const validation = await this.#scores.validation();
    await this.#keepIfBetter(validation?.evaluation.metrics['loss'] ?? NaN);
  }

  /** Keeps the weights of the epoch that is complete if its loss is the lowest so far. */
  async #keepIfBetter(watched: number): Promise<boolean> {
    const { executable, plan, model, training } = this.#session;
    const state = this.#state;
    // An epoch whose loss is no number is better than none, and worse than any other.
    const lowest = state.bestLoss ?? NaN;
    if (!Number.isNaN(lowest) && !(watched < lowest - training.earlyStopping.minimumDelta)) {
      state.stale++;
      return false;
    }
    this.#best = await readWeights(executable, plan, weightNames(model), this.#best);
    state.bestLoss = watched;
    state.bestEpoch = state.epoch;
    state.stale = 0;
    return true;
  }
}

const seenWarning = (parent: number): string =>
  `Run ${parent} learned from the same rows in other splits: it has seen some that are to judge this run, whose scores look better than they are.`;

/** Puts the tensors of a checkpoint in place; returns where to go on. */
function restore(session: Session, { state, oldPlace, tensors }: Checkpoint): TrainingState {
  const { executable, plan, order, batch } = session;
  if (oldPlace && order.doneAfter(state.epoch, oldPlace.window, oldPlace.windowStep * batch) !== state.rows) {
    throw new TrainyardError(
      'run.checkpoint',
      'The checkpoint is of an earlier version and was written with other memory for the rows: its place in the epoch is unknown.',
      'Resume the run on the device it was trained on, or start it again from its settings.',
    );
  }
  writeWeights(executable, plan, withoutLossScale(plan.checkpoint), tensors);
  beginLossScale(session, state.step - state.optimizerStep, tensors);
  return { ...state };
}
