// The release as a person has it: its folder copied away from the checkout, belonging to root where the tests may do that,
// started by an ordinary account with Chromium's sandbox and an empty environment. Its fuses keep Playwright out, so it is driven
// through Chromium's own `--remote-debugging-port`: real clicks, keys and drops, and what the page shows.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from '@playwright/test';
import { root } from './launch.ts';

const release = path.join(root, 'dist', 'linux-unpacked');
/** `nobody` on Debian, Fedora and Arch; used when the tests run as root. */
const ordinary = { uid: 65534, gid: 65534 };
const account = process.getuid?.() === 0 ? ordinary : {};

/** For each thing the page is to show. The whole package starts anew on a machine that may be busy with other tests. */
const patience = 40_000;

export interface Installation {
  readonly program: string;
  /** The ordinary account that starts it; empty: the tests' own. */
  readonly account: { readonly uid?: number; readonly gid?: number };
  /** The account's home, for files it may read. */
  readonly home: string;
  /** Hands a file to the account. */
  give(file: string): void;
  /** Ends what still runs of it, too. */
  remove(): void;
}

export function install(): Installation {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-installed-'));
  fs.chmodSync(folder, 0o755);
  const [app, home] = [path.join(folder, 'app'), path.join(folder, 'home')];
  fs.cpSync(release, app, { recursive: true });
  fs.mkdirSync(home);
  const give = (file: string): void => {
    if ('uid' in account) fs.chownSync(file, ordinary.uid, ordinary.gid);
  };
  give(home);
  if ('uid' in account && !hasUserNamespaces()) {
    // As the deb's installation does on such systems.
    fs.chownSync(path.join(app, 'chrome-sandbox'), 0, 0);
    fs.chmodSync(path.join(app, 'chrome-sandbox'), 0o4755);
  }
  const program = path.join(app, 'trainyard');
  const remove = (): void => {
    spawnSync('kill', ['-9', ...processesOf(program).map(({ pid }) => String(pid))], { stdio: 'ignore' });
    fs.rmSync(folder, { recursive: true, force: true });
  };
  return { program, account, home, give, remove };
}

/** Chromium's sandbox needs them, or its helper with root's rights. */
function hasUserNamespaces(): boolean {
  return spawnSync('unshare', ['--user', 'true'], account).status === 0;
}

export interface Started {
  readonly page: DevTools;
  readonly stderr: () => string;
  /** Command lines of the app's processes, and what the kernel says of them, by process number. */
  processes(): readonly { readonly pid: number; readonly command: string; readonly status: string }[];
  /** As the system asks a program to end: the exit code. */
  quit(): Promise<number | null>;
}

/** What every session has: a home, a screen and a path. */
export function sessionOf({ home, give }: Installation): Record<string, string> {
  const env: Record<string, string> = { HOME: home, PATH: '/usr/bin:/bin', DISPLAY: process.env['DISPLAY'] ?? '' };
  if (process.env['XAUTHORITY']) {
    env['XAUTHORITY'] = path.join(home, '.Xauthority');
    fs.copyFileSync(process.env['XAUTHORITY'], env['XAUTHORITY']);
    give(env['XAUTHORITY']);
  }
  return env;
}

