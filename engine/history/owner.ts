// Who answers for a run: a process, told apart from a later one of the same number by its start time. The start time is
// in whatever unit the system keeps it without change: ticks since boot on Linux, milliseconds since 1970 elsewhere.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { nobody } from '../protocol/queue.ts';
import type { NewRun } from '../protocol/store.ts';
import { isRunning } from '../system/alive.ts';

export type Owner = NewRun['owner'];

/** This process as the owner of runs. */
export function processOwner(): Owner {
  const startedAt = process.platform === 'linux' ? linuxStart(process.pid) : Math.round(performance.timeOrigin);
  return { pid: process.pid, startedAt: startedAt ?? 0 };
}

/** Whether the owner still lives. Where that cannot be found out, a living process of its number counts. */
export function isAlive(owner: Owner): boolean {
  if (owner.pid === nobody.pid) return false;
  if (process.platform === 'linux') return linuxStart(owner.pid) === owner.startedAt;
  if (!isRunning(owner.pid)) return false;
  const startedAt = process.platform === 'win32' ? windowsStart(owner.pid) : posixStart(owner.pid);
  return startedAt === null || Math.abs(startedAt - owner.startedAt) < clockTolerance;
}

/** Whether the owner is gone, as far as can be said at no cost: another process of its number hides that, except on Linux. */
export function isPlainlyGone(owner: Owner): boolean {
  return process.platform === 'linux' || owner.pid === nobody.pid ? !isAlive(owner) : !isRunning(owner.pid);
}

/** `ps` gives whole seconds, and Node's own clock starts a little after its process. */
const clockTolerance = 3_000;

/** Ticks since boot, or null if there is no such process (one that is dead but not yet collected is none). */
function linuxStart(pid: number): number | null {
  try {
    // "pid (name) state …": the name may hold anything, so the fields are counted from its end (proc_pid_stat(5)).
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : Number(fields[19]);
  } catch {
    return null;
  }
}

function posixStart(pid: number): number | null {
  return timeFrom('ps', ['-o', 'lstart=', '-p', String(pid)]);
}

function windowsStart(pid: number): number | null {
  const command = `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().ToString('o')`;
  return timeFrom('powershell.exe', ['-NoProfile', '-Command', command]);
}

function timeFrom(program: string, options: readonly string[]): number | null {
  try {
    const text = execFileSync(program, options, {
      encoding: 'utf8',
      timeout: 5_000,
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, LC_ALL: 'C' },
    });
    const time = Date.parse(text.trim());
    return Number.isNaN(time) ? null : time;
  } catch {
    return null;
  }
}
