// Starts the real app for a test: its own empty home, its own processes, stderr kept for failures. `test` and `expect` are
// Playwright's, with an `app` that is started for the test and closed after it.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test as base, _electron, type ElectronApplication, type Page, type TestInfo } from '@playwright/test';
import { listCrashes } from '../../engine/system/crashes.ts';

export const root = path.resolve(import.meta.dirname, '../..');
export const screenshots = path.join(root, 'test-results', 'screenshots');

/** What scripts/electron.mjs found; `npm test` hands it down. */
interface ElectronChoice {
  readonly executable: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly version: string;
}

export interface App {
  readonly electron: ElectronApplication;
  readonly page: Page;
  readonly home: string;
  /** What the processes wrote to stderr. */
  stderr(): string;
  close(): Promise<void>;
}

export interface LaunchOptions {
  /** Default: a new empty folder. */
  readonly home?: string;
  /** A packaged app instead of the repository's. */
  readonly executable?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export function electronChoice(): ElectronChoice {
  const text = process.env['TRAINYARD_ELECTRON'];
  if (text === undefined) throw new Error('Run the app tests with `npm test -- app`: it finds Electron first.');
  return JSON.parse(text) as ElectronChoice;
}

export async function launch(options: LaunchOptions = {}): Promise<App> {
  const choice = electronChoice();
  const home = options.home ?? fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-app-'));
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const electron = await _electron.launch({
    executablePath: options.executable ?? choice.executable,
    args: [...(options.executable ? [] : choice.args), ...asRoot, ...(options.args ?? [])],
    // Figures are written as in English, whatever the language of whoever tests.
    env: { ...(process.env as Record<string, string>), LC_ALL: 'C.UTF-8', TRAINYARD_HOME: home, ...options.env },
  });
  let stderr = '';
  electron.process().stderr?.on('data', (data: Buffer) => (stderr += data.toString()));
  const page = await mainPage(electron).catch((error: Error) => {
    electron.process().kill('SIGKILL');
    throw new Error(`${error.message}\n${stderr}`);
  });
  await page.waitForLoadState();
  return { electron, page, home, stderr: () => stderr, close: () => electron.close() };
}

/** The window a person sees: the hidden ones train. One that does not come says what is there instead. */
async function mainPage(electron: ElectronApplication): Promise<Page> {
  const isMain = (page: Page): boolean => page.url().includes('/index.html') && !page.url().includes('/gpu/');
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const page = electron.windows().find(isMain);
    if (page) return page;
    await electron.waitForEvent('window', { timeout: 1000 }).catch(() => undefined);
  }
  const seen = electron.windows().map((page) => page.url());
  const windows = electron.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows().map(
      ({ webContents }) => `${webContents.getURL()} loading: ${webContents.isLoading()}`,
    ),
  );
  const patience = new Promise<string[]>((resolve) =>
    setTimeout(() => resolve(['the main process does not answer']), 5000),
  );
  const there = await Promise.race([windows, patience]);
  throw new Error(`The main window did not come. The test sees [${seen.join()}], the app has [${there.join()}].`);
}

/**
 * Calls the AppService past the page's own code, over the page's port: for setting a scene and for asking what the page
 * does not show. The page is loaded again the first time.
 */
export async function callService<T>({ electron, page }: App, name: string, request?: unknown): Promise<T> {
  const hasPort = await page.evaluate(() => 'testPort' in globalThis);
  if (!hasPort) {
    await page.addInitScript(() => {
      addEventListener('message', (event) => {
        if (event.data === 'trainyard:port') Object.assign(globalThis, { testPort: event.ports[0] });
      });
    });
    // Not through the page: its own address changes while it starts would count as another navigation.
    await (await electron.browserWindow(page)).evaluate((window) => window.webContents.reload());
    await page.waitForFunction(() => 'testPort' in globalThis);
  }
  const answer = await page.evaluate(
    ({ name, request }) =>
      new Promise<{ kind: string; value?: unknown; error?: { message: string } }>((resolve) => {
        const { testPort } = globalThis as unknown as { testPort: MessagePort };
        // Numbers the page's own calls never reach.
        const id = 1e9 + Math.floor(Math.random() * 1e9);
        const listen = ({ data }: MessageEvent): void => {
          if (data.id !== id) return;
          testPort.removeEventListener('message', listen);
          resolve(data);
        };
        testPort.addEventListener('message', listen);
        testPort.start();
        testPort.postMessage({ service: 'default', kind: 'call', id, name, request });
      }),
    { name, request },
  );
  if (answer.kind === 'error') throw new Error(answer.error?.message);
  return answer.value as T;
}

/** Drops files on the window, as a person would: through Chromium's own drag and drop. */
export async function dropFiles({ page }: App, ...files: readonly string[]): Promise<void> {
  // What takes drops is there with the rest of the window.
  await page.getByRole('navigation').first().waitFor();
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [...files], dragOperationsMask: 1 };
  const { width, height } = await page.evaluate(() => ({ width: innerWidth, height: innerHeight }));
  const send = (type: 'dragEnter' | 'dragOver' | 'drop') =>
    session.send('Input.dispatchDragEvent', { type, x: width / 2, y: height / 2, data });
  await send('dragEnter');
  // Nobody lets go before the window has said what it would do; until then the system tells again and again where the pointer is.
  await expect(async () => {
    await send('dragOver');
    await expect(page.locator('.overlay')).toBeVisible({ timeout: 350 });
  }).toPass({ timeout: 30_000, intervals: [0] });
  await send('drop');
  await session.detach();
}

