// Lessons about the CPU beside the GPU: waiting to be asked, waiting for memory, batch size, small networks, 16 bits.

import { best, cpuOf, gpuOf } from '../claims/evidence.ts';
import { attainable, intensity, productWork, ridge } from '../formulas/roofline.ts';
import { powers, range, reckoned, short, time, type Lesson, type LessonCurve, type Reckoned } from './lesson.ts';

const curveOf = (device: Reckoned, x: readonly number[], valueAt: (x: number) => number): LessonCurve => ({
  id: device.kind,
  label: device.kind === 'cpu' ? 'CPU' : 'GPU',
  device: device.measured ? device.kind : 'other',
  ideal: !device.measured,
  x,
  y: x.map(valueAt),
});

/** Seconds of a product of [rows, width] by [width, width]: its rate is that at the harmonic mean of its sides. */
function layerSeconds(device: Reckoned, rows: number, width: number): number {
  const { flops, bytes } = productWork(rows, width, width);
  const side = 3 / (2 / width + 1 / rows);
  return device.call + Math.max(flops / device.rate(side), bytes / device.bandwidth);
}

/** Seconds until a request of `count` examples has been answered, `flops` each. */
const answered = (device: Reckoned, count: number, flops: number): number =>
  device.call + (count * flops) / device.rate(Math.cbrt((count * flops) / 2));

export const throughput: Lesson = {
  id: 'latency',
  title: 'Latency and throughput',
  about:
    'How soon one answer comes, and how many come in a second, are two things: waiting to be asked is paid once for all of them.',
  next: ['batch', 'small'],
  view: (lab) => {
    const { cpu, gpu, basis } = reckoned(lab);
    const flops = 2 * 512 * 512 * 3;
    const x = powers(1, 1024, 24);
    const curve = (device: Reckoned): LessonCurve =>
      curveOf(device, x, (count) => count / answered(device, count, flops));
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

export const bandwidth: Lesson = {
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
          curves: roofs.map(({ device, roof }) => curveOf(device, x, (value) => attainable(value, roof) / 1e9)),
        };
      },
      why: `The CPU computes ${short(ridge(roofs[0].roof))} FLOP in the time of a byte, the GPU ${short(ridge(roofs[1].roof))}: below that, arithmetic waits.`,
    };
  },
};

export const batch: Lesson = {
  id: 'batch',
  title: 'Why batch size matters',
  about:
    'The weights are read once a step, however many examples it holds: a larger batch shares that, and the start of each call.',
  next: ['small', 'amdahl'],
  view: (lab) => {
    const { cpu, gpu, basis } = reckoned(lab);
    const width = 1024;
    const calls = 3;
    const seconds = (device: Reckoned, rows: number): number => calls * layerSeconds(device, rows, width);
    const x = powers(1, 512, 30);
    const curve = (device: Reckoned): LessonCurve => curveOf(device, x, (rows) => (1e6 * seconds(device, rows)) / rows);
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

export const small: Lesson = {
  id: 'small',
  title: 'Why small networks need no GPU',
  about: 'A step of a small network is over before a GPU has been asked to begin.',
  next: ['latency', 'batch'],
  view: (lab) => {
    const { cpu, gpu, basis } = reckoned(lab);
    const rows = 32;
    const layers = 3;
    // Forward, and backward for inputs and weights.
    const seconds = (device: Reckoned, width: number): number => 3 * layers * layerSeconds(device, rows, width);
    const x = powers(8, 2048, 40);
    const curve = (device: Reckoned): LessonCurve => curveOf(device, x, (width) => 1000 * seconds(device, width));
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

export const bits: Lesson = {
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
