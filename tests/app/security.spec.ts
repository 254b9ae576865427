// What the pages of the app cannot do, tried from inside the real window: everything here is asked for by a page that has been
// taken over, and refused.

import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import {
  callService,
  chooseFromMenu,
  dropFiles,
  electronChoice,
  expect,
  test as ownTest,
  testsOfOneApp,
  windowIsVisible,
  type App,
} from './launch.ts';

/** One app for all that leaves the window as it is; how often it has been brought back is counted. */
const test = testsOfOneApp();
test.use({ provoked: /^AbortError: Navigation was aborted$/ });

test('the page is sandboxed, isolated and without Node', async ({ app }) => {
  const globals = await app.page.evaluate(() => {
    const scope = globalThis as Record<string, unknown>;
    return ['require', 'process', 'module', 'Buffer', 'electron'].filter((name) => scope[name] !== undefined);
  });
  expect(globals).toEqual([]);
  expect(
    await app.page.evaluate(() => Object.keys((globalThis as unknown as Record<string, object>)['trainyard'])),
  ).toEqual(['dropped']);
  const window = await app.electron.browserWindow(app.page);
  const preferences = await window.evaluate(({ webContents }) =>
    (webContents as unknown as { getLastWebPreferences(): Record<string, unknown> }).getLastWebPreferences(),
  );
  expect(preferences).toMatchObject({
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    webSecurity: true,
  });
});

test('the content-security policy allows nothing inline, no eval and nothing from elsewhere', async ({ app }) => {
  const policy = await app.page.evaluate(async () => {
    const response = await fetch('app://trainyard/index.html');
    return response.headers.get('content-security-policy');
  });
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  const inline = await app.page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'globalThis.injected = true';
    document.head.append(script);
    return (globalThis as Record<string, unknown>)['injected'];
  });
  expect(inline).toBeUndefined();
  const evaluated = await app.page.evaluate(() => {
    const button = document.createElement('button');
    button.setAttribute('onclick', 'globalThis.clicked = true');
    document.body.append(button);
    button.click();
    return (globalThis as Record<string, unknown>)['clicked'];
  });
  expect(evaluated).toBeUndefined();
});

test('nothing leaves the machine, and every attempt is counted', async ({ app }) => {
  const server = await listen();
  const attempts = await app.page.evaluate(async (address) => {
    const refused = (attempt: Promise<unknown>): Promise<string> =>
      attempt.then(
        () => 'went through',
        () => 'refused',
      );
    const loaded = (element: HTMLImageElement | HTMLScriptElement): Promise<unknown> =>
      new Promise((resolve, reject) => {
        element.onload = resolve;
        element.onerror = reject;
        element.src = address;
        document.head.append(element);
      });
    return {
      fetch: await refused(fetch(address)),
      image: await refused(loaded(document.createElement('img'))),
      script: await refused(loaded(document.createElement('script'))),
      socket: await refused(
        new Promise((resolve, reject) => {
          const socket = new WebSocket(address.replace('http', 'ws'));
          socket.onopen = resolve;
          socket.onerror = reject;
        }),
      ),
      beacon: navigator.sendBeacon(address, 'x') ? 'queued' : 'refused',
    };
  }, server.address);
  expect(attempts).toMatchObject({ fetch: 'refused', image: 'refused', script: 'refused', socket: 'refused' });

  // Past the page's policy: the session itself refuses, and counts.
  const before = await blocked(app);
  const outcome = await app.electron.evaluate(async ({ session, net }, address) => {
    const ways = { session: session.defaultSession.fetch(address), net: net.fetch(address) };
    const results: Record<string, string> = {};
    for (const [name, way] of Object.entries(ways)) {
      results[name] = await way.then(
        () => 'went through',
        () => 'refused',
      );
    }
    return results;
  }, server.address);
  expect(outcome).toEqual({ session: 'refused', net: 'refused' });
  expect(await blocked(app)).toBe(before + 2);
  expect(server.requests()).toBe(0);
  server.close();
});

test('names are not resolved', async ({ app }) => {
  const resolved = await app.electron.evaluate(async ({ session }) =>
    session.defaultSession.resolveHost('localhost').then(
      (answer) => JSON.stringify(answer),
      (error: Error) => error.message,
    ),
  );
  expect(resolved).toContain('ERR_NAME_NOT_RESOLVED');
});

