// What is to be said of a run before it is started, in one line: how long it takes here, and whether another device would help.

import type { Catalogue } from './catalogue/catalogue.ts';
import { standardRules, type Rules } from './advice/rules.ts';
import type { MachineDevice } from './machine.ts';
import { runSeconds, type AskedRun } from './run-time.ts';
import { deviceByPeaks, middleOf } from './time-forecast.ts';

export interface RunLine {
  /** `CPU: 4 s; a GPU would not help`. */
  readonly text: string;
  /** What it rests on. */
  readonly basis: string;
  /** Seconds of the training here, on the device that is quicker. */
  readonly seconds: readonly [low: number, high: number];
  /** Of them what stands around the epochs. */
  readonly around: number;
  readonly helps: boolean;
}

/** The card that stands for one that can be had. */
const comparedWith = 'rtx-4090';
const gpuSetup = 2;

/** The device that a run is to be trained on; `software`: a GPU in software that no lab has measured. */
export type ChosenDevice = MachineDevice | 'software';

/**
 * `devices`: the CPU first, then the GPU where there is one. `chosen`: of one chosen by hand its time is told, whatever would help; absent: the quicker
 * one is taken. Beyond the costs nothing is planned.
 */
export function runLine(
  asked: AskedRun,
  devices: readonly MachineDevice[],
  catalogue: Catalogue,
  { rules = standardRules, chosen }: { readonly rules?: Rules; readonly chosen?: ChosenDevice } = {},
): RunLine {
  const [cpu, gpu] = devices;
  const onCpu = runSeconds(asked, cpu);
  const { around = { cpu: 0, gpu: 0 } } = asked;
  const here = { basis: basisOf(devices), seconds: onCpu, around: around.cpu, helps: false };
  const limit = (rule: string, name: string): number =>
    rules.rules.find(({ id }) => id === rule)?.thresholds[name]?.value ?? Infinity;
  const soon = onCpu[1] < 60 * limit('finishes-soon', 'minutes');
  if (chosen === 'software') {
    const text = `CPU: ${about(onCpu)}; the GPU chosen is software, for testing: no lab has timed it here`;
    return { ...here, text };
  }
  if (chosen?.software) {
    const seconds = runSeconds(asked, chosen);
    const text = `GPU in software, for testing: ${about(seconds)}; the CPU takes ${about(onCpu)}`;
    return { ...here, text, basis: basisOf([cpu, chosen]), seconds, around: around.gpu };
  }
  if (gpu) {
    const onGpu = runSeconds(asked, gpu);
    const gain = middleOf(onCpu) / (middleOf(onGpu) + gpuSetup);
    const helps = !soon && gain >= limit('below-crossover', 'speedup');
    const text =
      chosen?.kind === 'gpu' || gain >= limit('below-crossover', 'speedup')
        ? `GPU: ${about(onGpu)}; the CPU takes ${about(onCpu)}`
        : `CPU: ${about(onCpu)}; the GPU here would not help`;
    const taken = chosen?.kind ?? (gain >= 1 ? 'gpu' : 'cpu');
    return { ...here, text, helps, seconds: taken === 'gpu' ? onGpu : onCpu, around: around[taken] };
  }
  const card = catalogue.devices.find(({ id }) => id === comparedWith);
  if (soon || !card?.fp32 || !card.bandwidth) {
    return { ...here, text: `CPU: ${about(onCpu)}; a GPU would not help` };
  }
  const peaks = { kind: 'gpu', float32: 1e12 * card.fp32.value, bandwidth: 1e9 * card.bandwidth.value } as const;
  // Nobody knows what stands around its epochs: a GPU that has trained here was another one.
  const elsewhere = { ...asked, around: { ...around, gpu: around.cpu } };
  const there = runSeconds(elsewhere, { kind: 'gpu', timed: deviceByPeaks(peaks, 'float32') });
  const helps = middleOf(onCpu) / (middleOf(there) + gpuSetup) >= limit('below-crossover', 'speedup');
  const text = helps
    ? `About ${about(onCpu)} here, ${about(there)} on an ${shortName(card.name)}`
    : `CPU: ${about(onCpu)}; a GPU would not help`;
  return { ...here, text, helps };
}

function basisOf(devices: readonly MachineDevice[]): string {
  const measured = devices.filter((device) => device.measured).length;
  if (measured === devices.length) return 'Forecast from the last lab.';
  return measured === 0
    ? 'Estimated from the cores and data sheets: this machine has not been measured.'
    : 'The CPU by the last lab, the GPU by its data sheet.';
}

const shortName = (name: string): string => name.replace(/^(NVIDIA )?GeForce /, '');

/** Seconds. */
const year = 365 * 86_400;

/** The middle of a range in two digits, `4 s`, `6 min`, `3.2 h`, `12 days`, `280 years`. */
export function about(range: readonly [number, number]): string {
  const seconds = middleOf(range);
  const [value, unit] =
    seconds < 100
      ? [seconds, 's']
      : seconds < 5400
        ? [seconds / 60, 'min']
        : seconds < 172_800
          ? [seconds / 3600, 'h']
          : seconds < 2 * year
            ? [seconds / 86_400, 'days']
            : [seconds / year, 'years'];
  if (unit === 's' && value < 0.1) return 'under 0.1\u00a0s';
  return `${value >= 10 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(2))}\u00a0${unit}`;
}
