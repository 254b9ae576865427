// Learners behind the TrainerHost interface: what a CPU process, the GPU window and the command line all serve. They
// differ only in the backend they construct and in where shards come from.

import type { Backend } from '../backends/backend.ts';
import { leftInTime, pastDeadline } from '../protocol/deadline.ts';
import { TrainyardError } from '../protocol/errors.ts';
import { Listeners } from '../protocol/listeners.ts';
import type { Shard } from '../protocol/data.ts';
import type { HostSpending, PhaseSeconds } from '../protocol/bill.ts';
import type { KeptMember, RunJob, TrainerHost } from '../protocol/hosts.ts';
import { isWaitedFor } from '../protocol/runs.ts';
import type { Trial } from '../protocol/search.ts';
import type { RunResult } from '../protocol/runs.ts';
import { RunControl, type Surroundings } from '../train/control.ts';
import { timeToBeat } from '../train/deadline.ts';
import { timeText } from '../protocol/words.ts';
import { baselineOf } from './baseline.ts';
import { encodeBaseline } from './baseline-file.ts';
import { lazyBackend, type LazyBackend } from './lazy-backend.ts';
import type { LearnerJob, Rows } from './learner.ts';
import { otherLearners } from './predict.ts';
import { learnerNamed } from './registry.ts';

/** Multiplications to find what a run has to beat: about half a second; of one that was stopped, for which someone waits, a tenth. */
const [mostBaseline, stoppedBaseline] = [5e8, 1e8];

/** Milliseconds a learner works before it is asked again; it lets messages in far more often. */
const budget = 1_000;

/** What is spent from now on, for the phases a learner tells of. */
function spendingFrom({ used }: Surroundings): (phases?: PhaseSeconds) => HostSpending {
  const before = used?.().cpuSeconds ?? 0;
  return (phases = {}) => {
    const { cpuSeconds, peakBytes } = used?.() ?? {};
    return { phases, ...(cpuSeconds === undefined ? {} : { cpuSeconds: cpuSeconds - before, peakBytes }) };
  };
}

export interface TrainerHostOptions {
  /** Constructs the backend for a job; it is closed when the run has ended. */
  readonly createBackend: (job: RunJob) => Promise<Backend>;
  readonly readShard: (handle: string, shard: number) => Promise<Shard>;
  readonly surroundings: Surroundings;
  /** Bytes of memory the resident rows may take. */
  readonly dataBudget: number;
  /** Starts a thread that trains trials of a search. Absent: a search trains them one after the other. */
  readonly trialThread?: LearnerJob['trialThread'];
}

