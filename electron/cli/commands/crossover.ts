// `crossover`: the batch from which one device of this machine overtakes another with a model: forecast from a short lab of both,
// then timed on both in turns. A GPU against the CPU where there is one; else all threads against one, or the addon against WebAssembly.

import { createCpuBackend } from '../../../engine/backends/cpu/backend.ts';
import { availableMemory, usableCores } from '../../../engine/backends/cpu/describe.ts';
import { findNative } from '../../../engine/backends/cpu/native.ts';
import type { Backend } from '../../../engine/backends/backend.ts';
import { createWebgpuBackend } from '../../../engine/backends/webgpu/backend.ts';
import { labFactors } from '../../../engine/bench/calibrated.ts';
import { interleaved, type Interleaving } from '../../../engine/bench/interleaved.ts';
import { trainingWorkload } from '../../../engine/bench/workloads.ts';
import { deviceByLab, isComplete } from '../../../engine/hardware/calibration.ts';
import type { ModelAtHand } from '../../../engine/hardware/costs/from-model.ts';
import {
  crossoverOf,
  crossoverWords,
  forecastRace,
  raceBatches,
  timedRace,
  type Crossover,
  type Race,
  type TimedRace,
} from '../../../engine/hardware/crossover-forecast.ts';
import type { TimedDevice } from '../../../engine/hardware/time-forecast.ts';
import { LabControl } from '../../../engine/lab/control.ts';
import { measureDevice } from '../../../engine/lab/device.ts';
import { InputError, TrainyardError } from '../../../engine/protocol/errors.ts';
import type { LabPart } from '../../../engine/protocol/lab.ts';
import { nodeLab } from '../../hosts/lab.ts';
import { choiceOption, numberOption, type Command } from '../command.ts';
import { subjectOption, subjectOptions } from '../forecast-subject.ts';
import { hardwareGpu, openFirstGpu } from '../gpu.ts';
import { formatNumber, type Output } from '../output.ts';

/** A device in the race: opened with so many threads (a GPU has none). */
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
/** Steps that go to the device at once, as in training: a submit is shared by many. */
const stepsAtOnce = 16;
/** A step that takes longer than this is not timed: what is beyond is forecast alone. Seconds. */
const longestStep = 3;

const { model, input, classes, optimizer } = subjectOptions;

/** Devices that can race, by their ids in a lab: the one quick to start first. */
const pairs = ['cpu,gpu-0', 'cpu-1,cpu', 'cpu-wasm,cpu'] as const;
type Pair = (typeof pairs)[number];

export const crossover: Command = {
  name: 'crossover',
  usage: '',
  summary: 'Finds the batch from which one device overtakes another with a model.',
  positionals: [0, 0],
  options: {
    model,
    input,
    classes,
    optimizer,
    most: { type: 'string', value: 'N', help: 'largest batch to look at (default 1024)' },
    rounds: { type: 'string', value: 'N', help: `times each step is timed (default ${defaultRounds})` },
    seconds: {
      type: 'string',
      value: 'N',
      help: `to measure each device for the forecast (default ${defaultSeconds})`,
    },
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
    const { model: built } = subject;
    if (!built) {
      const hint = 'Take a model of this program, such as medium, lenet or a file.';
      throw new InputError('usage.model', `${subject.name} is a forecast alone: it cannot be timed here.`, hint);
    }
    const { near, far } = racersOf(choiceOption(options, 'between', pairs) ?? (await pairAtHand()));
    const control = new LabControl();
    const stop = interruption.listen(() => control.cancel());
    const backends: Backend[] = [];
    try {
      const devices: TimedDevice[] = [];
      for (const [place, racer] of [near, far].entries()) {
        devices.push(
          await measured(racer, seconds, control, (done) => output.bar((place + done) / 4, `measuring ${racer.id}`)),
        );
      }
      const forecast = forecastRace(subject.costs, devices[0], devices[1], raceBatches(most));
      for (const { open, threads } of [near, far]) backends.push(await open(threads));
      const roundMilliseconds = far.kind === 'gpu' ? 40 : 5;
      const timing: Interleaving = { clock: () => performance.now(), rounds, roundMilliseconds };
      const timed = forecast.filter((race) => Math.max(race.near, race.far) <= longestStep);
      const races: TimedRace[] = [];
      for (const [i, { batch }] of timed.entries()) {
        control.check();
        output.bar(0.5 + i / timed.length / 2, `batch ${batch}`);
        races.push(await timeRace(built, batch, backends, timing));
      }
      control.check();
      output.clearBar();
      report(output, subject.name, [near, far], backends, forecast, races);
    } finally {
      output.clearBar();
      stop();
      for (const backend of backends) await backend.close();
    }
  },
};

/** A device that steps can be forecast on, by a short lab. Throws TrainyardError `device.unmeasured`, CancelledError. */
async function measured(
  { id, kind, threads, open }: Racer,
  seconds: number,
  control: LabControl,
  onProgress: (done: number) => void,
): Promise<TimedDevice> {
  const { device } = await measureDevice({
    target: kind === 'gpu' ? { id, kind } : { id, kind, threads },
    // Steps on as many threads as race, not on as many as pay.
    open: (wanted) => open(wanted || threads),
    threads,
    memory: availableMemory() / 4,
    seconds,
    only: parts,
    surroundings: nodeLab,
    control,
    onProgress: ({ done }) => onProgress(done),
  });
  if (isComplete(device)) return deviceByLab(device, labFactors(device));
  throw new TrainyardError(
    'device.unmeasured',
    `${id} could not be measured in ${seconds} s.`,
    'Give it more --seconds.',
  );
}

