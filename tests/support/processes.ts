// What Linux tells of a program and all that it has started: processor time, memory, what is open. For benches and soaks.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A tick of the system's count of processor time, in milliseconds. */
const tick = 10;

export interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  /** For people: the kind that Chromium or our own program says it is. */
  readonly kind: string;
  /** Processor time in milliseconds, of all its threads. */
  readonly processor: number;
  /** The same of what it has started and seen end. */
  readonly ofEnded: number;
}

/** Processes that were started with TRAINYARD_SOAK=mark around them, whoever their parent is by now. */
export function markedProcesses(mark: string): readonly ProcessFacts[] {
  const entry = `TRAINYARD_SOAK=${mark}`;
  const marked = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(entry);
    } catch {
      return false;
    }
  };
  return processNumbers().filter(marked).flatMap(factsOf);
}

/** A process and all that it has started, directly or not; empty where the system does not say it this way. */
export function familyOf(root: number): readonly ProcessFacts[] {
  if (process.platform !== 'linux') return [];
  const all = processNumbers().flatMap(factsOf);
  const family = new Set([root]);
  let known = 0;
  while (known < family.size) {
    known = family.size;
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid);
  }
  return all.filter(({ pid }) => family.has(pid));
}

function processNumbers(): readonly string[] {
  return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
}

function factsOf(pid: string): readonly ProcessFacts[] {
  try {
    // The name of the program, in brackets, may hold spaces. One that has ended and was not collected holds nothing any more.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    if (fields[0] === 'Z') return [];
    const time = (at: number): number => tick * (Number(fields[at]) + Number(fields[at + 1]));
    const kind = kindOf(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split(/[\0 ]/));
    return [{ pid: Number(pid), parent: Number(fields[1]), kind, processor: time(11), ofEnded: time(13) }];
  } catch {
    // It has ended meanwhile.
    return [];
  }
}

/** The host's name of our own processes, Chromium's type of its own, else the program. */
function kindOf(command: readonly string[]): string {
  const host = command.map((part) => /hosts\/([\w-]+)\.cjs$/.exec(part)?.[1]).find(Boolean);
  const type = command.map((part) => /^--type=(.+)$/.exec(part)?.[1]).find(Boolean);
  const service = command.map((part) => /^--utility-sub-type=(.+)$/.exec(part)?.[1]).find(Boolean);
  return host ?? service ?? type ?? 'main';
}

export interface Memory {
  /** What is its own alone. */
  readonly privateBytes: number;
  /** That and its share of what it has in common with others: sums of it count nothing twice. */
  readonly proportionalBytes: number;
}

/** Null where the process has ended. */
export function memoryOf(pid: number): Memory | null {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
    return {
      privateBytes: 1024 * (kilobytes('Private_Clean') + kilobytes('Private_Dirty')),
      proportionalBytes: 1024 * kilobytes('Pss'),
    };
  } catch {
    return null;
  }
}

/** What a process has open, a line each: paths, sockets and pipes without their numbers. */
export function openOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((entry) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${entry}`).replace(/:\[\d+\]$/, '')];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}
