// Lessons about the threads of one CPU: a product split over them, and what the share that does not divide costs.

import type { LabResult } from '../../protocol/lab.ts';
import { best, cpuOf } from '../claims/evidence.ts';
import { amdahl, gustafson, serialShare } from '../formulas/parallel.ts';
import { range, short, time, type Lesson, type LessonCurve } from './lesson.ts';

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

export const split: Lesson = {
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

export const laws: Lesson = {
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
