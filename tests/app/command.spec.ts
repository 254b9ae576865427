// The command line inside the installed app: run by the app's own program, by an ordinary account, with exit codes, pipes and
// Ctrl-C as the one in a checkout has them. The development Electron has no headless platform: it gets the tests' screen.

import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { install, processesOf, sessionOf, type Installation } from './installed.ts';
import { expect, test } from './launch.ts';
import { writeTable } from './scene.ts';
import { openOf } from '../support/processes.ts';

test.skip(process.platform !== 'linux', 'the packaged app is tested on Linux');

const installed = test.extend<object, { installation: Installation }>({
  installation: [
    async ({ browserName: _ }, use) => {
      const installation = install();
      await use(installation);
      installation.remove();
    },
    { scope: 'worker' },
  ],
});

interface Done {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command at work, in a process group of its own as a terminal makes it. */
function begin(
  installation: Installation,
  ...args: readonly string[]
): { child: ChildProcess; done: Promise<Done>; written: () => string } {
  const program = path.join(path.dirname(installation.program), 'bin', 'trainyard');
  const env = sessionOf(installation);
  const child = spawn(program, args, { ...installation.account, env, cwd: installation.home, detached: true });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const done = new Promise<Done>((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
  return { child, done, written: () => stdout };
}

const run = (installation: Installation, ...args: readonly string[]): Promise<Done> =>
  begin(installation, ...args).done;

const last = (stdout: string): Record<string, unknown> =>
  JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;

const noneIsLeft = ({ program }: Installation): Promise<unknown> =>
  expect.poll(() => processesOf(program).map(({ command }) => command)).toEqual([]);

/** Processes that train: of the app's own the history's alone has a database open. */
const training = ({ program }: Installation): readonly number[] =>
  processesOf(program).flatMap(({ pid, command }) =>
    command.includes('NodeService') && !openOf(pid).some((file) => file.includes('history.db')) ? [pid] : [],
  );

installed('it knows its version, and refuses in one line with the code of a checkout’s', async ({ installation }) => {
  expect(await run(installation, '--version')).toEqual({ code: 0, stdout: 'trainyard 0.1.0\n', stderr: '' });
  const wrong = await run(installation, 'trian');
  expect(wrong).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^trainyard: There is no command “trian”\..*\n$/),
  });
  // What looks like a switch of Chromium's or Electron's is the command's own.
  const odd = await run(installation, 'runs', '--type=renderer', '--no-sandbox');
  expect([odd.code, odd.stdout]).toEqual([2, '']);
  expect(odd.stderr).toContain('Unknown option');
});

installed(
  'it trains, explains where its GPU is, exports with a certificate, and pipes JSON alone',
  async ({ installation }) => {
    const table = writeTable(installation.home, 400);
    installation.give(table);
    const trained = await run(installation, 'train', path.basename(table), '--epochs', '3', '--json');
    expect(trained.stderr, trained.stdout).not.toContain('trainyard:');
    const events = trained.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.at(-1)).toMatchObject({ event: 'finished', run: 1, reason: 'completed', device: 'cpu' });
    expect(trained.code).toBe(0);

    expect((await run(installation, 'devices')).stdout).toContain('kernels: WebAssembly and the native addon');
    const exported = await run(installation, 'export', '1', '--format', 'onnx', '--out', 'model.onnx');
    expect(exported.stdout).toContain('certified: largest relative difference');
    expect(exported.code, exported.stderr).toBe(0);
    // Nothing of Chromium's is left behind.
    const left = fs.readdirSync(installation.home).filter((name) => !['.config', '.Xauthority'].includes(name));
    expect(left.sort()).toEqual(['model.check.json', 'model.check.py', 'model.onnx', path.basename(table)]);
  },
);

installed('a reader that goes ends it with 141', async ({ installation }) => {
  const { child, done } = begin(installation, 'completions', 'fish');
  child.stdout?.destroy();
  expect((await done).code).toBe(141);
  // While its file is being looked at: an answer of DuckDB's that finds the program ending aborts it.
  const table = writeTable(installation.home, 40_000);
  installation.give(table);
  for (let time = 0; time < 2; time++) {
    const training = begin(installation, 'train', path.basename(table), '--epochs', '3');
    training.child.stdout?.once('data', () => training.child.stdout?.destroy());
    expect(await training.done).toMatchObject({ code: 141, stderr: expect.not.stringContaining('terminate') });
  }
});

installed('Ctrl-C stops a training that keeps its best weights, and no process stays', async ({ installation }) => {
  const table = writeTable(installation.home, 400);
  installation.give(table);
  const { child, done } = begin(installation, 'train', path.basename(table), '--epochs', '1000000', '--json');
  await new Promise<void>((resolve) => {
    child.stdout?.on('data', (text: Buffer) => text.includes('"event":"epoch"') && resolve());
    void done.then(() => resolve());
  });
  // A thread that still gets graphics ready while the command ends takes it along, though it has said all it had to.
  expect(fs.readFileSync(`/proc/${child.pid}/maps`, 'utf8')).not.toMatch(/libGLES|swiftshader|libvulkan/);
  process.kill(-(child.pid ?? 0), 'SIGINT');
  const { code, stdout, stderr } = await done;
  expect(stdout, stderr).toContain('"event":"finished"');
  expect(last(stdout)).toMatchObject({ event: 'finished', reason: 'stopped' });
  expect(code).toBe(0);
  await noneIsLeft(installation);
});

installed(
  'the queue trains two runs at once, each in a process of its own: Ctrl-C keeps them, one that is killed fails alone, and none outlives the command',
  async ({ installation }) => {
    const table = path.basename(writeTable(installation.home, 400));
    installation.give(path.join(installation.home, table));
    const long = ['train', table, '--epochs', '1000000', '--patience', '0', '--threads', '1', '--queue', '--json'];
    const queued = [await run(installation, ...long), await run(installation, ...long)].map(
      ({ stdout }) => last(stdout).run,
    );
    const bothTrain = (work: ReturnType<typeof begin>): Promise<unknown> =>
      expect
        .poll(() => queued.every((each) => work.written().includes(`{"event":"started","run":${each}}`)))
        .toBe(true);

    const first = begin(installation, 'queue', 'run', '--json');
    await bothTrain(first);
    process.kill(-(first.child.pid ?? 0), 'SIGINT');
    const { code, stdout, stderr } = await first.done;
    expect(last(stdout), stderr).toEqual({ event: 'finished', waiting: 2 });
    expect(code).toBe(0);
    await noneIsLeft(installation);

    const second = begin(installation, 'queue', 'run', '--json');
    await bothTrain(second);
    const [killed, ...others] = training(installation);
    process.kill(killed, 'SIGKILL');
    await expect.poll(second.written).toContain('"event":"ended"');
    const { run: failed, error } = last(second.written());
    expect((error as Error).message).toMatch(/^The process that trained this run is gone: /);
    expect([others.length, training(installation)]).toEqual([1, others]);

    second.child.kill('SIGKILL');
    await noneIsLeft(installation);
    for (const each of queued) {
      const shown = last((await run(installation, 'show', String(each), '--json')).stdout);
      expect(shown).toMatchObject({ state: each === failed ? 'failed' : 'interrupted', hasCheckpoint: true });
    }
  },
);
