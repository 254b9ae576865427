// The app's processes: they train, they die, and the app goes on.

import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  answerDialog,
  callService,
  closeWindow,
  expect,
  launch,
  test,
  testsOfOneApp,
  windowIsVisible,
  type App,
} from './launch.ts';
import { createStore } from '../../engine/history/store.ts';
import { atOnceKey } from '../../engine/protocol/queue.ts';
import { listCrashes } from '../../engine/system/crashes.ts';
import {
  importTable,
  killProcess,
  oneAtATime,
  processIds,
  startRun,
  waitForEpoch,
  waitForState,
  writeTable,
} from './scene.ts';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import type { LogLine, MetricPoint, RunRecord } from '../../engine/protocol/runs.ts';

const long = 100_000;

const recordOf = (app: App, run: number): Promise<RunRecord> => callService<RunRecord>(app, 'run', { run });

/** For those of a run's process, on one dataset. */
const sharing = testsOfOneApp();

sharing('a run trains in a process of its own, to its end', async ({ app }) => {
  const dataset = await importTable(app, writeTable(app.home, 2000));
  expect(dataset).toMatchObject({ rows: 2000, target: 'side', task: 'classification' });
  const { id } = await startRun(app, dataset, 3);
  const run = await waitForState(app, id, 'completed', 'failed');
  expect(run.error).toBeNull();
  expect(run.result?.metrics['val_accuracy']).toBeGreaterThan(0.8);
  const points = await callService<readonly MetricPoint[]>(app, 'metrics', { run: id, series: ['val_loss'] });
  expect(points).toHaveLength(3);
  await expect.poll(() => processIds(app, 'training')).toEqual([]);
});

sharing('a run pauses, continues and stops', async ({ app }) => {
  const dataset = await importTable(app, writeTable(app.home, 2000));
  const { id } = await startRun(app, dataset, long);
  await waitForEpoch(app, id, 2);
  await callService(app, 'pauseRun', { run: id });
  await waitForState(app, id, 'paused');
  const paused = await callService<RunRecord>(app, 'run', { run: id });
  // Twenty answers later it stands where it stood.
  for (let i = 0; i < 20; i++) {
    const still = await callService<RunRecord>(app, 'run', { run: id });
    expect(still.progress?.step).toBe(paused.progress?.step);
  }
  await callService(app, 'continueRun', { run: id });
  await waitForState(app, id, 'running');
  await callService(app, 'stopRun', { run: id });
  const stopped = await waitForState(app, id, 'stopped');
  expect(stopped.hasCheckpoint).toBe(true);
});

sharing(
  'a killed training process fails its run with the reason; the run resumes; the app goes on',
  async ({ app }) => {
    const dataset = await importTable(app, writeTable(app.home, 2000));
    const { id } = await startRun(app, dataset, long);
    await waitForEpoch(app, id, 5);
    const [pid] = await processIds(app, 'training');
    process.kill(pid, 'SIGKILL');
    const failed = await waitForState(app, id, 'failed');
    expect(failed.error?.message).toMatch(/gone|killed/);
    expect(failed.error?.hint).toMatch(/[Rr]esume/);
    expect(failed.error?.message).not.toContain(app.home);
    // The page still answers, and so does everything behind it.
    expect(await callService<readonly DatasetInfo[]>(app, 'datasets')).toHaveLength(1);
    await callService(app, 'resumeRun', { run: id });
    await waitForState(app, id, 'running');
    await callService(app, 'stopRun', { run: id });
    await waitForState(app, id, 'stopped');
  },
);

sharing('the data process and the store come back when they are killed, and a run goes on', async ({ app }) => {
  const dataset = await importTable(app, writeTable(app.home, 2000));
  const going = await startRun(app, dataset, long);
  await waitForEpoch(app, going.id, 2);
  for (const kind of ['data', 'store']) await killProcess(app, kind);
  // Said to nobody but the person: a file in the home.
  for (const kind of ['data', 'store']) {
    await expect
      .poll(() => listCrashes(app.home).map(({ part, what }) => `${part}: ${what}`))
      .toContainEqual(expect.stringMatching(new RegExp(`^${kind}: it (was killed|was ended|ended by itself)`)));
  }
  expect(await callService<readonly DatasetInfo[]>(app, 'datasets')).toEqual([
    expect.objectContaining({ id: dataset.id }),
  ]);
  const { state, progress } = await callService<RunRecord>(app, 'run', { run: going.id });
  expect(state).toBe('running');
  await waitForEpoch(app, going.id, (progress?.epoch ?? 0) + 10);
  await callService(app, 'stopRun', { run: going.id });
  await waitForState(app, going.id, 'stopped');
  const { id } = await startRun(app, dataset, 2);
  await waitForState(app, id, 'completed');
});

