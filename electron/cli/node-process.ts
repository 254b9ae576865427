// Processes that the command line starts under its own Node. None outlives it, however it ends: each also goes by itself when its port closes.

import { fork, type ChildProcess } from 'node:child_process';
import process from 'node:process';
import type { HostProcess } from '../../engine/protocol/command-line.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import { installAgain } from '../../engine/protocol/loading.ts';
import { processPort } from '../../engine/protocol/port.node.ts';
import { whenReady } from '../../engine/protocol/port.ready.ts';
import { endingOf } from '../../engine/system/ended.ts';

const alive = new Set<ChildProcess>();
process.on('exit', () => alive.forEach((child) => child.kill('SIGKILL')));

/** @param peer  how it is called in messages: "the training process" */
export function startNodeProcess(entry: URL, args: readonly string[], peer: string): HostProcess {
  const child = fork(entry, [...args], {
    execArgv: process.execArgv,
    serialization: 'advanced',
    // Standard output is the command's own.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  alive.add(child);
  const port = processPort(child);
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', (error) => {
      const message = `${capitalized(peer)} could not be started: ${error.message}.`;
      reject(new TrainyardError('internal.no_process', message, `If it stays so, ${installAgain}.`));
    });
  });
  failed.catch(() => undefined);
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(endingOf(code, signal)));
    child.once('error', (error) => resolve(error.message));
  });
  void ended.then(() => alive.delete(child));
  return {
    port,
    ready: Promise.race([whenReady(port, capitalized(peer)), failed]),
    ended,
    kill: () => void child.kill('SIGKILL'),
  };
}

const capitalized = (text: string): string => text[0].toUpperCase() + text.slice(1);
