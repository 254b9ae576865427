// `crossover`: the batch from which one device of this machine overtakes another with a model: forecast from a few rates measured
// now, then timed on both. A GPU against the CPU where there is one; else all threads against one, or the addon against WebAssembly.

import { createCpuBackend } from '../../../engine/backends/cpu/backend.ts';
import { usableCores } from '../../../engine/backends/cpu/describe.ts';
import { findNative } from '../../../engine/backends/cpu/native.ts';
import type { Backend } from '../../../engine/backends/backend.ts';
import { createWebgpuBackend } from '../../../engine/backends/webgpu/backend.ts';
import { interleaved, quickLab, type Interleaving } from '../../../engine/bench/quick-lab.ts';
import { trainingWorkload } from '../../../engine/bench/workloads.ts';
import { deviceByLab } from '../../../engine/hardware/calibration.ts';
import type { ModelAtHand } from '../../../engine/hardware/costs/from-model.ts';
import { crossoverOf, forecastRace, raceBatches, type Race } from '../../../engine/hardware/crossover-forecast.ts';
import { InputError, TrainyardError } from '../../../engine/protocol/errors.ts';
import { choiceOption, numberOption, type Command } from '../command.ts';
import { subjectOption, subjectOptions } from '../forecast-subject.ts';
import { hardwareGpu, openFirstGpu } from '../gpu.ts';
import { formatNumber, type Output } from '../output.ts';

/** Two devices: one quick to start, one that computes faster. */
interface Racers {
  readonly near: { readonly id: string; readonly backend: Backend };
  readonly far: { readonly id: string; readonly backend: Backend };
}

/** Training steps that tell how a device trains, quick ones. */
const calibrating = ['tabular-mlp', 'mlp', 'mnist-cnn'];
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
    rounds: { type: 'string', value: 'N', help: 'times each step is timed (default 9)' },
    between: {
      type: 'string',
      value: pairs.join('|'),
      help: 'the devices; a GPU made of software only when asked for, for testing',
    },
  },
  run: async ({ options, output, services }) => {
    const subject = await subjectOption(options, services);
    const most = numberOption(options, 'most', { minimum: 2, maximum: 65_536, whole: true }) ?? 1024;
    const rounds = numberOption(options, 'rounds', { minimum: 3, maximum: 1000, whole: true }) ?? 9;
    const { model: built } = subject;
    if (!built) {
      const hint = 'Take a model of this program, such as medium, lenet or a file.';
      throw new InputError('usage.model', `${subject.name} is a forecast alone: it cannot be timed here.`, hint);
    }
    const { near, far } = await racersOf(choiceOption(options, 'between', pairs) ?? (await pairAtHand()));
    const gpu = far.backend.device.kind === 'gpu';
    const timing: Interleaving = { clock: () => performance.now(), rounds, roundMilliseconds: gpu ? 40 : 5 };
    try {
      output.bar(0, 'measuring both devices');
      const labs = [];
      for (const { backend, id } of [near, far]) labs.push(await quickLab(backend, id, timing, calibrating));
      const [nearDevice, farDevice] = labs.map(({ lab, factors }) => deviceByLab(lab, factors));
      const forecast = forecastRace(subject.costs, nearDevice, farDevice, raceBatches(most));
      const timed = forecast.filter((race) => Math.max(race.near, race.far) <= longestStep);
      const races: Race[] = [];
      for (const [i, { batch }] of timed.entries()) {
        output.bar(i / timed.length, `batch ${batch}`);
        races.push(await timeRace(built, batch, [near.backend, far.backend], timing));
      }
      output.clearBar();
      report(output, subject.name, { near, far }, forecast, races);
    } finally {
      await near.backend.close();
      await far.backend.close();
    }
  },
};

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

