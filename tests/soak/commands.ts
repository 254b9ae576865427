// Runs the command line as people do, one or two commands at a time on one home: imports, trains, compares, evaluates, predicts, exports,
// serves, deletes, backs up; half of them are killed or asked to end at a random moment. Then nothing may be left but the home: no process, no
// port that answers, no file among the temporary ones or in the making, no shared memory; and the history has to be sound. Linux.

import { readdirSync, readFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../engine/history/database.ts';
import { startTrainyard, type Finished } from '../support/cli.ts';
import { markedProcesses, openOf } from '../support/processes.ts';
import { randomNumbers } from './kills.ts';

export interface CommandReport {
  readonly commands: number;
  readonly killed: number;
  /** What went wrong, in words; has to be empty. */
  readonly wrong: readonly string[];
}

/** How long whatever belonged to a killed command may take to end. */
const endMilliseconds = 20_000;
const sharedMemory = '/dev/shm';

/** @param goOn  asked before each command, with how many there were */
export async function soakCommands(
  home: string,
  goOn: (done: number) => boolean,
  seed: number,
): Promise<CommandReport> {
  const random = randomNumbers(seed);
  const below = (end: number): number => Math.floor(random() * end);
  const [work, temporary] = [join(home, '..', 'work'), join(home, '..', 'tmp')];
  for (const folder of [work, temporary]) mkdirSync(folder, { recursive: true });
  const mark = `${process.pid}-${seed}-${Date.now()}`;
  const shared = new Set(readdirSync(sharedMemory));
  const wrong: string[] = [];
  const ports = new Set<number>();
  const runs: number[] = [];
  let [commands, killed] = [0, 0];

  /** A table of its own each time, so that every training imports. */
  const table = (): string => {
    const file = join(work, `${commands}.csv`);
    const rows = Array.from(
      { length: 200 + below(2000) },
      (_, row) => `${row % 17},${below(90)},${row % 3 ? 'yes' : 'no'}`,
    );
    writeFileSync(file, `a,b,answer ${commands}\n${rows.join('\n')}\n`);
    return file;
  };
  const run = (): string => String(runs[below(runs.length)]);
  const drawn = (): readonly string[] => {
    const training = (): readonly string[] => {
      const epochs = random() < 0.5 ? '3' : '3000';
      return ['train', table(), '--hidden', '8', '--epochs', epochs, '--patience', '0'];
    };
    if (runs.length === 0) return training();
    const ways = [
      training,
      () => ['train', table(), '--model', 'boosted'],
      () => ['compare', run(), run()],
      () => ['evaluate', run()],
      () => ['predict', run(), table(), '--out', join(work, 'predicted.csv')],
      () => ['export', run(), '--format', 'onnx', '--out', join(work, 'model.onnx')],
      () => ['serve', run()],
      () => ['delete', run(), ...(random() < 0.5 ? ['--purge'] : [])],
      () => ['backup', join(work, 'home.trainyard')],
      () => ['inspect', table()],
    ];
    return ways[below(ways.length)]();
  };

  const one = async (): Promise<void> => {
    commands += 1;
    const args = drawn();
    const environment = { TMPDIR: temporary, TRAINYARD_SOAK: mark };
    const running = startTrainyard(home, [...args, '--json'], undefined, environment);
    // What serves, or trains for long, is ended by us in any case.
    const endless = args[0] === 'serve' || args.includes('3000');
    if (endless || random() < 0.4) {
      await Promise.race([sleep(random() * (endless ? 3000 : 1200)), running.finished]);
      // A process that has ended is not there to be killed.
      if (running.child.kill(random() < 0.7 ? 'SIGKILL' : 'SIGTERM')) killed += 1;
    }
    const finished = await running.finished;
    remember(finished);
    const said = `${args.slice(0, 2).join(' ')}: ${finished.stderr.trim()}`;
    if (/\n\s+at |internal\.error/.test(finished.stderr)) wrong.push(`a trace: ${said}`);
    if (finished.code === 0 && finished.stdout === '') wrong.push(`nothing said: ${said}`);
  };
  const remember = ({ events }: Finished): void => {
    for (const { event, run: number, address } of events) {
      if (event === 'finished' && typeof number === 'number' && !runs.includes(number)) runs.push(number);
      if (event === 'serving') ports.add(Number(new URL(String(address)).port));
    }
  };

  while (goOn(commands)) await Promise.all(random() < 0.25 ? [one(), one()] : [one()]);

  await left(() => markedProcesses(mark).map(({ pid, kind }) => `process ${pid} (${kind}) lives on`), wrong);
  // The next command sees to what the killed ones left.
  const last = await startTrainyard(home, ['train', table(), '--epochs', '1', '--json'], undefined, {
    TMPDIR: temporary,
  }).finished;
  if (last.code !== 0) wrong.push(`the last command: ${last.stderr}`);
  await left(() => readdirSync(temporary).map((name) => `${name} is left among the temporary files`), wrong);
  for (const name of readdirSync(home, { recursive: true }).map(String))
    if (/\.tmp$|\.importing-|-journal$/.test(name)) wrong.push(`${name} is left in the home`);
  for (const port of ports) if (await answers(port)) wrong.push(`port ${port} still answers`);
  for (const name of readdirSync(sharedMemory))
    if (!shared.has(name) && !isOpen(join(sharedMemory, name))) wrong.push(`${name} is left in shared memory`);

  const listed = await startTrainyard(home, ['runs', '--json'], undefined, { TMPDIR: temporary }).finished;
  for (const { id, state } of listed.events)
    if (state === 'running' || state === 'paused') wrong.push(`run ${String(id)} is ${state}, and nobody trains it`);
  const database = openDatabase(join(home, 'history.db'));
  if (database.pragma('integrity_check') !== 'ok') wrong.push('the database is damaged');
  database.close();
  return { commands, killed, wrong };
}

/** What is still there when it has had time to go. */
async function left(look: () => readonly string[], wrong: string[]): Promise<void> {
  const until = performance.now() + endMilliseconds;
  while (look().length > 0 && performance.now() < until) await sleep(100);
  wrong.push(...look());
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).once('error', () => resolve(false));
  });
}

/** Whether any process has it open or mapped: others use this machine, too. */
function isOpen(file: string): boolean {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  return pids.some((pid) => openOf(Number(pid)).includes(file) || mapped(pid).includes(file));
}

function mapped(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8');
  } catch {
    return '';
  }
}
