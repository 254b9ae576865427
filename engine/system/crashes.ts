// Reports of what failed, as files in the home: `crashes/`, one JSON file each. They are written by the process that fails, where it still can,
// else by the one that sees its end; nobody sends them anywhere. Writing never throws: whoever fails is not to fail once more by saying so.

import fs from 'node:fs';
import path from 'node:path';

export const crashFolder = 'crashes';
/** Chromium's own dumps of native failures, within that folder. */
export const dumpFolder = 'dumps';

/** What is said of a failure by whoever saw it. */
export interface Failing {
  /** Which part: `main`, `window`, `training`, … */
  readonly part: string;
  /** One sentence, or the message of an error. */
  readonly what: string;
  /** Where, as the error had it; '' = not known. */
  readonly trace: string;
}

export interface CrashReport extends Failing {
  /** Name of its file, without its ending. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly version: string;
}

/** The newest are kept. */
const mostReports = 50;
/** Of one process; what fails in a circle fills no disk. */
const mostOfProcess = 10;
const longest = { what: 2_000, trace: 20_000 };

let written = 0;
const said = new Set<string>();

export function failingOf(part: string, error: unknown): Failing {
  if (!(error instanceof Error)) return { part, what: String(error), trace: '' };
  return { part, what: `${error.name}: ${error.message}`, trace: error.stack ?? '' };
}

/** Keeps a report; gives its id, or null where it was not written: the same again, too many, or no room. */
export function recordCrash(home: string, failing: Failing, version: string, now = Date.now()): string | null {
  const { part, what, trace } = failing;
  const same = JSON.stringify([home, part, what, trace]);
  if (written >= mostOfProcess || said.has(same)) return null;
  try {
    const folder = path.join(home, crashFolder);
    fs.mkdirSync(folder, { recursive: true });
    const id = `${new Date(now).toISOString().replaceAll(':', '-')}-${process.pid}-${written}`;
    const report = {
      time: now,
      version,
      part,
      what: what.slice(0, longest.what),
      trace: trace.slice(0, longest.trace),
    };
    fs.writeFileSync(path.join(folder, `${id}.json`), JSON.stringify(report, null, 1), { flag: 'wx' });
    said.add(same);
    written += 1;
    for (const old of reportFiles(home).slice(mostReports)) fs.rmSync(path.join(folder, old), { force: true });
    return id;
  } catch {
    return null;
  }
}

/** Newest first. A file that is no report is passed over. */
export function listCrashes(home: string): readonly CrashReport[] {
  return reportFiles(home).flatMap((file) => {
    try {
      const report = JSON.parse(fs.readFileSync(path.join(home, crashFolder, file), 'utf8')) as CrashReport;
      const { time, version, part, what, trace } = report;
      if (typeof time !== 'number' || [version, part, what, trace].some((word) => typeof word !== 'string')) return [];
      return [{ id: path.basename(file, '.json'), time, version, part, what, trace }];
    } catch {
      return [];
    }
  });
}

/** Removes all reports, and what Chromium has kept beside them. */
export function deleteCrashes(home: string): void {
  for (const file of reportFiles(home)) fs.rmSync(path.join(home, crashFolder, file), { force: true });
  for (const dump of dumpFiles(home)) fs.rmSync(dump, { force: true });
}

/** Chromium's dumps of native failures. */
export function dumpFiles(home: string): readonly string[] {
  const folder = path.join(home, crashFolder, dumpFolder);
  return entries(folder, true)
    .filter((file) => file.endsWith('.dmp'))
    .map((file) => path.join(folder, file));
}

/** Has uncaught errors of this process reported, and changes nothing of what they do to it. */
export function reportUncaught(home: string, part: string, version: string): void {
  if (home === '') return;
  process.on('uncaughtExceptionMonitor', (error) => void recordCrash(home, failingOf(part, error), version));
}

/** Newest first: their names begin with the time. */
function reportFiles(home: string): readonly string[] {
  return entries(path.join(home, crashFolder), false)
    .filter((file) => /^\d{4}-.*\.json$/.test(file))
    .sort()
    .reverse();
}

function entries(folder: string, recursive: boolean): readonly string[] {
  try {
    return fs.readdirSync(folder, { recursive, encoding: 'utf8' });
  } catch {
    return [];
  }
}