/** Throws TrainyardError `device.alone` where this machine has no two devices. */
async function pairAtHand(): Promise<Pair> {
  if ((await hardwareGpu()) !== null) return 'cpu,gpu-0';
  if (usableCores() > 1) return 'cpu-1,cpu';
  if (findNative() !== undefined) return 'cpu-wasm,cpu';
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
      return { near: cpu('cpu', usableCores()), far: { id: 'gpu-0', kind: 'gpu', threads: 0, open } };
    }
    case 'cpu-1,cpu':
      return { near: cpu('cpu-1', 1), far: cpu('cpu', usableCores()) };
    case 'cpu-wasm,cpu':
      return { near: cpu('cpu-wasm', 1, false), far: cpu('cpu', 1) };
  }
}

/** Seconds of a step on both, in turns. */
async function timeRace(
  { input: shape, output: target, spec, training }: ModelAtHand,
  batch: number,
  backends: readonly Backend[],
  timing: Interleaving,
): Promise<TimedRace> {
  const { name, learningRate, momentum } = training.optimizer;
  const workload = trainingWorkload({
    name: `batch ${batch}`,
    unit: 'ms/step',
    rows: batch,
    batch,
    unitsAtOnce: stepsAtOnce,
    input: shape,
    output: target,
    model: spec,
    optimizer: { name, learningRate, momentum },
  });
  const opened = await Promise.all(backends.map((backend) => workload.open(backend)));
  try {
    const [near, far] = await interleaved(opened, timing);
    return timedRace(
      batch,
      near.map((milliseconds) => milliseconds / 1000),
      far.map((milliseconds) => milliseconds / 1000),
    );
  } finally {
    for (const each of opened) each.close();
  }
}

const rounded = (value: number | null): number | null => (value === null ? null : Math.max(1, Math.round(value)));

/** A crossover nobody can time: neither device is ahead by more than this wherever it may lie. */
const closeShare = 0.1;

function report(
  output: Output,
  name: string,
  [near, far]: readonly Racer[],
  backends: readonly Backend[],
  forecast: readonly Race[],
  races: readonly TimedRace[],
): void {
  const [said, found] = [crossoverOf(forecast), crossoverOf(races)];
  const [predicted, timed] = [said.batch, found.batch];
  const factor = predicted === null || timed === null ? null : Math.max(predicted / timed, timed / predicted);
  const software = backends.some(({ device }) => device.software === true);
  const close = isClose(found);
  const significant = (value: number, digits = 4): number => Number(value.toPrecision(digits));
  const milliseconds = (seconds: number): number => significant(1000 * seconds);
  output.event({
    event: 'crossover',
    model: name,
    near: near.id,
    far: far.id,
    ...(software ? { software } : {}),
    predicted_batch: rounded(predicted),
    measured_batch: rounded(timed),
    measured_between: [rounded(found.low), rounded(found.high)],
    too_close: close,
    within_percent: significant(100 * found.within, 2),
    factor: factor === null ? null : significant(factor, 3),
    steps: races.map((race, i) => ({
      batch: race.batch,
      near_ms: [forecast[i].near, race.near].map(milliseconds),
      far_ms: [forecast[i].far, race.far].map(milliseconds),
      lead_percent: significant(100 * (Math.exp(race.lead) - 1), 3),
      error_percent: significant(100 * race.error, 2),
    })),
  });
  if (output.json) return;
  for (const [i, { id }] of [near, far].entries()) {
    const { name: title, software: soft } = backends[i].device;
    output.line(`${id}: ${title}${soft ? ' (software: for testing)' : ''}`);
  }
  output.line();
  const ms = (seconds: number): string => `${formatNumber(milliseconds(seconds))} ms`;
  const percent = (share: number): string => `${(100 * share).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`;
  output.table(
    races.map((race, i) => ({ race, expected: forecast[i] })),
    [
      { title: 'batch', value: ({ race }) => String(race.batch), right: true },
      { title: `${near.id} forecast`, value: ({ expected }) => ms(expected.near), right: true },
      { title: 'measured', value: ({ race }) => ms(race.near), right: true },
      { title: `${far.id} forecast`, value: ({ expected }) => ms(expected.far), right: true },
      { title: 'measured', value: ({ race }) => ms(race.far), right: true },
      {
        title: `${far.id} ahead`,
        value: ({ race }) => `${percent(Math.exp(race.lead) - 1)} ± ${percent(2 * race.error)}`,
        right: true,
      },
    ],
  );
  output.line();
  const [forecastWords, measuredWords] = [crossoverWords(said, forecast), crossoverWords(found, races)];
  output.line(`${far.id} overtakes ${near.id} with ${name}: forecast ${forecastWords}, measured ${measuredWords}.`);
  const [low, high] = [rounded(found.low), rounded(found.high)];
  if (races.length > 0 && low !== high)
    output.line(`Neither is surely ahead between ${low} and ${high ?? 'the largest'}.`);
  if (close) output.line(`There it is too close to call: they are within ${percent(found.within)} of each other.`);
  if (factor !== null) output.line(`The forecast is off by a factor of ${factor.toFixed(2)}.`);
}

const isClose = ({ low, high, within }: Crossover): boolean =>
  rounded(low) !== rounded(high) && within > 0 && within <= closeShare;
