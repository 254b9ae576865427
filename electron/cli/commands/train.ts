// `train`: from a file to a trained, recorded model.

import { metricWords } from '../../../engine/model/metrics.ts';
import path from 'node:path';
import { deadlineText } from '../../../engine/protocol/deadline.ts';
import { CancelledError, InputError, TrainyardError } from '../../../engine/protocol/errors.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import type { MetricPoint, RunProgress, RunRecord, RunResult } from '../../../engine/protocol/runs.ts';
import { declarationOf } from '../../../engine/learners/declared/registry.ts';
import type { RunManager } from '../../../engine/runs/manager.ts';
import { waitingRuns } from '../../../engine/runs/queue.ts';
import { damagedCheckpoint } from '../../../engine/runs/beginnings.ts';
import { refuseTraining } from '../../../engine/history/measuring.ts';
import { askedRun, deviceOption } from '../asked-run.ts';
import { about } from '../about.ts';
import { runNumber, textOption, type Command, type CommandContext } from '../command.ts';
import { runFields } from '../../../engine/settings/run.ts';
import { flagsOf } from '../setting-flags.ts';
import { readOptionDefs } from '../import.ts';
import { architectureOption } from '../import-model.ts';
import { formatCount, formatNumber, formatSeconds, type Output } from '../output.ts';
import { queueOptions, queueWish, untilOption } from '../queue-options.ts';
import { managerOf } from '../run-manager.ts';
import { dataOptions, trainingOptions } from '../training-options.ts';
import { checkpointOption, transferOption } from '../transfer-options.ts';
import { leaderboardEvent, printLeaderboard } from '../leaderboard.ts';
import { printFolds } from '../out-of-fold.ts';
import { againstText, foldNumbers, keptText, printMetrics, timesText, workText } from '../run-text.ts';

export const train: Command = {
  ...about.train,
  positionals: [0, 1],
  options: {
    ...dataOptions,
    ...trainingOptions,
    ...flagsOf(runFields),
    from: {
      type: 'string',
      value: 'RUN|FILE|FOLDER',
      path: true,
      help: 'begin with the weights of this run, or of a model of others (see import-model), and its layers unless --model says others',
    },
    architecture: architectureOption,
    'up-to': { type: 'string', value: 'LAYER|N', help: 'with --from: only those of the first layers, up to this one' },
    checkpoint: checkpointOption,
    name: { type: 'string', value: 'TEXT', help: 'name of the run' },
    resume: { type: 'string', value: 'RUN', help: 'continue a stopped, failed or interrupted run' },
    until: {
      type: 'string',
      value: 'TIME',
      help: 'be done by then, 7:00 or 2026-12-24T07:00: epochs and schedule, trees, or what is tried are chosen so that it ends in time',
    },
    ...queueOptions,
    ...readOptionDefs,
  },
  run: async (context) => {
    const resume = textOption(context.options, 'resume');
    if (resume === undefined) {
      if (context.positionals.length === 0) {
        throw new InputError('usage.arguments', 'train needs a file.', 'trainyard train data.csv, or --resume RUN.');
      }
      await trainFile(context);
      return;
    }
    const run = runNumber(resume);
    const device = deviceOption(context.options);
    const until = untilOption(context.options);
    const queue = queueWish(context.options);
    if (queue) await putIntoQueue(context, (manager) => manager.resume({ run, device, until, queue }));
    else await follow(context, (manager) => manager.resume({ run, device, until }));
  },
};

/** Imports a file, trains on it, or queues that, and returns the number of the run. */
export async function trainFile(context: CommandContext): Promise<number> {
  const { options } = context;
  const queue = queueWish(options);
  const until = untilOption(options);
  const { info, config: asked, parent } = await askedRun(context);
  const config = until === undefined ? asked : { ...asked, until };
  const name = textOption(options, 'name') ?? path.parse(info.source).name;
  const from = parent && transferOption(parent, options);
  if (queue) return putIntoQueue(context, (manager) => manager.start({ name, config, from, queue }));
  return follow(context, (manager) => manager.start({ name, config, from }));
}

