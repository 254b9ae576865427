// Training on the GPU in the hidden window, here on the software adapter that comes with Electron: slow, and marked as such.

import type { DeviceInfo } from '../../engine/protocol/app.ts';
import type { LabRecord, LabSummary } from '../../engine/protocol/lab.ts';
import type { LogLine, RunRecord } from '../../engine/protocol/runs.ts';
import { callService, expect, screenshot, testsOfOneApp, type App } from './launch.ts';
import { importTable, runConfig, waitForEpoch, waitForState, writeTable } from './scene.ts';

const test = testsOfOneApp({ env: { TRAINYARD_SOFTWARE_GPU: '1' } });

async function startOnGpu(app: App, rows: number, epochs: number): Promise<RunRecord> {
  const dataset = await importTable(app, writeTable(app.home, rows));
  const config = { ...runConfig(dataset, epochs), device: 'gpu' };
  return callService<RunRecord>(app, 'startRun', { name: 'On the GPU', config });
}

test('devices: the processor, and the software adapter marked as such', async ({ app }) => {
  const devices = await callService<readonly DeviceInfo[]>(app, 'devices');
  expect(devices[0]).toMatchObject({ kind: 'cpu', available: true, software: false });
  const gpu = devices.find(({ kind }) => kind === 'gpu');
  expect(gpu, 'SwiftShader comes with Electron: an adapter has to be there').toMatchObject({
    available: true,
    software: true,
  });
});

test('a run trains on the GPU, in a hidden window that goes with it', async ({ app }) => {
  const { id } = await startOnGpu(app, 400, 3);
  const run = await waitForState(app, id, 'completed', 'failed');
  expect(run.error).toBeNull();
  expect(run.device).toMatch(/gpu|SwiftShader/i);
  expect(run.result?.metrics['val_accuracy']).toBeGreaterThan(0.8);
  await expect.poll(() => app.electron.windows().length).toBe(1);

  // Its step is taken apart there too.
  const { page } = app;
  await page.evaluate((opened) => (location.hash = `#run/${opened}/step`), id);
  await expect(page.getByRole('tabpanel')).toContainText('a training step of this run on the GPU');
  await page.getByRole('button', { name: 'Measure a step', exact: true }).click();
  const step = page.getByRole('region', { name: 'Where a step goes' });
  await expect(step).toContainText(/ a step on .*SwiftShader.*; \d+ calls, .* at this GPU’s best/, { timeout: 60_000 });
  await expect(step).not.toContainText('not here');
  await expect.poll(() => app.electron.windows().length).toBe(1);
});

test('a run stores its activations in 16 bits, computed again on the way back', async ({ app }) => {
  const dataset = await importTable(app, writeTable(app.home, 400));
  const { training, ...rest } = runConfig(dataset, 3);
  const config = { ...rest, device: 'gpu', training: { ...training, precision: 'mixed16', checkpointing: true } };
  const { id } = await callService<RunRecord>(app, 'startRun', { name: 'In 16 bits', config });
  const run = await waitForState(app, id, 'completed', 'failed');
  expect(run.error).toBeNull();
  expect(run.result?.metrics['val_accuracy']).toBeGreaterThan(0.8);
  const log = await callService<readonly LogLine[]>(app, 'log', { run: id });
  expect(log.map(({ message }) => message)).toContain(
    'Activations and their gradients are stored in 16 bits, all else in float32.',
  );
  await app.page.evaluate((opened) => (location.hash = `#run/${opened}`), id);
  const skipped = app.page.locator('.figure', { hasText: 'Skipped steps' });
  await expect(skipped).toContainText(/\d loss × 65,536/);
});

test('a GPU window that dies fails its run with the reason; it goes on on the CPU', async ({ app }) => {
  const { id } = await startOnGpu(app, 1000, 10_000);
  await waitForEpoch(app, id, 2);
  await app.electron.evaluate(({ BrowserWindow }) => {
    const hidden = BrowserWindow.getAllWindows().find((window) => window.webContents.getURL().includes('/gpu/'));
    hidden?.webContents.forcefullyCrashRenderer();
  });
  const failed = await waitForState(app, id, 'failed');
  expect(failed.error?.message).toContain('window');
  await callService(app, 'resumeRun', { run: id, device: 'cpu' });
  await expect.poll(async () => (await callService<RunRecord>(app, 'run', { run: id })).device).toMatch(/cpu/i);
  await callService(app, 'stopRun', { run: id });
  await waitForState(app, id, 'stopped');
});

