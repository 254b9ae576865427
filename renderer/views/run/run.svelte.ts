// The state of one run's page: its record, its curves (those kept and those that arrive live), its log.

import type { Snippet } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import type { AppService } from '../../../engine/protocol/app.ts';
import type { RunEvaluation } from '../../../engine/protocol/evaluation.ts';
import { thinCurve } from '../../../engine/protocol/thin-curve.ts';
import type { LogLine, MetricPoint, RunConfig, RunProgress, RunRecord } from '../../../engine/protocol/runs.ts';
import { failureOf } from '../../app/failure.ts';
import type { Failure } from '../../app/failure.ts';
import { isLive } from '../../lib/run-words.ts';
import { throttle } from '../../lib/throttle.ts';
import type { ShownPicture } from './classes/shown-picture.ts';
import type { PredictState } from './predict/predict.svelte.ts';
import type { Profiling } from './step/profiling.svelte.ts';

export interface Series {
  readonly step: readonly number[];
  readonly epoch: readonly number[];
  readonly seconds: readonly number[];
  readonly value: readonly number[];
}

const nothing: Series = { step: [], epoch: [], seconds: [], value: [] };
/** Points a series asked of the history: more than a window has pixels. */
const pointLimit = 4000;
/** Milliseconds between redraws of the curves: drawing takes a core from the training that is shown. */
const redraw = 1000;
/** Milliseconds a report may come too early for that. */
const early = 100;
/** Milliseconds between looks at what else may have changed. */
const lookAgain = 500;
/** Milliseconds between looks at the figures of a live run. */
const summaryEvery = 2000;

/** Sorts points into their series, in order of steps. */
export function groupPoints(points: readonly MetricPoint[]): Map<string, MetricPoint[]> {
  const groups = new Map<string, MetricPoint[]>();
  for (const point of points) {
    const group = groups.get(point.series);
    if (group) group.push(point);
    else groups.set(point.series, [point]);
  }
  for (const group of groups.values()) group.sort((a, b) => a.step - b.step);
  return groups;
}

/** Adds later points to a series; points it has already (the history and the live report overlap) stay out. */
export function extend(series: Series, points: readonly MetricPoint[]): Series {
  const last = series.step.at(-1) ?? -1;
  const fresh = points.filter((point) => point.step > last);
  if (fresh.length === 0) return series;
  return {
    step: [...series.step, ...fresh.map((point) => point.step)],
    epoch: [...series.epoch, ...fresh.map((point) => point.epoch)],
    seconds: [...series.seconds, ...fresh.map((point) => point.seconds)],
    value: [...series.value, ...fresh.map((point) => point.value)],
  };
}

/** What the history gives of a series: a run may go on for as long as it likes. */
export function thin(series: Series, limit: number): Series {
  const { step, value } = series;
  const kept = thinCurve(
    step.length,
    (index) => step[index],
    (index) => value[index],
    limit,
  );
  const of = (numbers: readonly number[]): readonly number[] => kept.map((index) => numbers[index]);
  return { step: of(step), epoch: of(series.epoch), seconds: of(series.seconds), value: of(value) };
}

export class RunPage {
  readonly id: number;
  run: RunRecord | null = $state.raw(null);
  progress: RunProgress | null = $state.raw(null);
  log: readonly LogLine[] = $state.raw([]);
  /** Class by class, after the last epoch. */
  evaluation: RunEvaluation | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  /** Shown large, with what the run says it is. */
  picture: ShownPicture | null = $state.raw(null);
  /** What the open tab puts into the tab bar. */
  tools: Snippet | null = $state.raw(null);
  /** Pause, stop or resume was asked and is not answered yet. */
  waiting: boolean = $state(false);
  /** The file of the tab Predict: it stays while the page is open, whichever tab is. */
  predicted: PredictState | null = null;
  /** Of a step: it goes on whichever tab is open, and ends with the page. */
  profiling: Profiling | null = null;
  readonly series = new SvelteMap<string, Series>();
  readonly #service: AppService;
  #pending: MetricPoint[] = [];
  #flushed = -Infinity;
  /** Times that the history was asked for the curves and has not answered. */
  #asked = 0;

  constructor(id: number, service: AppService) {
    this.id = id;
    this.#service = service;
  }