export async function putIntoQueue(
  { output, services, interruption }: CommandContext,
  put: (manager: RunManager) => Promise<RunRecord>,
): Promise<number> {
  const { manager, cancelPreparing } = await managerOf(services);
  const deafen = interruption.listen(cancelPreparing);
  try {
    const { id } = await put(manager);
    const place = (await waitingRuns(await services.store)).findIndex((run) => run.id === id) + 1;
    output.event({ event: 'queued', run: id, place });
    output.line(`Run ${id} waits at place ${place}. \`trainyard queue run\` works the queue off; so does the app.`);
    return id;
  } finally {
    deafen();
  }
}

/** What another command says of a run in its own way. */
export interface Told {
  /** Of its end. */
  readonly tell?: (output: Output, ended: RunRecord) => void;
  /** While it goes on; its epochs are left out then. */
  readonly listen?: (manager: RunManager) => void;
}

/**
 * Starts, continues or resumes a run, shows it live and returns its number when it has ended. A signal or a closed reader stops it, and
 * it keeps its best weights; a second signal ends it without its last evaluation.
 */
export async function follow(
  { output, services, interruption }: CommandContext,
  begin: (manager: RunManager) => Promise<RunRecord>,
  { tell = report, listen }: Told = {},
): Promise<number> {
  const store = await services.store;
  refuseTraining(services.home);
  const { manager, cancelPreparing } = await managerOf(services);
  let run: RunRecord | null = null;
  const stop = manager.onReport(({ run: reporting, points, progress }) => {
    const fold = run !== null && reporting !== run.id ? { run: reporting } : {};
    if (!listen) epochEvents(points).forEach((event) => output.event({ ...event, ...fold }));
    // A cross-validation tells of its own progress.
    if ('run' in fold) return;
    const unit = run === null ? 'step' : declarationOf(run.config).unit.one;
    output.bar(progress.step / Math.max(1, progress.steps), progressText(unit, progress, points));
  });
  listen?.(manager);
  manager.onLog(({ run: speaking, line }) => {
    // The bar shows the epochs, the last lines the end: `show RUN --log` has it all.
    if (line.detail || (run !== null && speaking !== run.id && line.level === 'info')) return;
    if (line.level === 'info') output.line(line.message);
    else output.note(`! ${line.message}`);
  });
  const deafen = interruption.listen((again) => {
    if (run === null) return cancelPreparing();
    output.note(again ? `Ends run ${run.id} at once.` : `Stops run ${run.id} and keeps its best weights.`);
    // A run that has ended meanwhile needs no stopping.
    manager.stop({ run: run.id, now: again }).catch(() => undefined);
  });
  try {
    run = await begin(manager);
    output.event({ event: 'started', run: run.id });
    if (interruption.cause !== null) await manager.stop({ run: run.id });
    const ended = await manager.finished({ run: run.id });
    output.clearBar();
    tell(output, ended);
    const { folds } = ended.result ?? {};
    if (folds) printFolds(output, folds, await foldNumbers(store, run.id));
    return run.id;
  } finally {
    stop();
    deafen();
  }
}

/** One event an epoch with its metrics; the step curve stays out. */
function epochEvents(points: readonly MetricPoint[]): readonly object[] {
  const epochs = new Map<number, Record<string, number>>();
  for (const { series, epoch, value } of points) {
    if (series === 'step_loss') continue;
    epochs.set(epoch, { ...epochs.get(epoch), [series]: value });
  }
  return [...epochs].map(([epoch, metrics]) => ({ event: 'epoch', epoch, metrics }));
}

let lastMetrics = '';

