// Runs the command line as a person would: what the set-up has built, in a process of its own, with a home of its own.

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setup } from '../../scripts/setup.mjs';

const root = path.resolve(import.meta.dirname, '../..');
/** Built: from its sources each command would take four times as long to start. */
const program = path.join(root, 'build/node/trainyard.js');
// `npm test` has brought it up to date; `node --test FILE` alone would test what was built before.
await setup({ targets: ['node'] });

export const tables = path.join(root, 'tests/fixtures/tables');
export const penguins = path.join(root, 'samples/penguins.csv');

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The JSON lines of standard output. */
  readonly events: readonly Record<string, unknown>[];
}

/** A command at work. */
export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Those so far. */
  readonly events: readonly Record<string, unknown>[];
  /** The first event of this name; rejects if the command ends without it. */
  readonly event: (name: string) => Promise<Record<string, unknown>>;
}

/** An empty home, removed when the test ends. */
export function temporaryHome(test: TestContext): string {
  const home = mkdtempSync(path.join(os.tmpdir(), 'trainyard-test-'));
  test.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  return home;
}

const plain = [process.execPath, program];
/** Commands of a person have what Node has compiled before, too; these are the same modules a thousand times. */
const cache = { NODE_COMPILE_CACHE: path.join(root, 'build', '.cache') };
/** As the README says. */
export const npm = ['npm', 'run', '-s', 'trainyard', '--'];

export function startTrainyard(
  home: string,
  args: readonly string[],
  command: readonly string[] = plain,
  env: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(command[0], [...command.slice(1), ...args], {
    cwd: root,
    env: { ...process.env, ...cache, TRAINYARD_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const events: Record<string, unknown>[] = [];
  const waiting = new Map<string, ((event: Record<string, unknown>) => void)[]>();
  let unread = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += String(chunk);
    const lines = (unread + String(chunk)).split('\n');
    unread = lines.pop() ?? '';
    for (const line of lines.filter((text) => text.startsWith('{'))) {
      const event = JSON.parse(line) as Record<string, unknown>;
      events.push(event);
      for (const resolve of waiting.get(String(event.event)) ?? []) resolve(event);
    }
  });
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)));
  const finished = new Promise<Finished>((resolve) =>
    child.once('close', (code) => resolve({ code, stdout, stderr, events })),
  );
  return {
    child,
    finished,
    events,
    event: (name) =>
      new Promise((resolve, reject) => {
        const known = events.find((event) => event.event === name);
        if (known) return resolve(known);
        waiting.set(name, [...(waiting.get(name) ?? []), resolve]);
        void finished.then(() => reject(new Error(`the command ended without “${name}”: ${stderr}`)));
      }),
  };
}

/**
 * A line of the shell with `$T` for the program, as a person would write it: pipes, redirections and their exit codes
 * (`PIPESTATUS` in bash).
 */
export async function inShell(
  home: string,
  line: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn('bash', ['-c', line], {
    env: {
      ...process.env,
      TRAINYARD_HOME: home,
      T: plain.join(' '),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

export const trainyard = (home: string, ...args: readonly string[]): Promise<Finished> =>
  startTrainyard(home, args).finished;

/** The last event of a command with --json, which has to succeed. */
export async function lastEvent(home: string, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stderr, events } = await trainyard(home, ...args, '--json');
  if (code !== 0) throw new Error(`trainyard ${args.join(' ')} ended with ${code}: ${stderr}`);
  return events[events.length - 1];
}
