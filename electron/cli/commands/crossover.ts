// `crossover`: the batch or the width from which one device of this machine overtakes another with a model: forecast from a short lab of both,
// then timed on both in turns. A GPU against the CPU where there is one; else all threads against one, or the addon against WebAssembly.

import { createCpuBackend } from '../../../engine/backends/cpu/backend.ts';
import { availableMemory, usableCores } from '../../../engine/system/cores.ts';
import { findNative } from '../../../engine/backends/cpu/native.ts';
import type { Backend } from '../../../engine/backends/backend.ts';
import { createWebgpuBackend } from '../../../engine/backends/webgpu/backend.ts';
import { labFactors } from '../../../engine/bench/calibrated.ts';
import { timerOf } from '../../../engine/bench/interleaved.ts';
import { deviceByLab, isComplete } from '../../../engine/hardware/calibration.ts';
import { costsOfModel, type ModelAtHand } from '../../../engine/hardware/costs/from-model.ts';
import { widened, widestOf } from '../../../engine/hardware/costs/widen.ts';
import { forecastRace, raceBatches, timedRace } from '../../../engine/hardware/crossover-forecast.ts';
import type { TimedDevice } from '../../../engine/hardware/time-forecast.ts';
import { beginMeasuring } from '../../../engine/history/measuring.ts';
import { LabControl } from '../../../engine/lab/control.ts';
import { measureDevice } from '../../../engine/lab/device.ts';
import { roundMillisecondsOf, timeRaces, type RacingStep } from '../../../engine/lab/race.ts';
import { stepWorkload } from '../../../engine/lab/steps.ts';
import { refuseRuns } from '../../../engine/lab/runs.ts';
import { callsOfRound, mergedRounds, roundsOf } from '../../../engine/lab/rounds.ts';
import { networkInputOf, type ModelSpec } from '../../../engine/model/spec.ts';
import { InputError, TrainyardError } from '../../../engine/protocol/errors.ts';
import type { LabMeasurement, LabPart, RacePoint } from '../../../engine/protocol/lab.ts';
import { nodeLab } from '../../hosts/lab.ts';
import { about } from '../about.ts';
import { choiceOption, numberOption, type Command } from '../command.ts';
import { subjectOption, subjectOptions } from '../forecast-subject.ts';
import { hardwareGpu, listGpus, openFirstGpu } from '../gpu.ts';
import { reportCrossover } from '../crossover-report.ts';

/** A device in the race: opened with so many threads (a GPU has none; 0 of a CPU: one or all, whichever proves faster, as a run trains). */
interface Racer {
  readonly id: string;
  readonly kind: 'cpu' | 'gpu';
  readonly threads: number;
  readonly open: (threads: number) => Promise<Backend>;
}

/** Two devices: one quick to start, one that computes faster. */
interface Racers {
  readonly near: Racer;
  readonly far: Racer;
}

/** What a forecast needs of a lab. */
const parts: readonly LabPart[] = ['latency', 'product', 'copy', 'workloads'];
const defaultSeconds = 10;
const defaultRounds = 15;
/** A step that takes longer than this is not timed: what is beyond is forecast alone. Seconds. */
const longestStep = 3;

const { model, input, classes, optimizer } = subjectOptions;

/** Devices that can race, by their ids in a lab: the one quick to start first. */
const pairs = ['cpu,gpu-0', 'cpu-1,cpu', 'cpu-wasm,cpu-1'] as const;
type Pair = (typeof pairs)[number];

export const crossover: Command = {
  ...about.crossover,
  positionals: [0, 0],
  options: {
    model,
    input,
    classes,
    optimizer,
    most: { type: 'string', value: 'N', help: 'largest batch or width to look at (default 1024)' },
    rounds: { type: 'string', value: 'N', help: `times each step is timed (default ${defaultRounds})` },
    seconds: {
      type: 'string',
      value: 'N',
      help: `to measure each device for the forecast (default ${defaultSeconds})`,
    },
    over: { type: 'string', value: 'batch|width', help: 'what grows: the batch, or the width of the layers' },
    batch: { type: 'string', value: 'N', help: 'rows of a step where the width grows (default 32)' },
    between: {
      type: 'string',
      value: pairs.join('|'),
      help: 'the devices; a GPU made of software only when asked for, for testing',
    },
  },
  run: async ({ options, output, services, interruption }) => {
    const subject = await subjectOption(options, services);
    const most = numberOption(options, 'most', { minimum: 2, maximum: 65_536, whole: true }) ?? 1024;
    const rounds = numberOption(options, 'rounds', { minimum: 3, maximum: 1000, whole: true }) ?? defaultRounds;
    const seconds = numberOption(options, 'seconds', { minimum: 1, maximum: 3600 }) ?? defaultSeconds;
    const over = choiceOption(options, 'over', ['batch', 'width'] as const) ?? 'batch';
    const { model: built } = subject;
    if (!built) {
      const hint = 'Take a model of this program, such as medium, lenet or a file.';
      throw new InputError('usage.model', `${subject.name} is a forecast alone: it cannot be timed here.`, hint);
    }
    const between = choiceOption(options, 'between', pairs);
    if (between === 'cpu,gpu-0' && !(await listGpus()).some(({ available }) => available)) {
      throw new InputError(
        'usage.between',
        'No GPU was found on this machine: --between cpu,gpu-0 takes one.',
        `Give another pair: ${pairs.slice(1).join(' or ')}.`,
      );
    }
    const { near, far } = racersOf(between ?? (await pairAtHand()));
    await refuseRuns(await services.store, []);
    const done = beginMeasuring(services.home, 'crossover');
    const control = new LabControl();
    const stop = interruption.listen(() => control.cancel());
    const backends: Backend[] = [];
    try {
      const devices = await measured([near, far], seconds, control, (done) =>
        output.bar(done / 2, `measuring ${near.id} and ${far.id}`),
      );
      const sizes = over === 'batch' ? raceBatches(most) : widthsOf(built.spec, most);
      const modelAt = (size: number): ModelAtHand => sizedModel(built, subject.batch, over, size);
      const forecast = interruption.whileComputing(() =>
        forecastRace((size) => costsOfModel(modelAt(size)), devices[0], devices[1], sizes),
      );
      for (const { open, threads } of [near, far]) backends.push(await open(threads));
      const timed = forecast.filter((race) => Math.max(race.near, race.far) <= longestStep);
      const turns = await timeRaces({
        points: timed.map(({ batch: at }) => {
          const { spec, training } = modelAt(at);
          return { at, batch: training.batch, model: spec };
        }),
        open: [stepOn(built, backends[0]), stepOn(built, backends[1])],
        rounds,
        roundMilliseconds: roundMillisecondsOf([near.kind, far.kind]),
        control,
        onProgress: (done, next) =>
          output.bar(0.5 + done.length / timed.length / 2, next ? `${over} ${next.at}` : 'done'),
      });
      const races = turns.map(({ at, near: nears, far: fars }) => timedRace(at, nears, fars));
      output.clearBar();
      reportCrossover(output, { name: subject.name, size: over, ids: [near.id, far.id], backends, forecast, races });
    } finally {
      output.clearBar();
      stop();
      done();
      for (const backend of backends) await backend.close();
    }
  },
};

