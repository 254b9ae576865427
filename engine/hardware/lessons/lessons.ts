// The lessons, in the order to read them: each is the arithmetic of one idea with the figures of this machine.

import type { LabResult } from '../../protocol/lab.ts';
import { best, cpuOf, gpuOf } from '../claims/evidence.ts';
import type { ClaimTest } from '../claims/claim.ts';
import { amdahl, gustafson, serialShare } from '../formulas/parallel.ts';
import { attainable, intensity, productWork, ridge } from '../formulas/roofline.ts';
import { powers, range, reckoned, short, time, type Lesson, type LessonCurve, type Reckoned } from './lesson.ts';

/** FLOP/s by threads: measured, else eight cores of 60 GFLOP/s with 2 % that does not divide. */
function scalingOf(lab: LabResult | null): { threads: number[]; rates: number[]; measured: boolean } {
  const samples = cpuOf(lab)?.scaling?.samples ?? [];
  if (samples.length > 1) {
    const sorted = samples.toSorted((a, b) => a.at - b.at);
    return {
      threads: sorted.map(({ at }) => at),
      rates: sorted.map(({ value }) => 1e9 * value.median),
      measured: true,
    };
  }
  const one = lab?.devices.find(({ id }) => id === 'cpu-1');
  const all = cpuOf(lab);
  if (one && all && all.threads > 1 && one.products.length > 0 && all.products.length > 0) {
    return { threads: [1, all.threads], rates: [1e9 * best(one.products), 1e9 * best(all.products)], measured: true };
  }
  const threads = range(1, 8, 8);
  return { threads, rates: threads.map((count) => 60e9 * amdahl(0.02, count)), measured: false };
}

const edge = 1000;
const product = 2 * edge ** 3;

const split: Lesson = {
  id: 'split',
  title: 'One product, split over the cores',
  about: 'The rows of a product do not wait for one another: each thread takes its share of them.',
  next: ['amdahl', 'bandwidth'],
  view: (lab) => {
    const { threads, rates, measured } = scalingOf(lab);
    const at = (count: number): number => {
      const after = Math.max(
        1,
        threads.findIndex((known) => known >= count),
      );
      const [low, high] = [after - 1, Math.min(after, threads.length - 1)];
      const share = high === low ? 0 : (count - threads[low]) / (threads[high] - threads[low]);
      return rates[low] + share * (rates[high] - rates[low]);
    };
    const most = threads[threads.length - 1];
    const x = Array.from({ length: most }, (_, i) => i + 1);
    const one = at(1);
    const serial = most > 1 ? Math.max(0, serialShare(at(most) / one, most)) : 0;
    return {
      basis: measured ? 'Measured here.' : 'Not measured: eight cores of 60 GFLOP/s each.',
      control: { label: 'Threads', minimum: 1, maximum: Math.max(2, most), step: 1, initial: most, unit: '' },
      xTitle: 'threads',
      yTitle: `ms of a ${edge} × ${edge} product`,
      logarithmic: true,
      split: edge,
      at: (value) => {
        const count = Math.max(1, Math.min(most, Math.round(value)));
        const seconds = product / at(count);
        const gain = at(count) / one;
        return {
          text: `${time(seconds)}, ${short(at(count) / 1e9)} GFLOP/s, ${short(gain)} × one thread, ${Math.round((100 * gain) / count)} % efficient`,
          mark: { x: count, y: 1000 * seconds, label: time(seconds) },
          curves: [
            {
              id: 'measured',
              label: measured ? 'measured' : 'usual',
              device: 'cpu',
              x,
              y: x.map((n) => (1000 * product) / at(n)),
            },
            {
              id: 'perfect',
              label: 'perfectly divided',
              device: 'other',
              ideal: true,
              x,
              y: x.map((n) => (1000 * product) / (one * n)),
            },
          ],
        };
      },
      why: splitWords(most, at(most) / one, serial),
    };
  },
};

function splitWords(threads: number, gain: number, serial: number): string {
  if (threads <= 1) return 'This machine lets the program use one thread.';
  if (gain <= 1.05)
    return `${threads} threads are no faster than one here: other programs use the cores, or they share one.`;
  return `It stops at ${short(gain)} ×: ${short(100 * serial)} % of the work goes on alone, by Amdahl’s law.`;
}