test('quit, though the page hangs, and start again: datasets and runs are there', async () => {
  const first = await launch();
  const dataset = await importTable(first, writeTable(first.home, 400));
  const { id } = await startRun(first, dataset, 2, 'Kept');
  await waitForState(first, id, 'completed');
  const ended = new Promise((resolve) => first.electron.process().once('exit', resolve));
  await first.electron.evaluate(({ app, BrowserWindow }) => {
    void BrowserWindow.getAllWindows()[0].webContents.mainFrame.executeJavaScript('for (;;);');
    app.quit();
  });
  expect(await ended).toBe(0);

  const second = await launch({ home: first.home });
  const { total, runs } = await callService<{ total: number; runs: readonly RunRecord[] }>(second, 'runs', {});
  expect({ total, name: runs[0].name, state: runs[0].state }).toEqual({ total: 1, name: 'Kept', state: 'completed' });
  expect(await callService<readonly DatasetInfo[]>(second, 'datasets')).toHaveLength(1);
  await second.close();
  fs.rmSync(first.home, { recursive: true, force: true });
});

test('quitting while the history still opens ends the app', async () => {
  const first = await launch();
  await callService(first, 'runs', {});
  await first.close();
  // Another program holds the history: the store waits for it as long as this lasts.
  const held = new DatabaseSync(path.join(first.home, 'history.db'));
  held.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');

  const second = await launch({ home: first.home });
  const ended = new Promise((resolve) => second.electron.process().once('exit', resolve));
  await second.electron.evaluate(({ app }) => app.quit());
  expect(await ended).toBe(0);
  expect(second.stderr()).not.toContain('ReferenceError');
  held.close();
  fs.rmSync(first.home, { recursive: true, force: true, maxRetries: 5 });
});

/** As a crash, or a power cut, ends it. */
async function killApp({ electron }: App): Promise<void> {
  const gone = new Promise((resolve) => electron.process().once('exit', resolve));
  electron.process().kill('SIGKILL');
  await gone;
}

test('the whole app killed: what trained goes on by itself, first, and says so; what a person had paused stays, and the rest waits', async () => {
  const first = await launch();
  const dataset = await importTable(first, writeTable(first.home, 2000));
  await oneAtATime(first);
  const paused = await startRun(first, dataset, long, 'Paused');
  await waitForEpoch(first, paused.id, 1);
  await callService(first, 'pauseRun', { run: paused.id });
  await waitForState(first, paused.id, 'paused');
  await callService(first, 'setSetting', { key: atOnceKey, value: 2 });
  const { id } = await startRun(first, dataset, long, 'Cut');
  await waitForEpoch(first, id, 3);
  await expect.poll(async () => (await recordOf(first, id)).hasCheckpoint).toBe(true);
  await oneAtATime(first);
  const waiting = [await startRun(first, dataset, 2, 'Second'), await startRun(first, dataset, 2, 'Third')];
  const reached = (await recordOf(first, id)).progress?.epoch ?? 0;
  await killApp(first);

  const second = await launch({ home: first.home });
  const told = second.page.getByText(
    'Cut goes on from where it was: the program that trained it ended before its time.',
  );
  await expect(told).toBeVisible();
  // It offers to stop the run, which nothing can take back: only a click does.
  await second.page.keyboard.press('Control+z');
  await waitForEpoch(second, id, reached + 1);
  expect((await recordOf(second, paused.id)).state).toBe('interrupted');
  const log = await callService<readonly LogLine[]>(second, 'log', { run: id });
  expect(log.map(({ message }) => message)).toContain('Resumed from its checkpoint.');
  for (const run of waiting) expect((await recordOf(second, run.id)).state).toBe('queued');
  expect((await recordOf(second, id)).state).toBe('running');
  await callService(second, 'stopRun', { run: id });
  await waitForState(second, id, 'stopped');
  await expect(told).toBeHidden({ timeout: 3000 });
  const ended: RunRecord[] = [];
  for (const run of waiting) ended.push(await waitForState(second, run.id, 'completed'));
  expect(ended[1].startedAt).toBeGreaterThanOrEqual(ended[0].endedAt ?? Infinity);
  await callService(second, 'resumeRun', { run: paused.id });
  await waitForState(second, paused.id, 'running');

  // In a paused queue it waits, first.
  await startRun(second, dataset, 2, 'Fourth');
  await callService(second, 'pauseQueue', { paused: true });
  await killApp(second);
  const third = await launch({ home: first.home });
  await expect(third.page.getByText('Paused waits first in the queue, which is paused')).toBeVisible();
  await third.page.getByRole('link', { name: /^Queue/ }).click();
  const rows = third.page.getByRole('listbox', { name: 'Waiting' }).getByRole('option');
  await expect(rows).toHaveText([/Paused/, /Fourth/]);
  await third.page.getByRole('status').getByRole('button', { name: 'Stop' }).click();
  await expect(rows).toHaveText([/Fourth/]);
  await waitForState(third, paused.id, 'stopped');
  await answerDialog(third, /at the next start/);
  await third.close();
  fs.rmSync(first.home, { recursive: true, force: true });
});

