// Opens a device only as far as it can be trusted here: the ways of using it, best first, each held against the self-test. What
// came out is remembered under a key that names engine, processor and flags, so that later hosts start at once.

import type { Backend } from '../backends/backend.ts';
import { TrainyardError } from '../protocol/errors.ts';
import { selfTest } from './self-test.ts';

/** One way of using a device. */
export interface Rung {
  /** "2 threads with the native addon" */
  readonly name: string;
  readonly open: () => Backend | Promise<Backend>;
  /** The backends that have to pass; default: the one that `open` gives. */
  readonly tests?: readonly (() => Backend | Promise<Backend>)[];
}

/** A small memory of the host: values by keys. */
export interface TrustStore {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

export interface TrustOptions {
  /** "CPU", "GPU (NVIDIA H100)": for messages. */
  readonly device: string;
  /** Best first. */
  readonly rungs: readonly Rung[];
  /** Engine, processor and flags: whatever could change the outcome. */
  readonly key: string;
  readonly store?: TrustStore;
  /** Awaited between submits of the self-test. */
  readonly rest: () => Promise<void>;
  readonly clock: () => number;
}

/** What the self-test found. */
export interface Trust {
  /** The first rung that passed; the number of rungs = none did. */
  readonly rung: number;
  /** What went wrong on the rungs before it, in words. */
  readonly problems: readonly string[];
  readonly milliseconds: number;
}

/** Runs the self-test on rung after rung until one passes, or takes what is remembered; `anew` forgets that first. */
export async function findTrust(options: TrustOptions, anew = false): Promise<Trust> {
  const { rungs, key, store, rest, clock } = options;
  const known = anew ? null : readTrust(store?.get(storeKey(key)), rungs.length);
  if (known) return known;
  const start = clock();
  const problems: string[] = [];
  for (const { name, open, tests = [open] } of rungs) {
    const problem = await firstProblem(tests, rest);
    if (problem === null) break;
    problems.push(`${name}: ${problem}`);
  }
  const trust = { rung: problems.length, problems, milliseconds: clock() - start };
  store?.set(storeKey(key), JSON.stringify(trust));
  return trust;
}

/**
 * A backend of the first rung that passes; its device carries a warning if that is not the best one.
 * @throws TrainyardError `device.self_test` when none passes.
 */
export async function openTrusted(options: TrustOptions): Promise<Backend> {
  const trust = await findTrust(options);
  const rung = options.rungs.at(trust.rung);
  if (!rung) {
    throw new TrainyardError(
      'device.self_test',
      `The ${options.device} computes wrong results here: ${trust.problems.join('; ')}.`,
      'Train on another device. An update of the driver or of the system may help; `trainyard devices --check` tests again.',
    );
  }
  const backend = await rung.open();
  return trust.rung === 0 ? backend : withWarning(backend, trustWarning(options, trust));
}

/** What people are told when the best way of using a device did not pass. */
export function trustWarning({ device, rungs }: TrustOptions, { rung, problems }: Trust): string {
  return (
    `The ${device} failed its self-test (${problems.join('; ')}). ` +
    `Until that is mended, what passed is used: ${rungs[rung].name}. \`trainyard devices --check\` tests again.`
  );
}

async function firstProblem(ways: readonly Rung['open'][], rest: () => Promise<void>): Promise<string | null> {
  for (const open of ways) {
    try {
      const backend = await open();
      try {
        const problem = await selfTest(backend, rest);
        if (problem !== null) return problem;
      } finally {
        await backend.close();
      }
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  return null;
}

const withWarning = (backend: Backend, warning: string): Backend => ({
  ...backend,
  device: { ...backend.device, warning },
});

const storeKey = (key: string): string => `self-test ${key}`;

/** What was remembered, if it makes sense. */
function readTrust(text: string | undefined, rungs: number): Trust | null {
  try {
    const { rung, problems, milliseconds } = JSON.parse(text ?? 'null') as Trust;
    const sound = Number.isInteger(rung) && rung >= 0 && rung <= rungs && Array.isArray(problems);
    return sound ? { rung, problems: problems.map(String), milliseconds: Number(milliseconds) } : null;
  } catch {
    return null;
  }
}