/** Seconds until a request of `count` examples has been answered, `flops` each. */
const answered = (device: Reckoned, count: number, flops: number): number =>
  device.call + (count * flops) / device.rate(Math.cbrt((count * flops) / 2));

const throughput: Lesson = {
  id: 'latency',
  title: 'Latency and throughput',
  about:
    'How soon one answer comes, and how many come in a second, are two things: waiting to be asked is paid once for all of them.',
  next: ['batch', 'small'],
  view: (lab) => {
    const { cpu, gpu, basis } = reckoned(lab);
    const flops = 2 * 512 * 512 * 3;
    const x = powers(1, 1024, 24);
    const curve = (device: Reckoned): LessonCurve => ({
      id: device.kind,
      label: device.kind === 'cpu' ? 'CPU' : 'GPU',
      device: device.measured ? device.kind : 'other',
      ideal: !device.measured,
      x,
      y: x.map((count) => count / answered(device, count, flops)),
    });
    return {
      basis,
      control: { label: 'Examples asked at once', minimum: 1, maximum: 1024, step: 1, initial: 1, unit: '' },
      xTitle: 'examples asked at once',
      yTitle: 'answers a second',
      logarithmic: true,
      at: (value) => {
        const [near, far] = [answered(cpu, value, flops), answered(gpu, value, flops)];
        const first = near <= far ? 'the CPU answers first' : 'the GPU answers first';
        return {
          text: `CPU ${time(near)}, GPU ${time(far)}: ${first}`,
          mark: { x: value, y: value / Math.min(near, far), label: `${short(value / Math.min(near, far))} a second` },
          curves: [curve(cpu), curve(gpu)],
        };
      },
      why: `Being asked costs the CPU ${time(cpu.call)} and the GPU ${time(gpu.call)}; a net of three layers of 512 takes ${short(flops / 1e6)} MFLOP an example.`,
    };
  },
};

const bandwidth: Lesson = {
  id: 'bandwidth',
  title: 'Why bandwidth limits',
  about: 'A kernel waits for its numbers unless it computes enough with each of them.',
  next: ['batch', 'bits'],
  view: (lab) => {
    const { cpu, gpu, basis } = reckoned(lab);
    const width = 1024;
    const roofs = [cpu, gpu].map((device) => ({
      device,
      roof: { rate: device.rate(width), bandwidth: device.bandwidth },
    }));
    const x = range(0.1, 64, 120);
    return {
      basis,
      control: { label: 'Rows of the product', minimum: 1, maximum: 256, step: 1, initial: 1, unit: '' },
      xTitle: 'FLOP a byte',
      yTitle: 'GFLOP/s that memory lets through',
      logarithmic: true,
      at: (rows) => {
        const work = productWork(rows, width, width);
        const place = intensity(work);
        const reached = attainable(place, roofs[0].roof);
        const held = place < ridge(roofs[0].roof) ? 'held back by memory' : 'held back by arithmetic';
        return {
          text: `${rows} × ${width} by ${width} × ${width}: ${short(place)} FLOP a byte, ${short(reached / 1e9)} GFLOP/s on the CPU, ${held}`,
          mark: { x: Math.min(64, place), y: reached / 1e9, label: held },
          curves: roofs.map(({ device, roof }) => ({
            id: device.kind,
            label: device.kind === 'cpu' ? 'CPU' : 'GPU',
            device: device.measured ? device.kind : 'other',
            ideal: !device.measured,
            x,
            y: x.map((value) => attainable(value, roof) / 1e9),
          })),
        };
      },
      why: `The CPU computes ${short(ridge(roofs[0].roof))} FLOP in the time of a byte, the GPU ${short(ridge(roofs[1].roof))}: below that, arithmetic waits.`,
    };
  },
};

