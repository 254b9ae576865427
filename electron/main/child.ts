// Child processes of the main process: Electron's utility processes, and plain Node where a native module needs a newer
// Node-API than Electron has. Both look the same from here: a port, an end with its reason, a way to kill it.

import { fork } from 'node:child_process';
import { utilityProcess, type MessagePortMain } from 'electron';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import type { Port } from '../../engine/protocol/port.ts';
import { utilityProcessPort } from '../../engine/protocol/port.electron.ts';
import { processPort } from '../../engine/protocol/port.node.ts';
import type { LinkKind } from '../../engine/protocol/hosts.ts';
import { whenReady } from '../../engine/protocol/port.ready.ts';
import { endingOf } from '../../engine/system/ended.ts';
import { hasNodeApi, plainNode } from './plain-node.ts';
import { forkStandIn, wantsStandIns, type UtilityLike } from './stand-in.ts';

export interface Child {
  readonly port: Port;
  /** Resolves when the process serves, rejects with what kept it from that. */
  readonly ready: Promise<void>;
  /** Resolves with the reason, in words, when the process has ended. */
  readonly ended: Promise<string>;
  /** Hands the process one end of a channel to another one: for rows, or to a device that works beside it. Plain Node processes cannot take one. */
  link(end: MessagePortMain, what?: LinkKind): void;
  /** Lets the process finish what it is writing and end. */
  end(): void;
  /** Ends it at once. */
  kill(): void;
}

export interface ChildOptions {
  /** For people and process lists: "store". */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** Standard output is a command's own: what the process writes there is dropped. */
  readonly quiet?: boolean;
  /** Called when the process has ended in a way nobody asked for. */
  readonly failed?: (part: string, what: string) => void;
}

export function startUtilityProcess(options: ChildOptions): Child {
  const { name, file, args, quiet = false } = options;
  const child: UtilityLike = wantsStandIns()
    ? forkStandIn(file, args)
    : utilityProcess.fork(file, [...args], { serviceName: `Trainyard ${name}`, stdio: outputOf(quiet) });
  const port = utilityProcessPort(child);
  const own = killer(child);
  tellFailures(child, options, own);
  return {
    port,
    ready: whenReady(port, `The ${name} process`),
    ended: new Promise((resolve) => child.once('exit', (code) => resolve(endingOf(code)))),
    link: (end, what = 'link') => child.postMessage(what, [end]),
    end: () => {
      own.asked = true;
      port.close();
    },
    kill: own.kill,
  };
}

/** The store in a utility process; under plain Node where Electron is too old for better-sqlite3 (development). */
export function startStore(options: ChildOptions): Child {
  if (hasNodeApi() || wantsStandIns()) return startUtilityProcess(options);
  return startNodeProcess({ ...options, node: plainNode() });
}

function startNodeProcess(options: ChildOptions & { readonly node: string }): Child {
  const { name, file, args, node, quiet = false } = options;
  const child = fork(file, [...args], {
    execPath: node,
    execArgv: [],
    serialization: 'advanced',
    stdio: [...outputOf(quiet), 'ipc'],
  });
  const port = processPort(child);
  const own = { asked: false };
  tellFailures(child, options, own);
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', (error) => {
      const message = `The ${name} process could not be started: ${error.message}.`;
      reject(new TrainyardError('internal.no_process', message, 'Install Trainyard again.'));
    });
  });
  failed.catch(() => undefined);
  return {
    port,
    ready: Promise.race([whenReady(port, `The ${name} process`), failed]),
    ended: new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(endingOf(code, signal)));
      child.once('error', (error) => resolve(error.message));
    }),
    link: () => {
      throw new TrainyardError('internal.no_link', `The ${name} process cannot be linked to another one.`);
    },
    end: () => {
      own.asked = true;
      port.close();
    },
    kill: () => {
      own.asked = true;
      child.kill('SIGKILL');
    },
  };
}

function outputOf(quiet: boolean): ['ignore', 'ignore' | 'inherit', 'inherit'] {
  return ['ignore', quiet ? 'ignore' : 'inherit', 'inherit'];
}

/**
 * Ends a utility process that does not answer any more, or is not to have the time to. Once it has ended, its number is not
 * touched: it may be another's by then.
 */
function killer(child: UtilityLike): OwnEnd {
  let ended = false;
  child.once('exit', () => (ended = true));
  const own = {
    asked: false,
    kill: () => {
      const { pid } = child;
      if (ended || pid === undefined) return;
      own.asked = true;
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended in this moment.
      }
    },
  };
  return own;
}

interface OwnEnd {
  /** The process is ended from here. */
  asked: boolean;
  readonly kill: () => void;
}

/**
 * 1 is the end by an uncaught error, which the process has reported itself (engine/system/crashes.ts). 0 counts too: none of
 * these processes ends by itself, and Electron gives it for killed ones at times, mostly on a busy machine.
 */
function tellFailures(
  child: { once(event: 'exit', listener: (code: number | null, signal?: NodeJS.Signals | null) => void): unknown },
  { name, failed }: ChildOptions,
  own: Pick<OwnEnd, 'asked'>,
): void {
  child.once('exit', (code, signal) => {
    if (!own.asked && code !== 1) failed?.(name, endingOf(code, signal));
  });
}