test('two CPUs are chosen in the form and train the run that it starts', async ({ app }) => {
  const { page } = app;
  const dataset = await importTable(app, writeTable(app.home, 400));
  await page.evaluate((id) => (location.hash = `#new/${id}`), dataset.id);
  await page.getByRole('button', { name: 'Small MLP' }).click();
  await page.getByRole('radio', { name: 'Two CPU processes' }).check();
  await expect(page.getByLabel('Threads of each CPU')).toBeVisible();
  await page.getByLabel('Epochs', { exact: true }).fill('20');
  const single = page.getByRole('button', { name: 'Take one training' });
  if (await single.isVisible()) await single.click();
  await screenshot(app, 'devices-two-cpus');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  const devices = page.getByRole('region', { name: 'Devices' });
  await expect(devices).toContainText(/CPU 1.*works .* ms.*CPU 2.*works .* ms/s, { timeout: 60_000 });
  await expect(page.getByRole('log')).toContainText(/Every batch of \d+ is shared: CPU 1 \d+ rows, CPU 2 \d+ rows\./);
  const [run] = (await callService<{ runs: readonly RunRecord[] }>(app, 'runs', { dataset: dataset.id })).runs;
  expect(run.config.devices).toBe('cpu:2');
  expect((await waitForState(app, run.id, 'completed', 'failed')).error).toBeNull();
});

test('CPU and GPU train one run, each its share of every batch; it goes on when the GPU is lost', async ({ app }) => {
  const { page } = app;
  const dataset = await importTable(app, writeTable(app.home, 400));
  await page.evaluate((id) => (location.hash = `#new/${id}`), dataset.id);
  await page.getByRole('button', { name: 'Wide MLP' }).click();
  await page.getByRole('radio', { name: 'CPU and GPU' }).check();
  await screenshot(app, 'devices-new-run');

  const config = { ...runConfig(dataset, 100_000), device: 'cpu', devices: 'cpu@1,gpu@1' };
  const { id } = await callService<RunRecord>(app, 'startRun', { name: 'On both', config });
  await page.evaluate((opened) => (location.hash = `#run/${opened}`), id);
  const devices = page.getByRole('region', { name: 'Devices' });
  await expect(devices).toContainText(/CPU.*works .* ms.*GPU.*works .* ms/s, { timeout: 60_000 });
  await expect(page.getByRole('log')).toContainText(/Every batch of \d+ is shared: CPU \d+ rows, GPU \d+ rows\./);
  for (const width of [1100, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    await screenshot(app, `devices-run-${width}`);
  }
  await app.electron.evaluate(({ BrowserWindow }) => {
    const hidden = BrowserWindow.getAllWindows().find((window) => window.webContents.getURL().includes('/gpu/'));
    hidden?.webContents.forcefullyCrashRenderer();
  });
  await expect(page.getByRole('log')).toContainText('GPU is lost: ');
  await expect(devices).toContainText('Lost: CPU makes its share too');
  expect((await callService<RunRecord>(app, 'run', { run: id })).state).toBe('running');
  await callService(app, 'stopRun', { run: id });
  await waitForState(app, id, 'stopped');
});

test('the lab measures the processor and the adapter in software while a run waits; cancelled, it keeps nothing', async ({
  app,
}) => {
  const dataset = await importTable(app, writeTable(app.home, 1000));
  const { id } = await callService<RunRecord>(app, 'startRun', { name: 'Beside', config: runConfig(dataset, 100_000) });
  await waitForEpoch(app, id, 1);
  const measuring = callService<LabRecord>(app, 'measureLab', { seconds: 6 });
  await waitForState(app, id, 'paused');
  const { result } = await measuring;
  expect(result.devices.map((device) => device.id)).toEqual(expect.arrayContaining(['cpu', 'cpu-1', 'gpu-0']));
  const gpu = result.devices.find((device) => device.id === 'gpu-0')!;
  expect(gpu).toMatchObject({ kind: 'gpu', software: true });
  expect(gpu.latencies.length + gpu.products.length, result.notes.join('\n')).toBeGreaterThan(0);
  // It goes on by itself, and so does the app.
  await waitForState(app, id, 'running');

  const cancelled = callService(app, 'measureLab', { seconds: 60 }).catch((error: unknown) => String(error));
  await waitForState(app, id, 'paused');
  await callService(app, 'cancelLab');
  expect(await cancelled).toMatch(/cancelled/);
  await waitForState(app, id, 'running');
  expect(await callService<readonly LabSummary[]>(app, 'labs')).toHaveLength(1);
  await callService(app, 'stopRun', { run: id });
  await waitForState(app, id, 'stopped');
});