const batch: Lesson = {
  id: 'batch',
  title: 'Why batch size matters',
  about:
    'The weights are read once a step, however many examples it holds: a larger batch shares that, and the start of each call.',
  next: ['small', 'amdahl'],
  view: (lab) => {
    const { cpu, gpu, basis } = reckoned(lab);
    const width = 1024;
    const calls = 3;
    const seconds = (device: Reckoned, rows: number): number => {
      const { flops, bytes } = productWork(rows, width, width);
      const side = 3 / (2 / width + 1 / rows);
      return calls * (device.call + Math.max(flops / device.rate(side), bytes / device.bandwidth));
    };
    const x = powers(1, 512, 30);
    const curve = (device: Reckoned): LessonCurve => ({
      id: device.kind,
      label: device.kind === 'cpu' ? 'CPU' : 'GPU',
      device: device.measured ? device.kind : 'other',
      ideal: !device.measured,
      x,
      y: x.map((rows) => (1e6 * seconds(device, rows)) / rows),
    });
    return {
      basis,
      control: { label: 'Batch', minimum: 1, maximum: 512, step: 1, initial: 32, unit: '' },
      xTitle: 'batch',
      yTitle: 'µs an example, a layer of 1,024',
      logarithmic: true,
      at: (rows) => {
        const [near, far] = [seconds(cpu, rows) / rows, seconds(gpu, rows) / rows];
        return {
          text: `CPU ${time(near)} an example, GPU ${time(far)}; alone they take ${short(seconds(cpu, 1) / near)} and ${short(seconds(gpu, 1) / far)} × as long`,
          mark: { x: rows, y: 1e6 * near, label: time(near) },
          curves: [curve(cpu), curve(gpu)],
        };
      },
      why: 'Beyond the bend the units are full and a larger batch saves nothing; what it learns from an example shrinks from the critical batch on.',
    };
  },
};

const small: Lesson = {
  id: 'small',
  title: 'Why small networks need no GPU',
  about: 'A step of a small network is over before a GPU has been asked to begin.',
  next: ['latency', 'batch'],
  view: (lab) => {
    const { cpu, gpu, basis } = reckoned(lab);
    const rows = 32;
    const layers = 3;
    const seconds = (device: Reckoned, width: number): number => {
      const { flops, bytes } = productWork(rows, width, width);
      const side = 3 / (2 / width + 1 / rows);
      // Forward, and backward for inputs and weights.
      return 3 * layers * (device.call + Math.max(flops / device.rate(side), bytes / device.bandwidth));
    };
    const x = powers(8, 2048, 40);
    const curve = (device: Reckoned): LessonCurve => ({
      id: device.kind,
      label: device.kind === 'cpu' ? 'CPU' : 'GPU',
      device: device.measured ? device.kind : 'other',
      ideal: !device.measured,
      x,
      y: x.map((width) => 1000 * seconds(device, width)),
    });
    const turn = x.find((width) => seconds(gpu, width) < seconds(cpu, width));
    return {
      basis,
      control: { label: 'Width of the layers', minimum: 8, maximum: 2048, step: 8, initial: 64, unit: '' },
      xTitle: 'width of three layers, batch 32',
      yTitle: 'ms a training step',
      logarithmic: true,
      at: (width) => {
        const [near, far] = [seconds(cpu, width), seconds(gpu, width)];
        const ratio = far / near;
        return {
          text: `CPU ${time(near)}, GPU ${time(far)}: the ${ratio > 1 ? 'CPU' : 'GPU'} is ${short(Math.max(ratio, 1 / ratio))} × ahead`,
          mark: { x: width, y: 1000 * near, label: time(near) },
          curves: [curve(cpu), curve(gpu)],
        };
      },
      why:
        turn === undefined
          ? 'Here the CPU stays ahead over all these widths.'
          : `The GPU overtakes at a width of about ${turn}: until then its time is that of starting ${3 * layers} calls.`,
    };
  },
};