export function createTrainerHost(options: TrainerHostOptions): TrainerHost {
  const started = new Listeners<Parameters<Parameters<TrainerHost['onStarted']>[0]>[0]>();
  const report = new Listeners<Parameters<Parameters<TrainerHost['onReport']>[0]>[0]>();
  const log = new Listeners<Parameters<Parameters<TrainerHost['onLog']>[0]>[0]>();
  const paused = new Listeners<Parameters<Parameters<TrainerHost['onPaused']>[0]>[0]>();
  const file = new Listeners<Parameters<Parameters<TrainerHost['onFile']>[0]>[0]>();
  const member = new Listeners<KeptMember>();
  const ended = new Listeners<readonly Trial[]>();
  let control: RunControl | null = null;
  /** Called when the checkpoint on its way is kept. */
  let checkpointKept: () => void = () => undefined;
  const rowsOf = (backend: LazyBackend, { data }: RunJob): Rows => ({
    data,
    readShard: (shard) => options.readShard(data.handle, shard),
    dataBudget: options.dataBudget,
    backend: backend.open,
  });

  /** The result beside what it has to beat. It never costs a run that this cannot be told. */
  const withBaseline = async (job: RunJob, result: RunResult): Promise<RunResult> => {
    const { surroundings } = options;
    const start = surroundings.clock();
    const say = (message: string, level: 'info' | 'warning'): void =>
      log.emit({ time: surroundings.now(), level, message, detail: level === 'info' });
    try {
      const baseline = await baselineOf({
        data: job.data,
        readShard: (shard) => options.readShard(job.data.handle, shard),
        learner: job.config.learner,
        surroundings,
        work: result.reason === 'stopped' ? stoppedBaseline : mostBaseline,
        within: job.config.until === undefined ? Infinity : timeToBeat(job.config.until, surroundings.now()),
        // Kept, so that every later evaluation can put it beside the run's own predictions.
        onLinear: (weights, terms) => file.emit({ file: 'baseline.safetensors', data: encodeBaseline(weights, terms) }),
      });
      if (baseline === null) return result;
      const spent = { phases: { ...result.spent?.phases, baseline: (surroundings.clock() - start) / 1000 } };
      say(`What any model has to beat was found in ${timeText(surroundings.clock() - start)}.`, 'info');
      return { ...result, baseline, spent };
    } catch (error) {
      say(`What any model has to beat could not be found: ${(error as Error).message}`, 'warning');
      return result;
    }
  };

  return {
    measure: async (job: RunJob) => {
      const { config } = job;
      const learner = learnerNamed(config.learner);
      const backend = lazyBackend(() => options.createBackend(job));
      try {
        if (!learner.measure) {
          throw new TrainyardError(
            'run.no_steps',
            `A ${config.learner} model has no steps to measure.`,
            'Name a device instead of having one chosen by its speed.',
          );
        }
        return await learner.measure({ ...rowsOf(backend, job), config }, options.surroundings);
      } finally {
        await backend.close();
      }
    },
    train: async (job: RunJob): Promise<RunResult> => {
      if (control) {
        throw new TrainyardError(
          'run.busy',
          'This process trains another run already.',
          'Wait for that run to end, or stop it.',
        );
      }
      const { until } = job.config;
      const late = until !== undefined && options.surroundings.now() >= until;
      if (late && job.checkpoint === undefined) throw pastDeadline(until, options.surroundings.now());
      control = new RunControl();
      const spending = spendingFrom(options.surroundings);
      const backend = lazyBackend(() => options.createBackend(job));
      let trials: Trial[] = [];
      const tellTrials = (): void => {
        if (trials.length > 0) ended.emit(trials);
        trials = [];
      };
      try {
        const training = await learnerNamed(job.config.learner).open({
          ...rowsOf(backend, job),
          config: job.config,
          control,
          surroundings: options.surroundings,
          checkpoint: job.checkpoint,
          start: job.start,
          trials: job.trials,
          others: otherLearners,
          trialThread: options.trialThread,
          events: {
            onStarted: ({ device, sentence, parameters, bytes, step }) => {
              started.emit({
                device: device.kind,
                name: device.name,
                threads: device.threads,
                parameters,
                bytes,
                step,
              });
              log.emit({ time: options.surroundings.now(), level: 'info', message: sentence });
            },
            onReport: ({ points, progress }) => {
              tellTrials();
              const secondsLeft = leftInTime(progress.secondsLeft, job.config.until, options.surroundings.now());
              report.emit({ points, progress: { ...progress, secondsLeft, spent: spending(progress.spent?.phases) } });
            },
            onLog: (line) => log.emit(line),
            onPaused: (event) => paused.emit(event),
            onMember: (event) => member.emit(event),
            onTrial: (trial) => void trials.push(trial),
            onFile: (event) => {
              if (!isWaitedFor(event.file) || file.size === 0) return file.emit(event);
              const kept = new Promise<void>((resolve) => (checkpointKept = resolve));
              file.emit(event);
              return kept;
            },
          },
        });
        while (await training.advance(budget)) continue;
        const result = await withBaseline(job, training.result());
        const { deadline } = result;
        return {
          ...result,
          ...(deadline ? { deadline: { ...deadline, ended: options.surroundings.now() } } : {}),
          spent: spending(result.spent?.phases),
        };
      } finally {
        control = null;
        // Those of a run that fails too: no report follows.
        tellTrials();
        await backend.close();
      }
    },
    pause: async () => control?.pause(),
    resume: async () => control?.resume(),
    stop: async () => control?.stop(),
    checkpointKept: async () => checkpointKept(),
    onStarted: (listener) => started.add(listener),
    onReport: (listener) => report.add(listener),
    onLog: (listener) => log.add(listener),
    onPaused: (listener) => paused.add(listener),
    onFile: (listener) => file.add(listener),
    onMember: (listener) => member.add(listener),
    onTrials: (listener) => ended.add(listener),
  };
}