  /** Loads and follows the run; returns the function that stops following. */
  open(): () => void {
    void this.attempt(() => this.#load());
    const flush = throttle(() => this.#flush(), redraw);
    const readLog = throttle(() => void this.attempt(() => this.#loadLog()), lookAgain);
    const reload = throttle(() => void this.attempt(() => this.#refresh()), lookAgain);
    // Best and last values stand in the record, which changes more often than it is announced.
    const summarise = throttle(
      () =>
        void this.attempt(async () => {
          this.run = await this.#service.run({ run: this.id });
          await this.#loadEvaluation();
        }),
      // Until there is something to show, sooner.
      () => (Object.keys(this.run?.best ?? {}).length > 0 ? summaryEvery : lookAgain),
    );
    const stops = [
      this.#service.onReport(({ run, points, progress }) => {
        if (run !== this.id) return;
        this.#pending.push(...points);
        // As in the sidebar; and curves at once where it is time: what the report changes in the window is drawn together.
        this.progress = progress;
        if (performance.now() - this.#flushed > redraw - early) this.#flush();
        else flush();
        summarise();
      }),
      this.#service.onRunsChanged(({ runs, trained, logged }) => {
        if (!runs.includes(this.id)) return;
        if (!trained.includes(this.id)) reload();
        else summarise();
        if (logged.includes(this.id)) readLog();
      }),
    ];
    return () => {
      stops.forEach((stop) => stop());
      this.predicted?.close();
      this.profiling?.close();
    };
  }

  pause(): Promise<void> {
    return this.#ask(() => this.#service.pauseRun({ run: this.id }));
  }

  /** Out of a pause, or from the checkpoint of an ended run, there also on another device. */
  resume(device?: RunConfig['device']): Promise<void> {
    return this.#ask(async () => {
      if (this.run?.state === 'paused') await this.#service.continueRun({ run: this.id });
      else {
        this.run = await this.#service.resumeRun({ run: this.id, device });
        await this.#loadMetrics();
      }
    });
  }

  stop(): Promise<void> {
    return this.#ask(() => this.#service.stopRun({ run: this.id }));
  }

  async update(patch: Parameters<AppService['updateRun']>[0]['patch']): Promise<void> {
    await this.attempt(async () => {
      this.run = await this.#service.updateRun({ run: this.id, patch });
    });
  }

  async #load(): Promise<void> {
    this.run = await this.#service.run({ run: this.id });
    this.progress = this.run.progress;
    await Promise.all([this.#loadMetrics(), this.#loadLog(), this.#loadEvaluation()]);
  }

  async #loadMetrics(): Promise<void> {
    // What is reported meanwhile may not be among them yet: it waits, and comes after them.
    this.#asked++;
    const asking = this.#service.metrics({ run: this.id, limit: pointLimit });
    const points = await asking.finally(() => this.#asked--);
    this.series.clear();
    for (const [name, group] of groupPoints(points)) this.series.set(name, extend(nothing, group));
    this.#flush();
  }

  /** It stays the same object until it is of another epoch, so that nothing is drawn anew. */
  async #loadEvaluation(): Promise<void> {
    const next = await this.#service.evaluation({ run: this.id });
    const now = this.evaluation;
    if (next?.epoch !== now?.epoch || next?.final !== now?.final) this.evaluation = next;
  }

  /** Asks for the lines that are not here yet. */
  async #loadLog(): Promise<void> {
    const here = this.log;
    const lines = await this.#service.log({ run: this.id, after: here.length });
    // The answer to a later question may have come first.
    if (here.length + lines.length > this.log.length) this.log = [...here, ...lines];
  }

  async #refresh(): Promise<void> {
    const before = this.run?.state;
    const run = await this.#service.run({ run: this.id });
    this.run = run;
    if (!isLive(run)) this.progress = run.progress;
    await this.#loadLog();
    // What was reported last may be in the history alone by now.
    if (before !== run.state && !isLive(run)) await Promise.all([this.#loadMetrics(), this.#loadEvaluation()]);
  }

  #flush(): void {
    if (this.#asked > 0) return;
    this.#flushed = performance.now();
    for (const [name, group] of groupPoints(this.#pending)) {
      const grown = extend(this.series.get(name) ?? nothing, group);
      this.series.set(name, grown.step.length > 2 * pointLimit ? thin(grown, pointLimit) : grown);
    }
    this.#pending = [];
  }

  async #ask(request: () => Promise<void>): Promise<void> {
    this.waiting = true;
    await this.attempt(request);
    this.waiting = false;
  }

  /** Does something that may fail; what went wrong then stands at the head of the page. */
  async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.failure = null;
    } catch (error) {
      this.failure = failureOf(error);
      // Removed for good, by whomever: nothing of it can be shown or done any more.
      if (this.failure.code === 'input.unknown_run') this.run = null;
    }
  }
}