const bits: Lesson = {
  id: 'bits',
  title: 'What 16 bits buy',
  about: 'Half the bytes, and on units made for it a multiple of the arithmetic: of the products alone.',
  next: ['bandwidth', 'amdahl'],
  view: (lab) => {
    const far = [gpuOf(lab), cpuOf(lab)].find((device) => (device?.products16?.length ?? 0) > 0);
    const gain = far ? best(far.products16!) / best(far.products) : 165.2 / 82.6;
    const basis = far
      ? `Measured here on ${far.name}.`
      : 'No 16-bit products were measured here: an RTX 4090 by its data sheet.';
    const x = range(0, 100, 51);
    const speedup = (share: number): number => 1 / (1 - share / 100 + share / 100 / gain);
    return {
      basis,
      control: { label: 'Products’ share of a step', minimum: 0, maximum: 100, step: 1, initial: 70, unit: '%' },
      xTitle: '% of a step that is products',
      yTitle: 'times as fast',
      logarithmic: false,
      at: (share) => ({
        text: `${short(share)} % products: a step is ${short(speedup(share))} × as fast, and its activations take half the memory`,
        mark: { x: share, y: speedup(share), label: `${short(speedup(share))} ×` },
        curves: [{ id: 'gain', label: '16 bits', device: far?.kind ?? 'other', ideal: !far, x, y: x.map(speedup) }],
      }),
      why: `Products alone gain ${short(gain)} ×; sums, norms and the optimizer stay in float32. A weight keeps a float32 copy: states of Adam take as much as before.`,
    };
  },
};

const laws: Lesson = {
  id: 'amdahl',
  title: 'Amdahl and Gustafson',
  about:
    'A share that does not divide bounds the speed-up of a fixed task; a task that grows with the devices is not bounded by it.',
  next: ['split', 'batch'],
  view: (lab) => {
    const { threads, rates, measured } = scalingOf(lab);
    const most = threads[threads.length - 1];
    const found = most > 1 ? Math.max(0, Math.min(1, serialShare(rates[rates.length - 1] / rates[0], most))) : 0.05;
    const x = Array.from({ length: 64 }, (_, i) => i + 1);
    return {
      basis: measured
        ? `The points are the threads of this CPU: ${short(100 * found)} % does not divide.`
        : 'Not measured.',
      control: {
        label: 'Share that does not divide',
        minimum: 0,
        maximum: 50,
        step: 0.1,
        initial: Number((100 * found).toPrecision(2)),
        unit: '%',
      },
      xTitle: 'threads or devices',
      yTitle: 'times as fast',
      logarithmic: true,
      at: (percent) => {
        const serial = percent / 100;
        const curves: readonly LessonCurve[] = [
          {
            id: 'gustafson',
            label: 'Gustafson',
            device: 'other',
            ideal: true,
            x,
            y: x.map((n) => gustafson(serial, n)),
          },
          { id: 'amdahl', label: 'Amdahl', device: 'other', x, y: x.map((n) => amdahl(serial, n)) },
          ...(measured
            ? [
                {
                  id: 'here',
                  label: 'here',
                  device: 'cpu' as const,
                  x: threads,
                  y: rates.map((rate) => rate / rates[0]),
                },
              ]
            : []),
        ];
        return {
          text: `${short(percent)} %: 64 devices do a fixed task ${short(amdahl(serial, 64))} × as fast, never more than ${serial > 0 ? short(1 / serial) : '∞'} ×; a growing one ${short(gustafson(serial, 64))} ×`,
          mark: { x: 64, y: amdahl(serial, 64), label: `${short(amdahl(serial, 64))} ×` },
          curves,
        };
      },
      why: 'A larger batch over more devices is Gustafson’s case, until the critical batch; the same batch over more devices is Amdahl’s.',
    };
  },
};

export const lessons: readonly Lesson[] = [split, throughput, bandwidth, batch, small, bits, laws];

/** The lesson that a claim leads to. */
const lessonsOfTests: Readonly<Partial<Record<ClaimTest, string>>> = {
  cores: 'split',
  threads: 'split',
  lanes: 'split',
  'product-time': 'split',
  'latency-throughput': 'latency',
  bandwidth: 'bandwidth',
  'matrix-vector': 'bandwidth',
  ratio: 'small',
  'small-work': 'small',
  'training-time': 'batch',
  'resnet-memory': 'batch',
  'sixteen-bits': 'bits',
  'state-bytes': 'bits',
  'scaling-out': 'amdahl',
};

export const lessonOf = (test: ClaimTest): Lesson | null =>
  lessons.find(({ id }) => id === lessonsOfTests[test]) ?? null;