function progressText(unit: string, progress: RunProgress, points: readonly MetricPoint[]): string {
  const validation = points.findLast((point) => point.series.startsWith('val_') && point.series !== 'val_loss');
  if (validation)
    lastMetrics = `, val ${metricWords(validation.series.slice('val_'.length))} ${formatNumber(validation.value)}`;
  const left = progress.secondsLeft === null ? '' : `, ${formatSeconds(progress.secondsLeft)} left`;
  const rate = progress.examplesPerSecond > 0 ? `, ${formatCount(progress.examplesPerSecond)} training rows/s` : '';
  return `${unit} ${progress.epoch}/${progress.epochs}, loss ${formatNumber(progress.loss)}${lastMetrics}${rate}${left}`;
}

const endings: Readonly<Record<RunResult['reason'], string>> = {
  completed: 'trained',
  early_stopped: 'trained, stopped early',
  stopped: 'stopped',
  diverged: 'diverged',
};

/** Throws what a run ended with that has no result. */
export function refuseUnfinished(run: RunRecord): asserts run is RunRecord & { readonly result: RunResult } {
  const { result, error } = run;
  if (!result && run.state === 'stopped' && !error) {
    throw new CancelledError(`Run ${run.id} was stopped before it began to train.`);
  }
  if (!result) {
    const { code, message, hint } = error ?? { code: 'run.failed' as const, message: 'The run failed.', hint: '' };
    throw new TrainyardError(code, `Run ${run.id}: ${message}`, `${hint}${wayOn(run)}`);
  }
}

/** How a run that failed goes on; empty: it does not. */
export function wayOn({ id, error, hasCheckpoint }: RunRecord): string {
  if (error?.code === 'input.deadline') return ` trainyard train --resume ${id} [--until TIME]`;
  return hasCheckpoint && error?.code !== damagedCheckpoint
    ? ` Its checkpoint is kept: trainyard train --resume ${id}`
    : '';
}

/** Of a run with a scaled loss. */
function skippedEvent({ last }: RunRecord): object {
  const skipped = ownValue(last, 'skipped_steps');
  return skipped === undefined ? {} : { skipped_steps: skipped, loss_scale: ownValue(last, 'loss_scale') };
}

function report(output: Output, run: RunRecord): void {
  refuseUnfinished(run);
  const { result, error } = run;
  output.event({
    event: 'finished',
    run: run.id,
    reason: result.reason,
    device: result.device,
    threads: result.threads,
    epochs: result.epochs,
    steps: result.steps,
    elapsed_seconds: run.progress?.secondsElapsed ?? null,
    seconds: result.seconds,
    examples_per_second: result.examplesPerSecond,
    best_epoch: result.bestEpoch,
    ...(result.remark ? { remark: result.remark } : {}),
    metrics: result.metrics,
    ...skippedEvent(run),
    ...(result.baseline ? { baseline: result.baseline } : {}),
    ...(result.folds ? { folds: result.folds } : {}),
    ...leaderboardEvent(result),
    ...(result.deadline ? { deadline: result.deadline } : {}),
    ...(result.doubt ? { doubt: result.doubt } : {}),
    ...(result.divergence ? { diverged_at_step: result.divergence.step } : {}),
  });
  const device = `${result.device}${result.threads > 1 ? ` ×${result.threads}` : ''}`;
  output.line(
    `Run ${run.id} ${endings[result.reason]}: ${workText(run)} on ${device} in ${timesText(run)}; ${keptText(run)}`,
  );
  if (result.deadline) output.line(`${deadlineText(result.deadline, declarationOf(run.config).unit)}.`);
  printMetrics(output, result.metrics);
  printLeaderboard(output, run);
  const against = againstText(run);
  if (against !== null) output.line(`${against}.`);
  if (result.doubt) output.line(`! ${result.doubt}`);
  // It is a training that failed, whatever is kept of it.
  if (error) throw new TrainyardError(error.code, `Run ${run.id}: ${error.message}`, error.hint);
}
