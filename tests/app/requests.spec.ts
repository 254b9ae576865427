// Thousands of requests as nobody should send them, from a page that has been taken over: nothing crashes, each is answered with a
// clean error, and the app trains afterwards. TRAINYARD_REQUESTS says how many; docs/reliability.md keeps what was measured.

import fs from 'node:fs';
import { callService, expect, launch, test, type App } from './launch.ts';
import { keepPorts, sendMalformed, type Outcome } from './malformed.ts';
import { importTable, processIds, runConfig, startRun, waitForEpoch, waitForState, writeTable } from './scene.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { requests } from '../../electron/main/requests.ts';

const count = Number(process.env['TRAINYARD_REQUESTS'] ?? 400);

test(`${count} malformed requests: none crashes anything, each is answered cleanly`, async () => {
  test.setTimeout(120_000 + count * 50);
  const app = await launch({ env: { TRAINYARD_SOFTWARE_GPU: '1' } });
  await quietDialogs(app);
  await app.electron.context().addInitScript(keepPorts);
  await (await app.electron.browserWindow(app.page)).evaluate((window) => window.webContents.reload());
  await app.page.waitForFunction(() => 'testPorts' in globalThis);
  const processes = { data: await processIds(app, 'data'), store: await processIds(app, 'store') };

  const methods = Object.keys(requests);
  const step = 200;
  for (let done = 0; done < count; done += step) {
    const what = { methods, services: ['default'], count: Math.min(step, count - done), seed: 1 + done, port: 0 };
    expectClean(app, await sendMalformed(app.page, what));
  }
  expect({ data: await processIds(app, 'data'), store: await processIds(app, 'store') }).toEqual(processes);
  expect(
    await app.page.evaluate(() => ({}) as { polluted?: unknown }).then(({ polluted }) => polluted),
  ).toBeUndefined();
  expect(await app.electron.evaluate(() => 'polluted' in {})).toBe(false);

  // The links of the GPU window: its own, and the one to the data host.
  const dataset = await importTable(app, writeTable(app.home, 1000));
  const config = { ...runConfig(dataset, 10_000), device: 'gpu' as const };
  const gpuRun = await callService<RunRecord>(app, 'startRun', { name: 'On the GPU', config });
  await waitForEpoch(app, gpuRun.id, 1);
  const gpu = app.electron.windows().find((page) => page.url().includes('/gpu/'))!;
  const few = Math.ceil(count / 10);
  const toMain = { methods: ['start', 'stop', 'pause', 'onReport'], services: ['default', 'devices'], port: 0 };
  // The main process calls over that port and serves nothing.
  expect(await sendMalformed(gpu, { ...toMain, count: few, seed: 7 }).then(({ results }) => results)).toBe(0);
  expectClean(
    app,
    await sendMalformed(gpu, { methods: ['readShard'], services: ['default'], count: few, seed: 8, port: 1 }),
  );
  await waitForState(app, gpuRun.id, 'running', 'failed');
  await callService(app, 'stopRun', { run: gpuRun.id }).catch(() => undefined);
  await waitForState(app, gpuRun.id, 'stopped', 'failed');
  expect(await processIds(app, 'data')).toEqual(processes.data);

  const { id } = await startRun(app, dataset, 3);
  const run = await waitForState(app, id, 'completed', 'failed');
  expect(run.error).toBeNull();
  expect(run.result?.metrics['val_accuracy']).toBeGreaterThan(0.8);
  await app.close();
  fs.rmSync(app.home, { recursive: true, force: true });
});

function expectClean(app: App, { expected, results, errors, texts }: Outcome): void {
  expect(results + errors, 'each call is answered').toBe(expected);
  for (const text of texts) {
    expect(text).toMatch(/^(input|usage|data|model|device|store|run|internal)\.\w+ \S/);
    expect(text).not.toContain(app.home);
    expect(text).not.toMatch(/\n\s+at |node:internal|\.ts:\d|SELECT |INSERT INTO/);
    // A program's own words for what should not have happened.
    expect(text).not.toMatch(/is not a function|Cannot read propert|is not iterable|Maximum call stack|undefined \(/);
  }
}

/** A request may be right by chance: nobody is there to answer a dialog. */
async function quietDialogs({ electron }: App): Promise<void> {
  await electron.evaluate(({ dialog }) => {
    dialog.showOpenDialog = async () => ({ canceled: true, filePaths: [] });
    dialog.showSaveDialog = async () => ({ canceled: true, filePath: '' });
  });
}
