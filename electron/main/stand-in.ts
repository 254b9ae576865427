// Plain Node in the place of a utility process. Released Electrons run the store, the data host and training in utility
// processes; the development Electron cannot load the store's native module there. TRAINYARD_UTILITY=node takes the same way
// through the app with plain Node behind it, which can: the bundles see a `process.parentPort` (electron/hosts/stand-in.ts),
// this end looks like Electron's UtilityProcess. For development and tests; a package pays no heed to it.

import { fork } from 'node:child_process';
import { app, type MessagePortMain } from 'electron';
import type { StandInMessage } from '../../engine/protocol/stand-in.ts';
import { plainFile } from './folders.ts';
import { plainNode } from './plain-node.ts';

/** The part of Electron's UtilityProcess that child.ts uses. */
export interface UtilityLike {
  readonly pid: number | undefined;
  postMessage(message: unknown, ends?: MessagePortMain[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
  once(event: 'exit', listener: (code: number) => void): unknown;
  kill(): boolean;
}

export function wantsStandIns(): boolean {
  return !app.isPackaged && process.env['TRAINYARD_UTILITY'] === 'node';
}

export function forkStandIn(file: string, args: readonly string[]): UtilityLike {
  const child = fork(file, [...args], {
    execPath: plainNode(),
    execArgv: ['--require', plainFile('build', 'hosts', 'stand-in.cjs')],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ports: MessagePortMain[] = [];
  const send = (message: StandInMessage): void => void (child.connected && child.send(message, () => undefined));

  /** A port cannot cross to plain Node: its messages do, under its number. */
  const carry = (port: MessagePortMain): number => {
    const id = ports.push(port) - 1;
    port.on('message', ({ data }) => send({ kind: 'port', id, data }));
    port.on('close', () => send({ kind: 'closed', id }));
    port.start();
    return id;
  };
  child.on('message', (message: StandInMessage) => {
    if (message.kind === 'port') ports[message.id].postMessage(message.data);
    if (message.kind === 'closed') ports[message.id].close();
  });
  child.once('exit', () => ports.forEach((port) => port.close()));

  return {
    get pid() {
      return child.pid;
    },
    postMessage: (data, ends = []) => send({ kind: 'parent', data, ports: ends.map(carry) }),
    on: (event: 'message' | 'exit', listener: (message: unknown) => void) =>
      event === 'exit'
        ? child.on('exit', () => listener(undefined))
        : child.on('message', (message: StandInMessage) => {
            if (message.kind === 'parent') listener(message.data);
          }),
    // As Electron does: a process that a signal ended has the signal's number for its code.
    once: (event: 'exit', listener: (code: number) => void) =>
      child.once(event, (code, signal) => listener(code ?? (signal === 'SIGKILL' ? 9 : 15))),
    kill: () => child.kill(),
  };
}
