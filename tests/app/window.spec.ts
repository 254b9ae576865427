// The window's page: it crashes, hangs and keeps dying, and the window comes back on the same view while runs go on. Playwright
// has nothing more to do with a page that has crashed, so it is asked through the main process.

import { answerDialog, chooseFromMenu, expect, test, type App } from './launch.ts';
import { importTable, startRun, waitForEpoch, writeTable } from './scene.ts';

test.use({ provoked: /^Its process ended/ });

test('a page that crashes, hangs or fails is loaded again on its view, and the run goes on', async ({ app }) => {
  const dataset = await importTable(app, writeTable(app.home, 2000));
  const { id } = await startRun(app, dataset, 100_000);
  await waitForEpoch(app, id, 2);
  await app.page.evaluate((hash) => (location.hash = hash), `#run/${id}`);
  await app.page.getByRole('heading', { name: 'A run' }).waitFor();

  const before = await epochShown(app);
  await crash(app);
  await expect.poll(() => inPage(app, 'document.body.innerText')).toContain('It was loaded again; runs went on');
  expect(await inPage(app, 'document.body.innerText')).toMatch(/The window (crashed|was ended from outside)\./);
  expect(await inPage(app, 'location.hash')).toBe(`#run/${id}`);
  await expect.poll(() => epochShown(app)).toBeGreaterThan(before);

  // A page that does not answer is ended ten seconds after Chromium has said so.
  void inPage(app, 'for (;;);').catch(() => undefined);
  await sayUnresponsive(app);
  await expect
    .poll(() => inPage(app, 'document.body.innerText'), { timeout: 30_000 })
    .toContain('The window did not answer any more.');
  expect(await inPage(app, 'location.hash')).toBe(`#run/${id}`);

  // Reloaded on request, there is nothing to be said.
  await chooseFromMenu(app, 'View', 'Reload');
  await expect.poll(() => inPage(app, 'document.body.innerText')).not.toContain('The window did not answer');
  const later = await epochShown(app);
  await expect.poll(() => epochShown(app)).toBeGreaterThan(later);
  // Closing asks about the run.
  await answerDialog(app, /Stop/);
});

test('a page that is written over is made anew', async ({ app }) => {
  await app.page.getByRole('navigation').first().waitFor();
  for (const way of ["document.open(), document.write('<p>hello'), document.close()", 'document.open(), 0']) {
    await inPage(app, way);
    await expect.poll(() => inPage(app, 'document.body.innerText'), way).toContain('It was loaded again; runs went on');
    await chooseFromMenu(app, 'View', 'Reload');
    await expect.poll(() => inPage(app, 'document.body.innerText'), way).not.toContain('It was loaded again');
  }
});

test('two wipes within a minute are two mishaps, though the page may die of being loaded again', async ({ app }) => {
  await app.page.getByRole('navigation').first().waitFor();
  for (const way of ["document.write('x')", 'document.open()', "document.write('y')"]) {
    await inPage(app, way);
    await expect.poll(() => inPage(app, 'document.body.innerText'), way).toContain('Something wiped the window');
    await expect.poll(() => inPage(app, 'document.querySelector("main") !== null'), way).toBe(true);
  }
});

test('a page that keeps dying is not loaded for ever: the person is asked, and Reload helps', async ({ app }) => {
  for (let time = 1; time <= 3; time++) {
    await crash(app);
    await expect.poll(() => inPage(app, 'document.querySelector("main") !== null')).toBe(true);
  }
  const asked = answerNext(app, 'Reload');
  await crash(app);
  expect(await asked).toMatchObject({
    message: 'The window keeps failing.',
    detail: expect.stringContaining('Runs go on all the same.') as unknown,
    buttons: ['Reload', 'Quit'],
  });
  await expect.poll(() => inPage(app, 'document.querySelector("main") !== null')).toBe(true);
});

test('Ctrl R loads the window again, from a new port', async ({ app }) => {
  await app.page.evaluate(() => Object.assign(globalThis, { old: true }));
  // Playwright's own keys go past the main process.
  await (
    await app.electron.browserWindow(app.page)
  ).evaluate(({ webContents }) =>
    webContents.sendInputEvent({ type: 'keyDown', keyCode: 'R', modifiers: ['control'] }),
  );
  await expect.poll(() => app.page.evaluate(() => 'old' in globalThis).catch(() => true)).toBe(false);
  await expect(app.page.getByRole('navigation').first()).toBeVisible();
  // The sample list comes over the port.
  await expect(app.page.getByText('Palmer penguins')).toBeVisible();
});

/** Evaluates in the page, past Playwright. */
async function inPage<T>({ electron }: App, code: string): Promise<T> {
  return electron.evaluate(async ({ BrowserWindow }, text) => {
    const window = BrowserWindow.getAllWindows().find(({ webContents }) =>
      webContents.getURL().startsWith('app://trainyard/index.html'),
    );
    // Nothing answers for a page that has just died.
    const never = new Promise((resolve) => setTimeout(() => resolve(''), 1000));
    return Promise.race([window?.webContents.executeJavaScript(text).catch(() => ''), never]);
  }, code) as Promise<T>;
}

async function crash({ electron }: App): Promise<void> {
  await electron.evaluate(({ BrowserWindow }) => {
    const window = BrowserWindow.getAllWindows().find(({ webContents }) =>
      webContents.getURL().startsWith('app://trainyard/index.html'),
    );
    return new Promise<void>((resolve) => {
      window?.webContents.once('render-process-gone', () => resolve());
      window?.webContents.forcefullyCrashRenderer();
    });
  });
}

/** What Chromium says of a page that has not answered for half a minute. */
async function sayUnresponsive({ electron }: App): Promise<void> {
  await electron.evaluate(({ BrowserWindow }) => {
    BrowserWindow.getAllWindows()
      .find(({ webContents }) => webContents.getURL().startsWith('app://trainyard/index.html'))
      ?.emit('unresponsive');
  });
}

/** The epoch the run's page shows; 0 while it shows none. */
async function epochShown(app: App): Promise<number> {
  const text = await inPage<string>(app, 'document.body.innerText');
  return Number(/Epoch ([\d,]+) of/.exec(text)?.[1].replaceAll(',', '') ?? 0);
}

/** Answers the next system question with a button, and returns the question. */
async function answerNext({ electron }: App, button: string): Promise<Electron.MessageBoxOptions> {
  return electron.evaluate(
    ({ dialog }, name) =>
      new Promise((resolve) => {
        const original = dialog.showMessageBox;
        const answer = async (...args: unknown[]): Promise<{ response: number; checkboxChecked: boolean }> => {
          dialog.showMessageBox = original;
          const question = args[args.length - 1] as Electron.MessageBoxOptions;
          resolve(question);
          return { response: question.buttons?.indexOf(name) ?? 0, checkboxChecked: false };
        };
        dialog.showMessageBox = answer as typeof dialog.showMessageBox;
      }),
    button,
  );
}