test('permissions are denied', async ({ app }) => {
  const answers = await app.page.evaluate(async () => {
    const names = ['geolocation', 'notifications', 'camera', 'microphone', 'midi', 'persistent-storage'];
    const states: Record<string, string> = {};
    for (const name of names) {
      states[name] = await navigator.permissions.query({ name: name as PermissionName }).then(
        ({ state }) => state,
        () => 'unknown',
      );
    }
    states['media'] = await navigator.mediaDevices.getUserMedia({ audio: true }).then(
      () => 'granted',
      () => 'denied',
    );
    return states;
  });
  expect(Object.values(answers)).not.toContain('granted');
  expect(Object.values(answers)).not.toContain('prompt');
});

/** Ways out of the window that leave the page as it is, to the variable in it. */
const waysOut: readonly string[] = [
  "location.href = 'https://example.org/'",
  "location.href = 'file:///etc/passwd'",
  "location.href = 'data:text/html,hello'",
  "location.href = 'about:blank'",
  "location.href = 'about:srcdoc'",
  "location.href = 'about:srcdoc#run/1'",
  "location.assign('about:blank?x')",
  "location.replace('about:blank#blocked')",
  "location.href = URL.createObjectURL(new Blob(['<p>hello'], { type: 'text/html' }))",
  "location.href = 'javascript:document.body.remove()'",
  "location.href = 'view-source:app://trainyard/index.html'",
  "location.href = 'chrome://gpu'",
  "location.href = 'chrome://crash'",
  "location.href = 'devtools://devtools/bundled/inspector.html'",
  "location.href = 'mailto:someone@example.org'",
  "location.href = 'app://trainyard/gpu/index.html'",
  "location.href = 'app://elsewhere/index.html'",
  "location.pathname = '/../../electron/main.cjs'",
  "location.search = '?elsewhere'",
  'location.reload()',
  "history.pushState({}, '', '/gpu/index.html')",
  "history.replaceState({}, '', '/nothing/here.html?x#y')",
  'history.go(-100)',
  "navigation.navigate('about:blank').finished.catch(() => 0), 0",
  "open('about:blank', '_self'), 0",
  "open('about:blank'), 0",
  "open('https://example.org/', 'other', 'popup'), 0",
  "make('a', { href: 'about:srcdoc' }).click()",
  "make('a', { href: 'about:blank', target: '_blank' }).click()",
  "make('a', { href: 'data:text/plain,x', download: 'x.txt' }).click()",
  "make('form', { action: 'about:blank' }).submit()",
  "make('form', { action: 'app://trainyard/index.html', method: 'post', target: '_top' }).submit()",
  "make('meta', { httpEquiv: 'refresh', content: '0;url=about:blank' })",
  "make('base', { href: 'https://example.org/' }), make('a', { href: 'x.html' }).click()",
];

/** Ways to show something else in the window: it is loaded again. */
const waysIn: readonly string[] = [
  "make('iframe', { srcdoc: '<p>hello' })",
  "make('iframe', { src: 'https://example.org/' })",
  "make('iframe', {}).contentWindow.open('about:srcdoc', '_top'), 0",
];

ownTest('37 ways out of the window lead nowhere', async ({ app }) => {
  const browser = await app.electron.browserWindow(app.page);
  const make = `globalThis.make ??= (name, values) => {
    const element = Object.assign(document.createElement(name), values);
    document.head.append(element);
    return element;
  };`;
  await app.page.getByRole('navigation').first().waitFor();
  for (const way of waysOut) {
    const stayed = await browser.evaluate(async ({ webContents }, code) => {
      await webContents.executeJavaScript(code).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 150));
      return webContents.executeJavaScript('"make" in globalThis && document.querySelector("main") !== null');
    }, `${make} ${way}; 0`);
    expect.soft([way, stayed]).toEqual([way, true]);
  }
  expect(app.page.url()).toMatch(/^app:\/\/trainyard\/index\.html#/);
  for (const way of waysIn) {
    await browser.evaluate(
      ({ webContents }, code) => webContents.executeJavaScript(code).catch(() => undefined),
      `${make} ${way}; 0`,
    );
    await expect(app.page.getByText('It was loaded again; runs went on'), way).toBeVisible();
    await expectWorking(app);
    await chooseFromMenu(app, 'View', 'Reload');
    await expect(app.page.getByText('It was loaded again; runs went on')).toBeHidden();
    await expectWorking(app);
  }
  expect(app.electron.windows().filter((page) => !page.url().includes('/gpu/'))).toHaveLength(1);
  expect(await callService<readonly unknown[]>(app, 'datasets')).toEqual([]);
});

