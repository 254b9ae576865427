// The rules of advice with their thresholds, as data that a person can see and change; what each does stands in here.ts,
// elsewhere.ts and together.ts.

import builtIn from './rules.json' with { type: 'json' };
import { neededOn, type DeviceFact, type Facts, type LinkKey, type Needs, type Range, type Reason } from './facts.ts';

export interface Threshold {
  readonly value: number;
  readonly unit: string;
  readonly words: string;
}

export interface Rule {
  readonly id: string;
  readonly title: string;
  readonly why: string;
  readonly thresholds: Readonly<Record<string, Threshold>>;
}

export interface Rules {
  readonly rules: readonly Rule[];
  readonly socket: Threshold;
}

/** As a JSON file with other numbers of the same names may replace them. */
export const standardRules: Rules = builtIn as unknown as Rules;

/** Thresholds by `rule.name`, over the standard ones. Throws RangeError for names there are not and numbers below 0. */
export function withThresholds(changes: Readonly<Record<string, number>>, rules: Rules = standardRules): Rules {
  const known = new Set(
    rules.rules.flatMap(({ id, thresholds }) => Object.keys(thresholds).map((name) => `${id}.${name}`)),
  );
  for (const [name, value] of Object.entries(changes)) {
    if (!known.has(name)) throw new RangeError(`There is no threshold ${name}.`);
    if (!Number.isFinite(value) || value < 0)
      throw new RangeError(`The threshold ${name} is ${value}: at least 0 expected.`);
  }
  const changed = new Map(Object.entries(changes));
  return {
    ...rules,
    rules: rules.rules.map((rule) => ({
      ...rule,
      thresholds: Object.fromEntries(
        Object.entries(rule.thresholds).map(([name, threshold]) => [
          name,
          { ...threshold, value: changed.get(`${rule.id}.${name}`) ?? threshold.value },
        ]),
      ),
    })),
  };
}

/** The changed thresholds of a kept setting or a file; what is none, or names what there is not, is left out and told. */
export function readThresholds(kept: unknown): {
  readonly changes: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
} {
  if (kept === null || kept === undefined) return { changes: {}, problems: [] };
  if (typeof kept !== 'object' || Array.isArray(kept)) {
    return { changes: {}, problems: ['An object of numbers by names such as "below-crossover.speedup" is expected.'] };
  }
  const changes: Record<string, number> = {};
  const problems: string[] = [];
  for (const [name, value] of Object.entries(kept)) {
    try {
      withThresholds({ [name]: typeof value === 'number' ? value : NaN });
      changes[name] = value as number;
    } catch (error) {
      problems.push((error as RangeError).message);
    }
  }
  return { changes, problems };
}

/** Key of the app's setting that keeps changed thresholds. */
export const thresholdsKey = 'advice.thresholds';

/** What a rule says when it fires. */
export interface Fired {
  readonly device: DeviceFact | null;
  readonly reasons: readonly Reason[];
  readonly changes?: readonly Reason[];
  readonly seconds?: Range;
  readonly money?: number;
  /** How many of the device are bought, and stand at one socket. */
  readonly bought?: number;
}

export type Action = (context: Context) => Fired | null;

export interface Context {
  readonly needs: Needs;
  readonly facts: Facts;
  /** A threshold of the rule at work. */
  readonly limit: (name: string) => number;
  /** Watts that one socket gives. */
  readonly socket: number;
}

/** A reason is a sentence of its own: it begins with a capital letter. */
export const reason = (link: LinkKey, text: string, value?: number, threshold?: number, unit?: string): Reason => ({
  text: text.charAt(0).toUpperCase() + text.slice(1),
  value,
  threshold,
  unit,
  link,
});

const decimals = (value: number, digits: number): string =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
/** `18,661.9 GB`. */
export const gigabytes = (bytes: number): string => `${decimals(bytes / 1e9, 1)} GB`;
/** `0.94 USD`, `407,999 USD`, `under 0.01 USD`. */
export const usdText = (money: number): string =>
  `${money < 0.01 ? 'under 0.01' : decimals(money, money < 100 ? 2 : 0)} USD`;
export const hours = (seconds: number): number => seconds / 3600;
export const percent = (share: number): string => `${Math.round(share * 100)} %`;
export const speedup = ({ cpu, gpu }: Facts): number =>
  gpu === undefined ? 0 : cpu.seconds.middle / gpu.seconds.middle;

export const fastest = (devices: readonly DeviceFact[]): DeviceFact | undefined =>
  [...devices].sort((a, b) => a.seconds.middle - b.seconds.middle)[0];

/** Devices that may be advised for training and hold the model, within `share` of their memory. */
export const usable = (facts: Facts, share: number): DeviceFact[] =>
  facts.others.filter(
    (device) =>
      device.use === 'training' &&
      device.doubtful !== true &&
      device.software !== true &&
      neededOn(facts, device) <= share * device.memory,
  );

/** Whether this machine surely does it in time without more: then nothing has to be got. */
export function hereSuffices({ needs, facts }: Pick<Context, 'needs' | 'facts'>): boolean {
  const here = [
    ...(facts.cpuFits === false ? [] : [facts.cpu]),
    ...(facts.gpu && facts.gpu.memory > 0 && fitsHere(facts, 0.8) ? [facts.gpu] : []),
  ];
  return needs.deadline !== undefined && here.some(({ seconds }) => seconds.high <= needs.deadline!);
}

/** Where the memory of the GPU is not known, nothing speaks against it. */
export const fitsHere = (facts: Facts, share: number): boolean => {
  const { gpu } = facts;
  return gpu !== undefined && gpu.software !== true && (gpu.memory === 0 || neededOn(facts, gpu) <= share * gpu.memory);
};