/** Answers the next system question with the button of this name; gives what tells whether it has come. */
export async function answerDialog({ electron }: App, button: RegExp): Promise<() => Promise<boolean>> {
  await electron.evaluate(({ dialog }, pattern) => {
    const original = dialog.showMessageBox;
    const answer = async (...args: unknown[]): Promise<{ response: number; checkboxChecked: boolean }> => {
      Object.assign(dialog, { showMessageBox: original, wasAnswered: true });
      const { buttons = [] } = args[args.length - 1] as { buttons?: string[] };
      return { response: buttons.findIndex((name) => new RegExp(pattern).test(name)), checkboxChecked: false };
    };
    Object.assign(dialog, { showMessageBox: answer, wasAnswered: false });
  }, button.source);
  return () => electron.evaluate(({ dialog }) => 'wasAnswered' in dialog && dialog.wasAnswered === true);
}

/** Resolves when the page has dealt with what was done so far and has been drawn. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))),
  );
}

/** Answers the next open dialog with this path. */
export async function chooseNext({ electron }: App, chosen: string): Promise<void> {
  await electron.evaluate(({ dialog }, file) => {
    const original = dialog.showOpenDialog;
    dialog.showOpenDialog = (async () => {
      dialog.showOpenDialog = original;
      return { canceled: false, filePaths: [file] };
    }) as typeof dialog.showOpenDialog;
  }, chosen);
}

/** Answers the next save dialog with this path. */
export async function saveNextAs({ electron }: App, chosen: string): Promise<void> {
  await electron.evaluate(({ dialog }, file) => {
    const original = dialog.showSaveDialog;
    dialog.showSaveDialog = (async () => {
      dialog.showSaveDialog = original;
      return { canceled: false, filePath: file };
    }) as typeof dialog.showSaveDialog;
  }, chosen);
}

/** Chooses an item of the native menu. */
export async function chooseFromMenu({ electron }: App, menu: string, item: string): Promise<void> {
  await electron.evaluate(
    ({ Menu }, [menuName, itemName]) => {
      const items = Menu.getApplicationMenu()?.items.find(({ label }) => label === menuName)?.submenu?.items ?? [];
      items.find(({ label }) => label === itemName)?.click();
    },
    [menu, item],
  );
}

/** Closes the window as its close button does. */
export async function closeWindow({ electron, page }: App): Promise<void> {
  await (await electron.browserWindow(page)).evaluate((window) => window.close());
}

export async function windowIsVisible({ electron, page }: App): Promise<boolean> {
  return (await electron.browserWindow(page)).evaluate((window) => window.isVisible());
}

/** A picture for a person to look at, kept where TRAINYARD_PICTURES is 1; without it the page is drawn and that is all. */
export async function screenshot({ page }: App, name: string): Promise<void> {
  if (process.env['TRAINYARD_PICTURES'] !== '1') return drawn(page);
  await page.screenshot({ path: path.join(screenshots, `${name}.png`) });
}

/** Playwright's `test`, with an app of its own for each test. */
export const test = base.extend<{ app: App; provoked: RegExp | null }>({
  /** What the tests of a file make the window fail with on purpose: `test.use({ provoked: … })`. */
  provoked: [null, { option: true }],
  app: async ({ provoked }, use, info) => {
    const app = await launch();
    await use(app);
    const failed = await tellFailure(app, info);
    const errors = errorsOfWindow(app, provoked);
    await end(app, failed);
    if (!failed) expect(errors).toEqual([]);
  },
});

/**
 * The same with one app for all tests of a file that use it, in their order: for tests that leave it working. Each begins with the
 * page loaded anew, at its first view; after a failure the next has a fresh app.
 */
export function testsOfOneApp(options: LaunchOptions = {}): typeof test {
  let shared: App | null = null;
  const sharing = test.extend({
    app: async ({ provoked }, use, info) => {
      if (shared) await loadAnew(shared);
      const app = (shared ??= await launch(options));
      await use(app);
      const failed = await tellFailure(app, info);
      const errors = errorsOfWindow(app, provoked);
      if (failed || errors.length > 0) {
        shared = null;
        await end(app, true);
      }
      if (!failed) expect(errors).toEqual([]);
    },
  });
  sharing.afterAll(async () => {
    if (shared) await end(shared);
    shared = null;
  });
  return sharing;
}

async function loadAnew({ electron, page }: App): Promise<void> {
  await page.evaluate(() => (location.hash = '#welcome'));
  const loaded = page.waitForEvent('load');
  await (await electron.browserWindow(page)).evaluate((window) => window.webContents.reload());
  await loaded;
}

/** Of a test that failed: a picture, and what the app wrote. */
async function tellFailure(app: App, { status, expectedStatus, title }: TestInfo): Promise<boolean> {
  if (status === expectedStatus) return false;
  const picture = path.join(screenshots, `failed-${title.replace(/\W+/g, '-')}.png`);
  await app.page.screenshot({ path: picture }).catch(() => undefined);
  process.stderr.write(app.stderr());
  return true;
}

/** What the page did not catch, which leaves a part of it empty: a test can pass beside that. */
function errorsOfWindow({ home }: App, provoked: RegExp | null): readonly string[] {
  return listCrashes(home)
    .filter(({ part, what }) => part === 'window' && provoked?.test(what) !== true)
    .map(({ what, trace }) => `${what}\n${trace}`);
}

/** Where a test failed, its run may go on: closing would ask about it, and nobody answers. */
async function end(app: App, failed = false): Promise<void> {
  if (failed) app.electron.process().kill('SIGKILL');
  await app.close();
  fs.rmSync(app.home, { recursive: true, force: true, maxRetries: 5 });
}

export { expect };