ownTest('a window that Chromium itself leads elsewhere is brought back', async ({ app }) => {
  const browser = await app.electron.browserWindow(app.page);
  await app.page.evaluate(() => (location.hash = '#settings'));
  for (const address of ['about:blank', 'about:srcdoc', 'chrome://nothing/']) {
    await browser.evaluate(({ webContents }, url) => webContents.loadURL(url).catch(() => undefined), address);
    await expectWorking(app);
    expect(app.page.url()).toBe('app://trainyard/index.html#settings');
  }
});

/** The window shows the app's page, whole and alone, made anew if it has been gone. */
async function expectWorking(app: App): Promise<void> {
  await expect.poll(() => app.page.evaluate(() => 'make' in globalThis).catch(() => true)).toBe(false);
  await expect(app.page.getByRole('navigation').first()).toBeVisible();
  expect(app.page.frames()).toHaveLength(1);
}

test('the scheme serves the pages and nothing beside them', async ({ app }) => {
  const statuses = await app.page.evaluate(async () => {
    const paths = [
      '/index.html',
      '/../electron/main.cjs',
      '/%2e%2e/electron/main.cjs',
      '/..%2felectron%2fmain.cjs',
      '/',
    ];
    return Promise.all(paths.map(async (path) => (await fetch(`app://trainyard${path}`)).status));
  });
  expect(statuses).toEqual([200, 404, 404, 404, 404]);
});

test('the preload’s bridge takes files, not paths', async ({ app }) => {
  const outcomes = await app.page.evaluate(async () => {
    const { dropped } = (globalThis as unknown as { trainyard: { dropped(file: unknown): Promise<unknown> } })
      .trainyard;
    const attempts = ['/etc/passwd', { path: '/etc/passwd' }, new File(['x'], 'made-up.csv')];
    return Promise.all(
      attempts.map((attempt) =>
        dropped(attempt).then(
          (answer) => ((answer as { error?: { code: string } }).error?.code === 'input.no_file' ? 'refused' : 'token'),
          () => 'refused',
        ),
      ),
    );
  });
  expect(outcomes).toEqual(['refused', 'refused', 'refused']);
});

test('a dropped file is imported by a token; its path is shown nowhere', async ({ app }) => {
  const file = path.join(app.home, 'dropped.csv');
  fs.writeFileSync(file, ['width,height', ...Array.from({ length: 50 }, (_, i) => `${i},${i % 7}`)].join('\n'));
  await app.page.getByRole('navigation').first().waitFor();
  await dropFiles(app, file);
  await expect(app.page.getByText('dropped').first()).toBeVisible();
  await expect.poll(() => callService<readonly unknown[]>(app, 'datasets')).toHaveLength(1);
  expect(await app.page.evaluate(() => document.documentElement.outerHTML)).not.toContain(app.home);
});

test('only the window’s own page is answered', async ({ app }) => {
  const answered = await app.electron.evaluate(async ({ BrowserWindow, app: electron }) => {
    const stranger = new BrowserWindow({
      show: false,
      webPreferences: { preload: `${electron.getAppPath()}/build/electron/preload.cjs`, sandbox: true },
    });
    const asked = new Promise<boolean>((resolve) => {
      stranger.webContents.postMessage = () => resolve(true);
      setTimeout(() => resolve(false), 1500);
    });
    await stranger.loadURL('app://trainyard/index.html');
    const answer = await asked;
    stranger.destroy();
    return answer;
  });
  expect(answered).toBe(false);
});

test('one instance a home; a second start shows the first', async ({ app }) => {
  await (await app.electron.browserWindow(app.page)).evaluate((window) => window.hide());
  const { executable, args } = electronChoice();
  const code = await new Promise((resolve) => {
    const env = { ...process.env, TRAINYARD_HOME: app.home };
    execFile(executable, [...args, '--no-sandbox'], { env }, (error) => resolve(error?.code ?? 0));
  });
  expect(code).toBe(0);
  await expect.poll(() => windowIsVisible(app)).toBe(true);
});

async function blocked(app: App): Promise<number> {
  return (await callService<{ blocked: number }>(app, 'network')).blocked;
}

/** A server that everything here tries to reach, and nothing does. */
async function listen(): Promise<{ address: string; requests(): number; close(): void }> {
  let requests = 0;
  const server = http.createServer((_request, response) => {
    requests += 1;
    response.end('reached');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { address: `http://127.0.0.1:${port}/`, requests: () => requests, close: () => server.close() };
}