test('a run that ends the app again and again without coming farther waits for a person, who is told why', async () => {
  let app = await launch();
  const dataset = await importTable(app, writeTable(app.home, 400));
  await callService(app, 'pauseQueue', { paused: true });
  const { id } = await startRun(app, dataset, long, 'Culprit');
  await killApp(app);
  // As it stands after it was put back for the third time.
  const store = createStore(app.home);
  const queue = { position: id, taken: true, cut: { step: 0, times: 3 } };
  await store.updateRun({ run: id, patch: { state: 'running', queue, startedAt: Date.now() } });
  await store.close();
  app = await launch({ home: app.home });
  await expect(app.page.getByText(/^Culprit was cut short 3 times in a row without coming farther/)).toBeVisible();
  await app.page.getByRole('button', { name: 'Show' }).click();
  await expect(app.page.getByText('It was put back 3 times without coming farther')).toBeVisible();
  await callService(app, 'pauseQueue', { paused: false });
  await app.page.getByRole('button', { name: 'Start over' }).click();
  await waitForState(app, id, 'running');
  await callService(app, 'stopRun', { run: id });
  await waitForState(app, id, 'stopped');
  await app.close();
  fs.rmSync(app.home, { recursive: true, force: true });
});

test.describe('closing the window while a run goes on', () => {
  test('cancel keeps everything as it is', async ({ app }) => {
    const dataset = await importTable(app, writeTable(app.home, 2000));
    const { id } = await startRun(app, dataset, long);
    await waitForState(app, id, 'running');
    const answered = await answerDialog(app, /Cancel/);
    await closeWindow(app);
    await expect.poll(answered).toBe(true);
    expect((await callService<RunRecord>(app, 'run', { run: id })).state).toBe('running');
    await callService(app, 'stopRun', { run: id });
    await waitForState(app, id, 'stopped');
  });

  test('background: the window hides, the run goes on, and the app ends with it', async ({ app }) => {
    const dataset = await importTable(app, writeTable(app.home, 2000));
    const { id } = await startRun(app, dataset, long);
    await waitForState(app, id, 'running');
    await answerDialog(app, /background/);
    await closeWindow(app);
    await expect.poll(() => windowIsVisible(app)).toBe(false);
    await waitForEpoch(app, id, 3);
    const ended = new Promise((resolve) => app.electron.process().once('exit', resolve));
    await callService(app, 'stopRun', { run: id });
    await ended;
  });

  /** The app ends by itself once the window is closed; the run as the history has it after that. */
  async function closed(app: App, id: number, close: () => Promise<void>): Promise<RunRecord> {
    const ended = new Promise((resolve) => app.electron.process().once('exit', resolve));
    await close();
    await ended;
    const again = await launch({ home: app.home });
    const run = await callService<RunRecord>(again, 'run', { run: id });
    await again.close();
    fs.rmSync(app.home, { recursive: true, force: true });
    return run;
  }

  test('in the moment after a run was told to stop nothing is asked: its end is waited for', async () => {
    const app = await launch();
    const dataset = await importTable(app, writeTable(app.home, 2000));
    const { id } = await startRun(app, dataset, long);
    await waitForEpoch(app, id, 2);
    // A question would keep the app open.
    const answered = await answerDialog(app, /Cancel/);
    const [pid] = await processIds(app, 'training');
    const run = await closed(app, id, async () => {
      process.kill(pid, 'SIGSTOP');
      const stopping = callService(app, 'stopRun', { run: id }).catch(() => undefined);
      // Whoever is asked next has heard of the stop before.
      await callService(app, 'info');
      await closeWindow(app);
      expect(await answered()).toBe(false);
      process.kill(pid, 'SIGCONT');
      await stopping;
    });
    expect(run).toMatchObject({ state: 'stopped', hasCheckpoint: true, error: null });
  });

  test('stop: the run keeps its checkpoint and the app ends', async () => {
    const app = await launch();
    const dataset = await importTable(app, writeTable(app.home, 2000));
    const { id } = await startRun(app, dataset, long);
    await waitForEpoch(app, id, 2);
    await answerDialog(app, /Stop/);
    const run = await closed(app, id, () => closeWindow(app));
    expect(run).toMatchObject({ state: 'stopped', hasCheckpoint: true });
  });
});

// Released Electrons run everything in utility processes; here plain Node with the Node-API they have stands in for those
// (docs/building.md), with the same bundles, the same messages and the same links between them.
test('the way of released Electrons: store, data and training as utility processes', async () => {
  const app = await launch({ env: { TRAINYARD_UTILITY: 'node' } });
  const dataset = await importTable(app, writeTable(app.home, 400));
  const { id } = await startRun(app, dataset, 3);
  const run = await waitForState(app, id, 'completed', 'failed');
  expect(run.error).toBeNull();
  expect(run.result?.metrics['val_accuracy']).toBeGreaterThan(0.8);
  for (const kind of ['data', 'store']) {
    const [pid] = await processIds(app, kind);
    expect(fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toMatch(/--require\0.*stand-in\.cjs/);
    await killProcess(app, kind);
  }
  const second = await startRun(app, dataset, 2);
  await waitForState(app, second.id, 'completed');
  expect(await callService<{ total: number }>(app, 'runs', {})).toMatchObject({ total: 2 });
  await app.close();
  fs.rmSync(app.home, { recursive: true, force: true });
});
