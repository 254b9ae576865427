// A linear model at work on a job: the rows are read, penalties are tried in slices, and the best weights are scored and kept.

import type { RunResult, TrainingProgress } from '../../protocol/runs.ts';
import { noValidationWarning } from '../../protocol/use.ts';
import { countText, timeText } from '../../protocol/words.ts';
import { doubtHint } from '../../train/doubt.ts';
import type { EvaluationSpec } from '../../train/metrics.ts';
import { handOverModel } from '../../train/model-files.ts';
import { classWeights } from '../../train/session-sizes.ts';
import { Course, sliceMilliseconds } from '../course.ts';
import { DoneBy } from '../done-by.ts';
import { declaration, gridOf, outputsOf, type LinearConfig } from './declaration.ts';
import type { LearnerJob, Training } from '../learner.ts';
import { plainLoss, scoreSplits, type Scored } from '../scoring.ts';
import { decodeSearch, encodeSearch, tensorsOf } from './checkpoint.ts';
import { readDesign } from './design.ts';
import { outputsFor } from './outputs.ts';
import { constantWeights, penaltyOf, searchPenalty, type PathProblem, type Search } from './path.ts';
import { termTensors } from './terms.ts';
import type { Work } from './work.ts';

export async function openLinear(job: LearnerJob<LinearConfig>): Promise<Training> {
  const { config, data, surroundings, events, checkpoint } = job;
  const design = await readDesign(job, gridOf(data.input), surroundings.breathe);
  const weights = classWeights(config.linear, data.classCounts, outputsOf(data.output));
  const { train, validation } = data.counts;
  const { penalty } = config.linear;
  const problem: PathProblem = { design, train, validation, output: data.output, classWeights: weights, penalty };
  const before = checkpoint ? decodeSearch(checkpoint) : null;
  const search = before?.search ?? { tried: [], best: constantWeights(problem), chosen: -1 };
  const { weight, bias } = search.best;
  events.onStarted({
    device: { kind: 'cpu', name: 'CPU', threads: 1 },
    sentence: 'A linear model is solved on the CPU, on one thread.',
    parameters: weight.length + bias.length,
    bytes:
      design.x.byteLength +
      design.ones.byteLength +
      design.targets.byteLength +
      8 * (design.counted?.values.length ?? 0),
    step: search.tried.length,
  });
  return new LinearTraining(job, problem, search, before?.seconds ?? 0);
}

const unscored: Scored = { metrics: {}, doubt: null, points: [] };

/** Of the time of a penalty. */
const scoringShare = 0.5;

class LinearTraining implements Training {
  readonly #job: LearnerJob<LinearConfig>;
  readonly #problem: PathProblem;
  readonly #search: Search;
  readonly #work: Work<void>;
  readonly #course: Course;
  readonly #evaluation: EvaluationSpec;
  /** Penalties tried before this training, and seconds that took. */
  readonly #triedBefore: number;
  readonly #secondsBefore: number;
  readonly #doneBy: DoneBy | null;
  #seconds = 0;
  /** There was no time for more. */
  #late = false;
  #result: RunResult | null = null;

