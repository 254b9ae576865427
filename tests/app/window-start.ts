// The app as a person meets it: how long from the start until the window can be used, and what it takes while nobody uses it: memory
// and processor time of all its processes. Started without Playwright, which would take part in both; driven by Chromium's own port.
//
// "Can be used" is the frame in which the first view is drawn or, if the page is busy for longer than 50 ms after it, the end of that.
// It is the page's own clock, so that asking disturbs nothing. Processor time is told beside it, which says more on a machine that others use.

import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { debuggerAddress, DevTools } from './installed.ts';
import { electronChoice } from './launch.ts';
import { familyOf, memoryOf } from '../support/processes.ts';
import { processorTime, tell } from './window-times.ts';

/** What issue and documents promise. */
const limits = { startMilliseconds: 1500, idleMegabytes: 350, idlePercent: 0.5 } as const;
/** In which whatever belongs to the start has ended: the processes that were asked for the devices, too. */
const settleMilliseconds = 15_000;
/** Of the first view of an empty home. */
const firstWords = 'Train a model on this machine';

interface Running {
  readonly child: ChildProcess;
  readonly page: DevTools;
  /** When the program was started, in milliseconds since 1970. */
  readonly begun: number;
  end(): Promise<void>;
}

async function start(home: string, program: string | undefined): Promise<Running> {
  const choice = electronChoice();
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const args = [...(program === undefined ? choice.args : []), ...asRoot, '--remote-debugging-port=0'];
  const begun = Date.now();
  const env = { ...process.env, TRAINYARD_HOME: home };
  const child = spawn(program ?? choice.executable, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const page = await DevTools.open(await debuggerAddress(child, () => stderr));
  return {
    child,
    page,
    begun,
    async end() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Milliseconds since 1970 at which the first view stood and the page had time. */
const usableSince = `new Promise((resolve) => {
  const entries = { paint: [], longtask: [] };
  for (const type of Object.keys(entries))
    new PerformanceObserver((list) => entries[type].push(...list.getEntries())).observe({ type, buffered: true });
  const look = () => {
    const drawn = entries.paint.find(({ name }) => name === 'first-contentful-paint');
    if (!drawn || performance.now() < drawn.startTime + 2000) return setTimeout(look, 100);
    let at = drawn.startTime;
    for (const { startTime, duration } of entries.longtask)
      if (startTime < drawn.startTime + 1000) at = Math.max(at, startTime + duration);
    resolve(performance.timeOrigin + at);
  };
  look();
})`;

/** From the start of the program to a window that can be used, some times over; the home is there from the second on. */
export async function timeStart(rounds: number, program?: string): Promise<void> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-first-'));
  const [clock, answering, drawing]: number[][] = [[], [], []];
  try {
    for (let round = 0; round < rounds; round++) {
      const app = await start(home, program);
      const taken: { at: number; times: ReturnType<typeof processorTime> }[] = [];
      const timer = setInterval(() => taken.push({ at: Date.now(), times: processorTime(app.child.pid!) }), 50);
      await app.page.shows(firstWords);
      const usable = await app.page.evaluate<number>(usableSince);
      clearInterval(timer);
      clock.push(usable - app.begun);
      const { times } = taken.find(({ at }) => at >= usable)!;
      answering.push(times.answering);
      drawing.push(times.drawing);
      await app.end();
    }
  } finally {
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
  tell('start to a window that can be used', { clock, answering, drawing }, limits.startMilliseconds);
}

/** Memory and processor time of all processes of a window that nobody uses. */
export async function measureIdle(seconds: number, program?: string): Promise<void> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-idle-'));
  const app = await start(home, program);
  try {
    await app.page.shows(firstWords);
    await sleep(settleMilliseconds);
    const before = new Map(familyOf(app.child.pid!).map(({ pid, processor }) => [pid, processor]));
    await sleep(seconds * 1000);
    let [bytes, percent] = [0, 0];
    for (const { pid, kind, processor } of familyOf(app.child.pid!)) {
      const { proportionalBytes = 0, privateBytes = 0 } = memoryOf(pid) ?? {};
      const worked = (processor - (before.get(pid) ?? 0)) / (10 * seconds);
      console.log(
        `  ${kind.padEnd(26)} ${mega(proportionalBytes).padStart(6)} MB (its own ${mega(privateBytes)}), ${worked.toFixed(2)} % of a core`,
      );
      bytes += proportionalBytes;
      percent += worked;
    }
    tellBelow('idle: memory of all processes, MB', Number(mega(bytes)), limits.idleMegabytes);
    tellBelow('idle: processor time, % of a core', Number(percent.toFixed(2)), limits.idlePercent);
  } finally {
    await app.end();
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function tellBelow(what: string, value: number, limit: number): void {
  console.log(`${what.padEnd(40)} ${value}; limit ${limit}${value > limit ? ': TOO MUCH' : ''}`);
  if (value > limit) process.exitCode = 1;
}

const mega = (bytes: number): string => (bytes / 1e6).toFixed(1);
