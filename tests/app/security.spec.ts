// What the pages of the app cannot do, tried from inside the real window: everything here is asked for by a page that has been
// taken over, and refused.

import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { callService, dropFiles, electronChoice, expect, test, windowIsVisible, type App } from './launch.ts';

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

test('the page goes nowhere else and opens no window', async ({ app }) => {
  // The page names its own view behind the hash; the address before it stays.
  const address = (): string => app.page.url().split('#')[0];
  const here = address();
  for (const elsewhere of ['https://example.org/', 'file:///etc/passwd', 'data:text/html,hello']) {
    await app.page.evaluate((target) => {
      const link = document.createElement('a');
      link.href = target;
      document.body.append(link);
      link.click();
      link.target = '_blank';
      link.click();
      window.open(target);
    }, elsewhere);
  }
  await app.page.waitForTimeout(300);
  expect(address()).toBe(here);
  expect(app.electron.windows().filter((page) => !page.url().includes('/gpu/'))).toHaveLength(1);
});

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
  await dropFiles(app, file);
  await expect(app.page.getByText('dropped').first()).toBeVisible();
  expect(await app.page.evaluate(() => document.documentElement.outerHTML)).not.toContain(app.home);
  expect(await callService<readonly unknown[]>(app, 'datasets')).toHaveLength(1);
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