  constructor(job: LearnerJob<LinearConfig>, problem: PathProblem, search: Search, secondsBefore: number) {
    this.#job = job;
    this.#problem = problem;
    this.#search = search;
    this.#work = searchPenalty(problem, search);
    this.#triedBefore = search.tried.length;
    this.#secondsBefore = secondsBefore;
    this.#doneBy = DoneBy.of(job);
    this.#evaluation = {
      output: problem.output,
      training: plainLoss,
      weights: problem.classWeights as Float32Array | null,
    };
    this.#course = new Course(job, {
      progress: () => this.#progress(),
      snapshot: () => encodeSearch(search, this.#secondsSpent),
    });
    // Whoever stops a run may not wait until it has; whoever trains a fold does.
    if (!job.modelAlone) job.control.onStop(() => this.#handOver());
    this.#announce();
  }

  async advance(milliseconds: number): Promise<boolean> {
    if (this.#result) return false;
    const { clock } = this.#job.surroundings;
    const end = clock() + milliseconds;
    do {
      const done = this.#slice();
      if (!(await this.#course.between()) && !done) {
        await this.#course.saveCheckpoint();
        this.#finish('stopped');
      } else if (done || this.#isLate()) this.#finish('completed');
    } while (this.#result === null && clock() < end);
    return this.#result === null;
  }

  result(): RunResult {
    if (this.#result === null) throw new RangeError('the training goes on');
    return this.#result;
  }

  get #secondsSpent(): number {
    return this.#secondsBefore + this.#seconds;
  }

  /** True when there is nothing left to do. */
  #slice(): boolean {
    const { clock } = this.#job.surroundings;
    const start = clock();
    try {
      while (clock() - start < sliceMilliseconds) if (this.#work.next().done) return true;
      return false;
    } finally {
      this.#seconds += (clock() - start) / 1000;
    }
  }

  /** What was solved so far is kept then. Scoring takes less than a penalty. */
  #isLate(): boolean {
    const { length } = this.#search.tried;
    const each = length > 0 ? (1000 * this.#secondsSpent) / length : 0;
    this.#late = this.#doneBy !== null && this.#doneBy.left(scoringShare * each) < 0;
    return this.#late;
  }

  #announce(): void {
    const { data } = this.#job;
    const { counts, input, output, warnings } = data;
    for (const { message } of warnings) this.#course.say(message, 'warning');
    if (counts.validation === 0) this.#course.say(noValidationWarning().message, 'warning');
    const kind = output.kind === 'value' ? 'Ridge regression' : 'Logistic regression';
    const rows = countText(counts.train, input.kind === 'image' ? 'picture' : 'row');
    const columns = countText(this.#problem.design.width, 'column');
    this.#course.say(`${kind} on ${rows} and ${columns}, validated on ${counts.validation.toLocaleString('en')}.`);
    if (this.#triedBefore > 0) this.#course.say(`Goes on after penalty ${this.#triedBefore} of the search.`);
  }

  #progress(): TrainingProgress {
    const { tried, chosen } = this.#search;
    // One that was stopped is as far as it came.
    const ended = this.#result !== null && this.#result.reason !== 'stopped';
    const all = ended ? tried.length : declaration.units(this.#job.config);
    const here = tried.length - this.#triedBefore;
    return {
      epoch: tried.length,
      epochs: all,
      step: tried.length,
      steps: all,
      examplesPerSecond: this.#rowsPerSecond(),
      secondsTraining: this.#secondsSpent,
      secondsLeft: here > 0 ? ((all - tried.length) * this.#seconds) / here : null,
      loss: tried[chosen]?.loss ?? null,
      spent: { phases: { training: this.#seconds } },
    };
  }

  #rowsPerSecond(): number {
    const here = this.#search.tried.length - this.#triedBefore;
    return this.#seconds > 0 ? (here * this.#problem.train) / this.#seconds : 0;
  }

  #finish(reason: RunResult['reason']): void {
    const { surroundings } = this.#job;
    const { tried, chosen } = this.#search;
    const start = surroundings.clock();
    this.#handOver();
    const step = Math.max(1, tried.length);
    const scored = this.#job.modelAlone ? unscored : this.#score(step);
    for (const point of scored.points) {
      this.#course.point({ ...point, step, epoch: step, seconds: this.#secondsSpent });
    }
    const scoring = surroundings.clock() - start;
    this.#result = {
      reason,
      device: 'cpu',
      threads: 1,
      epochs: tried.length,
      steps: tried.length,
      seconds: this.#secondsSpent,
      examplesPerSecond: this.#rowsPerSecond(),
      metrics: scored.metrics,
      bestEpoch: chosen + 1,
      remark: this.#remark(),
      ...(this.#doneBy ? { deadline: this.#doneBy.result(tried.length) } : {}),
      spent: { phases: { training: this.#seconds, scoring: scoring / 1000 } },
      ...(scored.doubt === null ? {} : { doubt: `${scored.doubt} ${doubtHint}` }),
    };
    this.#course.report(true);
    const times = `solving ${timeText(1000 * this.#seconds)}, scoring ${timeText(scoring)}`;
    this.#course.say(`Time: ${times}.`, 'info', true);
    this.#course.say(`${reason === 'stopped' ? 'Stopped' : 'Completed'}: ${this.#remark()}.`, 'info', true);
    if (scored.doubt !== null) this.#course.say(scored.doubt, 'warning');
  }

  #score(step: number): Scored {
    const { design } = this.#problem;
    return scoreSplits(this.#job, this.#evaluation, { step, best: this.#search.chosen + 1 }, (from, to) => ({
      outputs: outputsFor(design, from, to, this.#search.best),
      targets: design.targets.subarray(from, to),
    }));
  }

  /** "penalty 10, the best of 6 by the validation rows" */
  #remark(): string {
    const { tried, chosen } = this.#search;
    const { penalty } = this.#job.config.linear;
    if (chosen < 0) return 'always the same answer: no penalty was solved';
    const value = Number(penaltyOf(tried[chosen], penalty).toPrecision(4));
    if (penalty > 0) return `penalty ${value}, as set`;
    const { validation } = this.#problem;
    const by = `${validation > 0 ? 'the validation rows' : 'rows set aside'}${this.#late ? ', all that there was time for' : ''}`;
    return `penalty ${value}, the best of ${tried.length} by ${by}`;
  }

  /** What predicting and exporting need. */
  #handOver(): void {
    const { events, config, data } = this.#job;
    const { tried, chosen, best } = this.#search;
    const penalty = chosen < 0 ? 0 : penaltyOf(tried[chosen], config.linear.penalty);
    const own = { learner: 'linear', linear: config.linear, seed: config.seed, penalty, grid: gridOf(data.input) };
    handOverModel(events, data, own, { ...tensorsOf(best), ...termTensors(this.#problem.design.terms ?? []) });
  }
}