/**
 * Devices that steps can be forecast on, by a short lab of them in turns. Throws TrainyardError `device.unmeasured`, CancelledError.
 */
async function measured(
  racers: readonly Racer[],
  seconds: number,
  control: LabControl,
  onProgress: (done: number) => void,
): Promise<readonly TimedDevice[]> {
  const rounds = roundsOf(seconds);
  const found: LabMeasurement[][] = racers.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [place, { id, kind, threads, open }] of racers.entries()) {
      const before = round + place / racers.length;
      const measurement = await measureDevice({
        target: kind === 'gpu' ? { id, kind } : { id, kind, threads },
        // Steps on as many threads as race.
        open: (wanted) => open(wanted || threads),
        threads: threads || usableCores(),
        memory: availableMemory() / 4,
        seconds: seconds / rounds,
        calls: callsOfRound(rounds),
        only: parts,
        surroundings: nodeLab,
        control,
        onProgress: ({ done }) => onProgress((before + done / racers.length) / rounds),
      });
      found[place].push(measurement);
    }
  }
  return found.map((each, place) => {
    const { device } = mergedRounds(each);
    if (isComplete(device)) return deviceByLab(device, labFactors(device));
    throw new TrainyardError(
      'device.unmeasured',
      `${racers[place].id} could not be measured in ${seconds} s.`,
      'Give it more --seconds.',
    );
  });
}

/** Widths from an eighth of the model's own on, doubling. Throws InputError for a model of an output alone. */
function widthsOf(spec: ModelSpec, most: number): readonly number[] {
  const widest = widestOf(spec);
  if (widest === 0) throw new InputError('usage.over', 'This model has no layer to widen.', 'Leave out --over width.');
  const least = Math.max(1, Math.round(widest / 8));
  return Array.from({ length: 16 }, (_, i) => least * 2 ** i).filter((width) => width <= Math.max(most, least));
}

/** The model at a batch, or as wide as that in its widest layer. */
function sizedModel(model: ModelAtHand, batch: number, over: 'batch' | 'width', size: number): ModelAtHand {
  if (over === 'batch') return { ...model, training: { ...model.training, batch: size } };
  return { ...model, spec: widened(model.spec, size / widestOf(model.spec)), training: { ...model.training, batch } };
}

/** Throws TrainyardError `device.alone` where this machine has no two devices. */
async function pairAtHand(): Promise<Pair> {
  if ((await hardwareGpu()) !== null) return 'cpu,gpu-0';
  if (usableCores() > 1) return 'cpu-1,cpu';
  if (findNative() !== undefined) return 'cpu-wasm,cpu-1';
  throw new TrainyardError(
    'device.alone',
    'This machine has one device alone: no GPU, one core, no addon.',
    'There is nothing to overtake it; `trainyard forecast` tells of other devices.',
  );
}

function racersOf(pair: Pair): Racers {
  const cpu = (id: string, threads: number, native?: false): Racer => ({
    id,
    kind: 'cpu',
    threads,
    open: async (wanted) => createCpuBackend({ threads: wanted, native }),
  });
  switch (pair) {
    case 'cpu,gpu-0': {
      const open = async (): Promise<Backend> => createWebgpuBackend(await openFirstGpu());
      return { near: cpu('cpu', 0), far: { id: 'gpu-0', kind: 'gpu', threads: 0, open } };
    }
    case 'cpu-1,cpu':
      return { near: cpu('cpu-1', 1), far: cpu('cpu', usableCores()) };
    case 'cpu-wasm,cpu-1':
      return { near: cpu('cpu-wasm', 1, false), far: cpu('cpu-1', 1) };
  }
}

/** Opens a step of the model on a device. */
function stepOn(
  { input: shape, output: target, training }: ModelAtHand,
  backend: Backend,
): (point: RacePoint) => Promise<RacingStep> {
  const classes = target.kind === 'classes' ? target.classes.length : 0;
  return async ({ batch, model: spec }) => {
    const raced = { input: networkInputOf(shape), classes, optimizer: training.optimizer, batch, model: spec };
    const workload = await stepWorkload(raced).open(backend);
    return { time: timerOf(workload, () => performance.now()), close: () => workload.close() };
  };
}
