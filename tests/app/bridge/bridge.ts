// The window and the GPU page in a Chromium that is newer than the Electron at hand, over the app's own services: so that the
// code is known to run in the engine of the official Electron. Electron's part (windows, dialogs, preload) is Playwright's.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium, type BrowserContext, type Page } from '@playwright/test';
import type { GpuHost } from '../../../electron/main/gpu-window.ts';
import { answerPage, origin } from '../../../electron/main/pages.ts';
import { requests } from '../../../electron/main/requests.ts';
import type { ExaminerService } from '../../../engine/protocol/checking.ts';
import type { ProfilerService } from '../../../engine/protocol/step-profile.ts';
import type { AppService } from '../../../engine/protocol/app.ts';
import type { DeviceLab } from '../../../engine/lab/host.ts';
import type { DeviceService, SpeedService } from '../../../engine/protocol/hosts.ts';
import { whenReady } from '../../../engine/protocol/port.ready.ts';
import type { Port } from '../../../engine/protocol/port.ts';
import { connect, serve } from '../../../engine/protocol/rpc.ts';
import type { TrainerHost } from '../../../engine/protocol/hosts.ts';
import { connectPage } from './page-ports.ts';
import { startServices } from './services.ts';

/** An address that may use WebGPU, as app:// may. Nothing is asked of the network: every request is answered here. */
const address = 'https://trainyard.test';
const pages = path.resolve(import.meta.dirname, '../../../build/renderer');

const flags = [
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--disable-dawn-features=use_vulkan_zero_initialize_workgroup_memory_extension',
];

export interface Bridge {
  readonly page: Page;
  /** The window's AppService, for setting a scene and for asking what the page does not show. */
  readonly service: AppService;
  readonly home: string;
  /** What pages wrote to their consoles as warnings and errors, what they asked of the network, and what was refused. */
  readonly problems: readonly string[];
  /** Answers the next open dialog with this path. */
  openNext(chosen: string): void;
  close(): Promise<void>;
}

export async function openBridge(executablePath: string): Promise<Bridge> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-bridge-'));
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args: [...flags, ...asRoot] });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const problems: string[] = [];
  await answerPages(context, problems);

  let next: string | null = null;
  const open = async (): Promise<string | null> => {
    const chosen = next;
    next = null;
    return chosen;
  };
  const services = await startServices({
    home,
    dialogs: { open, askWhere: async () => null },
    startGpuHost: (rows) => openGpuPage(context, rows),
  });
  const page = await context.newPage();
  let stop: (() => void) | null = null;
  await connectPage(page, 1, ([port]) => {
    stop?.();
    stop = serve(port, services.service, { validate: requests });
  });
  await page.goto(`${address}/index.html`);
  return {
    page,
    service: services.service,
    home,
    problems,
    openNext: (chosen) => (next = chosen),
    async close() {
      await services.close();
      await browser.close();
      fs.rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The counterpart of the main process's `startGpuHost`. */
async function openGpuPage(context: BrowserContext, rows: Port): Promise<GpuHost> {
  const page = await context.newPage();
  const exited = new Promise<string>((resolve) => {
    page.once('crash', () => resolve('its page crashed'));
    page.once('close', () => resolve('its page was closed'));
  });
  const connected = Promise.withResolvers<Port>();
  await connectPage(page, 2, ([own, link]) => {
    link.onMessage((message) => rows.postMessage(message));
    rows.onMessage((message) => link.postMessage(message));
    connected.resolve(own);
  });
  await page.goto(`${address}/gpu/index.html`);
  const own = await connected.promise;
  await whenReady(own, 'The GPU page');
  return {
    host: connect<TrainerHost>(own, { peer: 'the GPU page' }),
    devices: connect<DeviceService>(own, { service: 'devices' }),
    lab: connect<DeviceLab>(own, { service: 'lab' }),
    speed: connect<SpeedService>(own, { service: 'speed' }),
    examiner: connect<ExaminerService>(own, { service: 'examiner' }),
    profiler: connect<ProfilerService>(own, { service: 'profiler' }),
    // No run here is on several devices.
    partner: () => undefined,
    exited,
    kill: () => void page.close(),
  };
}

/** Answers every request as the app's own scheme would, and listens to what the pages complain of. */
async function answerPages(context: BrowserContext, problems: string[]): Promise<void> {
  await context.route('**/*', async (route) => {
    const url = new URL(route.request().url());
    if (url.origin !== address) {
      problems.push(`asked for ${url.href}`);
      return route.abort();
    }
    const answer = await answerPage(route.request().method(), origin + url.pathname, pages);
    if (!answer.ok) problems.push(`${answer.status} for ${url.pathname}`);
    const headers = Object.fromEntries(answer.headers);
    await route.fulfill({ status: answer.status, headers, body: Buffer.from(await answer.arrayBuffer()) });
  });
  // What the content-security policy refuses is an error on the console, too.
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  context.on('weberror', (error) => problems.push(String(error.error().stack)));
}