/** @param variables  on top of what every session has */
export async function start(installation: Installation, variables: Record<string, string> = {}): Promise<Started> {
  const { program, account, home } = installation;
  const env = { ...sessionOf(installation), ...variables };
  const child = spawn(program, ['--remote-debugging-port=0'], { ...account, env, cwd: home });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let stderr = '';
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const address = await debuggerAddress(child, () => stderr);
  return {
    page: await DevTools.open(address),
    stderr: () => stderr,
    processes: () => processesOf(program),
    async quit() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

export async function debuggerAddress(child: ChildProcess, stderr: () => string): Promise<string> {
  const found = (): string | undefined => /DevTools listening on ws:\/\/([\d.:]+)\//.exec(stderr())?.[1];
  await expect
    .poll(() => found() ?? (child.exitCode === null ? null : stderr()), {
      message: 'the program starts',
      timeout: patience,
    })
    .not.toBeNull();
  return found() ?? Promise.reject(new Error(`The package ended with ${child.exitCode}: ${stderr()}`));
}

export function processesOf(program: string): ReturnType<Started['processes']> {
  const folder = path.dirname(program);
  return fs.readdirSync('/proc').flatMap((entry) => {
    try {
      const read = (name: string): string => fs.readFileSync(`/proc/${entry}/${name}`, 'utf8');
      const command = read('cmdline').replaceAll('\0', ' ');
      return command.startsWith(folder) ? [{ pid: Number(entry), command, status: read('status') }] : [];
    } catch {
      return [];
    }
  });
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The window's page over the DevTools protocol: as much of it as a walk through the app needs. */
export class DevTools {
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (answer: Answer) => void>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
      const message = JSON.parse(data) as Answer;
      if (message.id !== undefined) this.#answers.get(message.id)?.(message);
    });
    socket.addEventListener('close', () => {
      for (const answer of this.#answers.values()) answer({ error: { message: 'the app has ended' } });
    });
  }

  /** @param address  host and port */
  static async open(address: string): Promise<DevTools> {
    interface Target {
      readonly type: string;
      readonly url: string;
      readonly webSocketDebuggerUrl: string;
    }
    let url: string | undefined;
    await expect
      .poll(async () => {
        const targets = (await (await fetch(`http://${address}/json/list`)).json()) as readonly Target[];
        // Not the hidden page that looks for a GPU meanwhile.
        const isMain = ({ url }: Target): boolean => url.includes('/index.html') && !url.includes('/gpu/');
        return (url = targets.find(isMain)?.webSocketDebuggerUrl);
      })
      .toBeDefined();
    const socket = new WebSocket(url ?? '');
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('The page cannot be reached.')));
    });
    return new DevTools(socket);
  }

  async #send<T>(method: string, params: object = {}): Promise<T> {
    const id = ++this.#last;
    const answer = await new Promise<Answer>((resolve) => {
      this.#answers.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
    this.#answers.delete(id);
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result as T;
  }

  async evaluate<T>(expression: string): Promise<T> {
    interface Evaluated {
      readonly result: { readonly value: T };
      readonly exceptionDetails?: { readonly text: string };
    }
    const { result, exceptionDetails } = await this.#send<Evaluated>('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return result.value;
  }

  /** Waits until the page shows this text. */
  async shows(text: string | RegExp, timeout = patience): Promise<void> {
    const expected = text instanceof RegExp ? text : new RegExp(text.replace(/[^\w\s]/g, '\\$&'));
    // A page that is being loaded cannot be asked.
    await expect(async () => {
      expect(await this.evaluate<string>('document.body?.innerText ?? ""')).toMatch(expected);
    }).toPass({ timeout });
  }

  /** Clicks the first button or link whose name begins so, once it is there. */
  async click(name: string): Promise<void> {
    let point: Point | null = null;
    let before: Point | null = null;
    await expect(async () => {
      before = point;
      point = await this.evaluate(`(() => {
        const named = [...document.querySelectorAll('button, a')].find((each) => !each.disabled &&
          (each.getAttribute('aria-label') ?? each.textContent).trim().startsWith(${JSON.stringify(name)}));
        if (!named) return null;
        named.scrollIntoView({ block: 'nearest' });
        const { left, top, width, height } = named.getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2 };
      })()`);
      expect(point, `a button or link “${name}”`).not.toBeNull();
      expect(point, `“${name}” where it was a moment before`).toEqual(before);
    }).toPass({ timeout: patience });
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.#send('Input.dispatchMouseEvent', { type, ...(point ?? {}), button: 'left', clickCount: 1 });
    }
  }

  /** Drags the file over the window until that says where it may fall, then lets go. */
  async drop(file: string): Promise<void> {
    const data = { items: [], files: [file], dragOperationsMask: 1 };
    const drag = (type: string): Promise<unknown> =>
      this.#send('Input.dispatchDragEvent', { type, x: 600, y: 400, data });
    await expect(async () => {
      await drag('dragEnter');
      await drag('dragOver');
      await this.shows('Drop to import', 1000);
    }).toPass({ timeout: patience });
    await drag('drop');
  }
}