/** Opens both. Throws TrainyardError `device.no_adapter` where there is no GPU. */
async function racersOf(pair: Pair): Promise<Racers> {
  switch (pair) {
    case 'cpu,gpu-0':
      return {
        far: { id: 'gpu-0', backend: createWebgpuBackend(await openFirstGpu()) },
        near: { id: 'cpu', backend: createCpuBackend() },
      };
    case 'cpu-1,cpu':
      return {
        near: { id: 'cpu-1', backend: createCpuBackend({ threads: 1 }) },
        far: { id: 'cpu', backend: createCpuBackend({ threads: usableCores() }) },
      };
    case 'cpu-wasm,cpu':
      return {
        near: { id: 'cpu-wasm', backend: createCpuBackend({ threads: 1, native: false }) },
        far: { id: 'cpu', backend: createCpuBackend({ threads: 1 }) },
      };
  }
}

/** Seconds of a step on both, in turns. */
async function timeRace(
  { input: shape, output: target, spec, training }: ModelAtHand,
  batch: number,
  backends: readonly Backend[],
  timing: Interleaving,
): Promise<Race> {
  const { name, learningRate, momentum } = training.optimizer;
  const workload = trainingWorkload({
    name: `batch ${batch}`,
    unit: 'ms/step',
    rows: batch,
    batch,
    input: shape,
    output: target,
    model: spec,
    optimizer: { name, learningRate, momentum },
  });
  const opened = await Promise.all(backends.map((backend) => workload.open(backend)));
  const [near, far] = await interleaved(opened, timing);
  for (const each of opened) each.close();
  return { batch, near: near.median / 1000, far: far.median / 1000 };
}

const rounded = (value: number | null): number | null => (value === null ? null : Math.max(1, Math.round(value)));

function report(
  output: Output,
  name: string,
  { near, far }: Racers,
  forecast: readonly Race[],
  races: readonly Race[],
): void {
  const [predicted, measured] = [crossoverOf(forecast), crossoverOf(races)];
  const factor = predicted === null || measured === null ? null : Math.max(predicted / measured, measured / predicted);
  const software = far.backend.device.software === true;
  const milliseconds = (seconds: number): number => Number((1000 * seconds).toPrecision(4));
  output.event({
    event: 'crossover',
    model: name,
    near: near.id,
    far: far.id,
    ...(software ? { software } : {}),
    predicted_batch: rounded(predicted),
    measured_batch: rounded(measured),
    factor: factor === null ? null : Number(factor.toPrecision(3)),
    steps: races.map((race, i) => ({
      batch: race.batch,
      near_ms: [forecast[i].near, race.near].map(milliseconds),
      far_ms: [forecast[i].far, race.far].map(milliseconds),
    })),
  });
  if (output.json) return;
  const titled = (id: string, backend: Backend): string =>
    `${id}: ${backend.device.name}${backend.device.software ? ' (software: for testing)' : ''}`;
  output.line(titled(near.id, near.backend));
  output.line(titled(far.id, far.backend));
  output.line();
  const ms = (seconds: number): string => `${formatNumber(milliseconds(seconds))} ms`;
  output.table(
    races.map((race, i) => ({ race, said: forecast[i] })),
    [
      { title: 'batch', value: ({ race }) => String(race.batch), right: true },
      { title: `${near.id} forecast`, value: ({ said }) => ms(said.near), right: true },
      { title: 'measured', value: ({ race }) => ms(race.near), right: true },
      { title: `${far.id} forecast`, value: ({ said }) => ms(said.far), right: true },
      { title: 'measured', value: ({ race }) => ms(race.far), right: true },
    ],
  );
  const words = (batch: number | null): string =>
    batch === null ? 'never' : batch <= 1 ? 'from the first row on' : `from a batch of ${rounded(batch)} on`;
  output.line();
  output.line(
    `${far.id} overtakes ${near.id} with ${name}: forecast ${words(predicted)}, measured ${words(measured)}.`,
  );
  if (factor !== null) output.line(`The forecast is off by a factor of ${factor.toFixed(2)}.`);
}
