// Starts the store's process under plain Node and connects to it: for the command line, and for the app where its own
// Node is too old for better-sqlite3.

import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { TrainyardError } from '../protocol/errors.ts';
import { installAgain } from '../protocol/loading.ts';
import type { HostProcess } from '../protocol/command-line.ts';
import { historyIdentity } from './home.ts';
import { processPort } from '../protocol/port.node.ts';
import { whenReady } from '../protocol/port.ready.ts';
import { Reviving, type Living } from '../protocol/reviving.ts';
import { connect } from '../protocol/rpc.ts';
import type { Service } from '../protocol/rpc.ts';
import type { JobProgress, RestoreReport, RestoreService } from '../protocol/keeping.ts';
import type { RepairReport, RepairService, StoreService } from '../protocol/store.ts';

export { processOwner } from './owner.ts';

export interface StoreProcessOptions {
  /** Folder of the history; made if it is not there. */
  readonly home: string;
  /** File that runs as the store's process; default: electron/hosts/store.ts, or what the build has made of it. */
  readonly entry?: URL | string;
  /** Node that runs it, 22.14 or newer; default: this process's own. */
  readonly node?: string;
  /** Starts the process where this one's program is no Node. */
  readonly start?: (args: readonly string[]) => HostProcess;
}

const ownEntry = new URL('../../electron/hosts/store.ts', import.meta.url);
/** better-sqlite3 crashes a process whose Node-API is older. */
const nodeApiNeeded = 10;
/** Starts within the window after which a store that keeps dying is given up. */
const restarts = { most: 5, windowMilliseconds: 60_000 };
/** How long a closed store may take to end before it is killed. */
const closeMilliseconds = 5_000;

/**
 * The history of a home, served by a process of its own. Should that process die, the calls under way reject with
 * `internal.disconnected`, and the next one starts it again; a process that keeps dying is given up. `close` ends it; it also
 * ends when this process does. Rejects with the store's own error (`store.newer`, `store.corrupt`, …) or with
 * `store.not_started`.
 */
export async function openStore(options: StoreProcessOptions): Promise<StoreService> {
  let begunWith: string | null = null;
  const reviving = new Reviving<StoreService, StoreProcess<StoreService>>({
    async open() {
      const living = await openProcess<StoreService>(options, begunWith === null ? [] : [`--history=${begunWith}`]);
      begunWith ??= historyIdentity(options.home);
      return living;
    },
    restarts,
    tooMany: (times) =>
      new TrainyardError(
        'store.not_started',
        `The store process ended ${times} times within a minute and is not started again for now.`,
        'Free memory if the machine is short of it, and try again in a minute.',
      ),
    own: {
      async close() {
        const started = reviving.isStarted ? await reviving.living().catch(() => null) : null;
        reviving.close(new TrainyardError('internal.disconnected', 'The history has been closed.'));
        await started?.close();
      },
    },
  });
  await reviving.living();
  return reviving.service;
}

/** Repairs the history of a home in a process of its own, and says what was done. Rejects like `openStore`. */
export async function repairHistory(options: StoreProcessOptions): Promise<RepairReport> {
  const { remote, close } = await openProcess<RepairService>(options, ['--repair']);
  try {
    return await remote.repair();
  } finally {
    await close();
  }
}

/** A backup being restored to a home by a process of its own. */
export interface Restoring {
  readonly report: Promise<RestoreReport>;
  /** The report rejects with CancelledError then, if it is not too late. */
  cancel(): void;
}

/** Restores a home from a backup. The report rejects like `openStore`, and with what `restoreHome` throws. */
export async function restoreHistory(
  options: StoreProcessOptions,
  file: string,
  onProgress: (progress: JobProgress) => void,
): Promise<Restoring> {
  const { remote, close } = await openProcess<RestoreService>(options, ['--restore']);
  remote.onRestoreProgress(onProgress);
  return {
    report: remote.restore({ file }).finally(close),
    cancel: () => void remote.cancelRestore().catch(() => undefined),
  };
}

interface StoreProcess<T> extends Living<T> {
  close(): Promise<void>;
}

async function openProcess<T extends Service<T>>(
  options: StoreProcessOptions,
  args: readonly string[] = [],
): Promise<StoreProcess<T>> {
  const start = options.start ?? ((all: readonly string[]) => startNode(options, all));
  const { port, ready, ended, kill } = start([`--home=${options.home}`, ...args]);
  const remote = connect<T>(port, { peer: 'the store process' });
  try {
    await ready;
  } catch (error) {
    port.close();
    throw error;
  }
  return {
    remote,
    ended,
    async close() {
      // It closes its files when nobody listens any more.
      port.close();
      const timer = setTimeout(kill, closeMilliseconds);
      await ended;
      clearTimeout(timer);
    },
  };
}

function startNode({ entry = ownEntry, node }: StoreProcessOptions, args: readonly string[]): HostProcess {
  if (node === undefined && Number(process.versions.napi) < nodeApiNeeded) {
    throw new TrainyardError(
      'store.not_started',
      `The history needs Node 22.14 or newer; this is ${process.version}.`,
      'Start Trainyard with the Node that its set-up installs (npm start).',
    );
  }
  const child = fork(entry, [...args], {
    serialization: 'advanced',
    execPath: node ?? process.execPath,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const port = processPort(child);
  return {
    port,
    ready: started(child, whenReady(port, 'The store process')),
    ended: new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? code}`));
    }),
    kill: () => void child.kill('SIGKILL'),
  };
}

/** `ready`, or why the process did not get so far: it could not be found, or what it wrote before it died. */
async function started(child: ChildProcess, ready: Promise<void>): Promise<void> {
  let written = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (written = (written + text).slice(-2_000)));
  const died = new Promise<never>((_resolve, reject) => {
    child.once('error', (error) => reject(notStarted(error.message, error)));
    // `close`, not `exit`: only then has all been read that the process wrote.
    child.once('close', (code, signal) => reject(notStarted(written.trim() || `it ended with ${signal ?? code}`)));
  });
  died.catch(() => undefined);
  await Promise.race([ready.catch((error: unknown) => (isDisconnected(error) ? died : Promise.reject(error))), died]);
}

function isDisconnected(error: unknown): boolean {
  return error instanceof TrainyardError && error.code === 'internal.disconnected';
}

function notStarted(reason: string, cause?: unknown): TrainyardError {
  return new TrainyardError(
    'store.not_started',
    `The store process could not be started: ${reason}`,
    `If it stays so, ${installAgain}; report it with this message if that does not help.`,
    { cause },
  );
}
