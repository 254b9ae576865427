// Leave one out: forecasts each benchmark workload and each preset from a lab's rates of this machine and the times of all the others,
// and prints what it said, what was measured and the error; and so for models that nothing in the cost model was ever looked at with. Times are medians of repeats taken in turns, or the least of them
// (--quantile 0) on a machine that others use.
// node tests/bench/forecast.ts [--rounds 15] [--threads 1] [--round 20] [--quantile 0] [--lab 20] [--clock cpu]      One JSON object a line, then a summary.

import { parseArgs } from 'node:util';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { availableMemory } from '../../engine/system/cores.ts';
import { callsOf } from '../../engine/bench/calibrated.ts';
import { interleaved } from '../../engine/bench/interleaved.ts';
import { quantile } from '../../engine/bench/measure.ts';
import { trainingWorkload } from '../../engine/bench/training-workload.ts';
import type { Workload } from '../../engine/bench/workload.ts';
import { labWorkloads } from '../../engine/bench/workloads.ts';
import { deviceByLab, fitFactors, usualFactors, type TimedStep } from '../../engine/hardware/calibration.ts';
import { classOutput, subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import { stepTime } from '../../engine/hardware/time-forecast.ts';
import { LabControl } from '../../engine/lab/control.ts';
import { measureDevice } from '../../engine/lab/device.ts';
import { normalised } from '../../engine/model/image-presets.ts';
import { mlp, presets } from '../../engine/model/presets.ts';
import type { InputSpec, LayerSpec, NetworkInput } from '../../engine/model/spec.ts';
import { nodeLab } from '../../electron/hosts/lab.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    threads: { type: 'string', default: '1' },
    round: { type: 'string', default: '20' },
    lab: { type: 'string', default: '20' },
    clock: { type: 'string', default: 'wall' },
    quantile: { type: 'string', default: '0.5' },
  },
});
/** Milliseconds; on one thread those of the processor leave out what other programs took of it. */
const clock = (): number => {
  if (values.clock !== 'cpu') return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const timing = {
  clock,
  rounds: Number(values.rounds),
  roundMilliseconds: Number(values.round),
};
const quantileWanted = Number(values.quantile);
const threads = Number(values.threads);

/** Batches large enough to be what the preset is for, small enough to be timed often. */
const batchOf = (name: string): number =>
  /resnet18/.test(name) ? 8 : /resnet|mobilenet/.test(name) ? 16 : /vgg/.test(name) ? 32 : 64;

/** Steps that go to the device at once, as in training: submits are shared by many. Of long steps one is enough. */
const stepsAtOnce = (name: string): number => (/^(small|medium|wide|large|lenet)$/.test(name) ? 16 : 1);

/** Those whose rows this bench makes up: texts are tokens, not values. */
const ofPresets = presets
  .filter(({ input }) => input !== 'text')
  .map(({ name }): Workload => {
    const batch = batchOf(name);
    const { model } = subjectNamed(name, { batch });
    return trainingWorkload({
      name,
      unit: 'ms/step',
      rows: batch,
      batch,
      unitsAtOnce: stepsAtOnce(name),
      input: model!.input,
      output: classOutput(10),
      model: model!.spec,
    });
  });
const known = [...labWorkloads.map((workload) => ({ ...workload, name: `bench ${workload.name}` })), ...ofPresets];

/** Shapes that no benchmark, lab or preset has. */
const others: readonly Workload[] = (
  [
    ['mlp 100-300-30, 10 rows', 10, table(100), mlp([300, 30]).layers],
    ['mlp 40-4x48, 24 rows', 24, table(40), mlp([48, 48, 48, 48]).layers],
    ['mlp 1500-700, 300 rows', 300, table(1500), mlp([700]).layers],
    ['cnn 5x5 of 24 and 48, 20x20, 12 rows', 12, image(20), [...conv(24, 5), ...conv(48, 5, { stride: 2 })]],
    ['cnn 3x3 of 96, 12x12, 20 rows', 20, image(12), [...conv(96, 3), ...conv(96, 3), ...conv(96, 3)]],
    [
      'separable of 48 and 96, 24x24, 10 rows',
      10,
      image(24),
      [...conv(48, 3), ...conv(48, 3, { groups: 48 }), ...conv(96, 1), ...conv(96, 3, { groups: 96, stride: 2 })],
    ],
    ['cnn 1x1 of 320, 6x6, 16 rows', 16, image(6), [...conv(320, 1), ...conv(320, 1), ...conv(320, 1)]],
    ['groups of 8 of 64, 14x14, 16 rows', 16, image(14), [...conv(64, 3), ...conv(64, 3, { groups: 8 })]],
  ] as const
).map(([name, batch, input, layers]) => {
  const head: readonly LayerSpec[] =
    input.kind === 'image' ? [...layers, { type: 'global_average_pool' }, { type: 'output' }] : layers;
  const workload = { name, unit: 'ms/step', rows: batch, batch, unitsAtOnce: 8, output: classOutput(10) } as const;
  return trainingWorkload({ ...workload, input, model: { version: 1, layers: head } });
});

function table(width: number): NetworkInput {
  return { kind: 'table', width, numeric: width, embeddings: [] };
}

function image(side: number): InputSpec {
  return { kind: 'image', channels: 3, height: side, width: side };
}

function conv(filters: number, kernel: number, more: object = {}): readonly LayerSpec[] {
  return [...normalised(filters, { kernel, ...more }), { type: 'activation', activation: 'relu' }];
}

const all = [...known, ...others];

const { device: lab } = await measureDevice({
  target: { id: threads === 1 ? 'cpu-1' : 'cpu', kind: 'cpu', threads },
  open: async (wanted) => createCpuBackend({ threads: wanted || threads }),
  threads,
  memory: availableMemory() / 4,
  seconds: Number(values.lab),
  only: ['latency', 'product', 'copy'],
  surroundings: { ...nodeLab, clock },
  control: new LabControl(),
  onProgress: () => undefined,
});
const backend = createCpuBackend({ threads });
const opened = await Promise.all(all.map((workload) => workload.open(backend)));
const measured = (await interleaved(opened, timing)).map((times) => {
  const sorted = times.toSorted((a, b) => a - b);
  const [median, low, high] = [quantileWanted, 0.05, 0.95].map((share) => quantile(sorted, share));
  return { median, low, high };
});
for (const workload of opened) workload.close();
await backend.close();

const steps = all.map((workload, i): TimedStep => ({
  name: workload.name,
  calls: callsOf(workload),
  seconds: measured[i].median / 1000,
}));
console.log(
  JSON.stringify({
    gflops: lab.products.map(({ at, value }) => [at, Number(value.median.toPrecision(3))]),
    gb_s: lab.copy.map(({ at, value }) => [at, Number(value.median.toPrecision(3))]),
    call_us: lab.latencies.find(({ name }) => name === 'call')?.microseconds.median,
    factors: rounded(fitFactors(lab, steps.slice(0, known.length))),
  }),
);
const errors = steps.map((step, i) => {
  const rest = steps.slice(0, known.length).filter((_, other) => other !== i);
  const forecast = (factors = usualFactors): number => 1000 * stepTime(step, deviceByLab(lab, factors)).seconds;
  const predicted = forecast(fitFactors(lab, rest));
  const { median, low, high } = measured[i];
  const error = predicted / median - 1;
  console.log(
    JSON.stringify({
      workload: step.name,
      predicted_ms: Number(predicted.toPrecision(4)),
      measured_ms: Number(median.toPrecision(4)),
      middle_90: [low, high].map((value) => Number(value.toPrecision(4))),
      error: `${(100 * error).toFixed(1)} %`,
      uncalibrated: `${(100 * (forecast() / median - 1)).toFixed(1)} %`,
    }),
  );
  return Math.abs(error);
});
summary('left out one by one', errors.slice(0, known.length));
summary('never looked at', errors.slice(known.length));

function summary(what: string, of: readonly number[]): void {
  const sorted = of.toSorted((a, b) => a - b);
  console.log(
    JSON.stringify({
      what,
      within_20_percent: of.filter((error) => error <= 0.2).length,
      of: of.length,
      median_error: `${(100 * sorted[sorted.length >> 1]).toFixed(1)} %`,
      worst: `${(100 * sorted[sorted.length - 1]).toFixed(1)} %`,
    }),
  );
}

function rounded(of: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, Number(value.toPrecision(3))]));
}
