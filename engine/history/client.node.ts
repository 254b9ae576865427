// Starts the store's process under plain Node and connects to it: for the command line, and for the app where its own
// Node is too old for better-sqlite3.

import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { TrainyardError } from '../protocol/errors.ts';
import { processPort } from '../protocol/port.node.ts';
import { whenReady } from '../protocol/port.ready.ts';
import { connect } from '../protocol/rpc.ts';
import type { StoreService } from '../protocol/runs.ts';

export { processOwner } from './owner.ts';

export interface StoreProcessOptions {
  /** Folder of the history; made if it is not there. */
  readonly home: string;
  /** File that runs as the store's process; default: electron/hosts/store.ts, or what the build has made of it. */
  readonly entry?: URL | string;
  /** Node that runs it, 22.14 or newer; default: this process's own. */
  readonly node?: string;
}

const ownEntry = new URL('../../electron/hosts/store.ts', import.meta.url);
/** better-sqlite3 crashes a process whose Node-API is older. */
const nodeApiNeeded = 10;
/** How long a closed store may take to end before it is killed. */
const closeMilliseconds = 5_000;

/**
 * The history of a home, served by a process of its own. `close` ends that process; it also ends when this one does.
 * Rejects with the store's own error (`store.newer`, `store.readonly`, …) or with `store.not_started`.
 */
export async function openStore(options: StoreProcessOptions): Promise<StoreService> {
  const child = startProcess(options);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = processPort(child);
  const remote = connect<StoreService>(port, { peer: 'the store process' });
  try {
    await started(child, whenReady(port, 'The store process'));
  } catch (error) {
    port.close();
    throw error;
  }

  // The rest of the service is the proxy's; a spread would find nothing in it.
  return Object.create(remote, {
    close: {
      async value() {
        if (child.connected) await remote.close();
        port.close();
        const timer = setTimeout(() => child.kill('SIGKILL'), closeMilliseconds);
        await exited;
        clearTimeout(timer);
      },
    },
  }) as StoreService;
}

function startProcess({ home, entry = ownEntry, node }: StoreProcessOptions): ChildProcess {
  if (node === undefined && Number(process.versions.napi) < nodeApiNeeded) {
    throw new TrainyardError(
      'store.not_started',
      `The history needs Node 22.14 or newer; this is ${process.version}.`,
      'Start Trainyard with the Node that its set-up installs (npm start).',
    );
  }
  return fork(entry, [`--home=${home}`], {
    serialization: 'advanced',
    execPath: node ?? process.execPath,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
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
    'Run the set-up again (npm start); if it stays so, report it with this message.',
    { cause },
  );
}
