// What a bug report needs to say of this copy of the app, as a text that a person reads before it goes anywhere. Versions, the machine, counts
// and which parts failed where in the program: no data, no names that people gave, no paths, no messages of errors, since those may quote all three.

import type { DeviceInfo } from '../../engine/protocol/app.ts';
import type { RunState } from '../../engine/protocol/runs.ts';
import type { CrashReport } from '../../engine/system/crashes.ts';

export interface Diagnosed {
  readonly versions: Readonly<Record<string, string>>;
  readonly packaged: boolean;
  /** `Linux 6.1, x64`: what the system says of itself, without its name in a network. */
  readonly system: string;
  readonly processor: string;
  readonly threads: number;
  readonly memory: { readonly total: number; readonly free: number };
  readonly devices: readonly Pick<DeviceInfo, 'kind' | 'name' | 'available' | 'native' | 'software'>[];
  /** How many of each. */
  readonly runs: Readonly<Partial<Record<RunState, number>>>;
  readonly datasets: Readonly<Record<string, number>>;
  /** Bytes of each part of the home. */
  readonly usage: Readonly<Record<string, number>>;
  readonly refusedRequests: number;
  readonly crashes: readonly CrashReport[];
  readonly dumps: number;
}

export function diagnosticsText(about: Diagnosed): string {
  const list = (
    counts: Readonly<Record<string, number | undefined>>,
    write: (count: number) => string = String,
  ): string =>
    Object.entries(counts)
      .filter(([, count]) => count !== undefined && count > 0)
      .map(([name, count]) => `${name} ${write(count ?? 0)}`)
      .join(', ') || 'none';
  const { memory } = about;
  return [
    'Trainyard diagnostics',
    '',
    ...Object.entries(about.versions).map(([name, version]) => `${name}: ${version}`),
    `Installed: ${about.packaged ? 'from a package' : 'no, from its sources'}`,
    `System: ${about.system}`,
    `Processor: ${about.processor}, ${about.threads} threads`,
    `Memory: ${gigabytes(memory.total)}, ${gigabytes(memory.free)} free`,
    ...about.devices.map(deviceLine),
    '',
    `Runs: ${list(about.runs)}`,
    `Datasets: ${list(about.datasets)}`,
    `On the disk: ${list(about.usage, megabytes)}`,
    `Requests to other machines: ${about.refusedRequests} refused, none let through`,
    '',
    `Failures: ${about.crashes.length}; native dumps: ${about.dumps}`,
    ...about.crashes.slice(0, mostCrashes).flatMap(crashLines),
    '',
  ].join('\n');
}

const mostCrashes = 20;
const mostFrames = 12;
const gigabytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GB`;
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function deviceLine({ kind, name, available, native, software }: Diagnosed['devices'][number]): string {
  const notes = [
    available ? '' : 'not available',
    native === false ? 'without the native addon' : '',
    software ? 'software' : '',
  ].filter((note) => note !== '');
  return `Device: ${kind.toUpperCase()} ${name}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
}

function crashLines({ time, part, what, trace, version }: CrashReport): string[] {
  const when = new Date(time).toISOString().slice(0, 16).replace('T', ' ');
  return [`${when} UTC, ${version}: ${part}, ${kindOf(what)}`, ...framesOf(trace).map((frame) => `    ${frame}`)];
}

/** `TypeError: no “age” in /home/…` → `TypeError`. What is no error's message is a sentence of the app's own about how a process ended. */
export const kindOf = (what: string): string => {
  const named = /^([A-Z]\w*(?:Error|Exception))\b/.exec(what)?.[1];
  if (named !== undefined) return named;
  return /^(it|The window|Its process) [\w\s,.()-]{1,100}$/.test(what) ? what : 'failed';
};

/** Places in the program alone: the name of a function, of a file of the app, line and column. */
export function framesOf(trace: string): readonly string[] {
  return trace
    .split('\n')
    .flatMap((line) => {
      const frame =
        /^\s*at (?:async |new )*(?:([\w.$<>#]+) \()?.*?([\w.-]+\.(?:cjs|mjs|js|ts|svelte):\d+:\d+)\)?$/.exec(line);
      return frame ? [`${frame[1] ?? 'anonymous'} ${frame[2]}`] : [];
    })
    .slice(0, mostFrames);
}
