// Loaded before a host's bundle where plain Node stands in for a utility process (electron/main/stand-in.ts): gives it the
// `process.parentPort` it finds in one, and ports made of numbered messages.

import { EventEmitter } from 'node:events';
import type { StandInMessage } from '../../engine/protocol/stand-in.ts';

class StandInPort extends EventEmitter {
  readonly #id: number;
  #waiting: unknown[] | null = [];

  constructor(id: number) {
    super();
    this.#id = id;
  }

  postMessage(data: unknown): void {
    send({ kind: 'port', id: this.#id, data });
  }

  receive(data: unknown): void {
    if (this.#waiting) this.#waiting.push(data);
    else this.emit('message', { data });
  }

  start(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const data of waiting) this.emit('message', { data });
  }

  close(): void {
    send({ kind: 'closed', id: this.#id });
  }
}

class StandInParent extends EventEmitter {
  postMessage(data: unknown): void {
    send({ kind: 'parent', data, ports: [] });
  }
}

function send(message: StandInMessage): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

const ports = new Map<number, StandInPort>();
const parent = new StandInParent();
process.on('message', (message: StandInMessage) => {
  switch (message.kind) {
    case 'parent':
      for (const id of message.ports) ports.set(id, new StandInPort(id));
      parent.emit('message', { data: message.data, ports: message.ports.map((id) => ports.get(id)) });
      return;
    case 'port':
      ports.get(message.id)?.receive(message.data);
      return;
    case 'closed':
      ports.get(message.id)?.emit('close');
      ports.delete(message.id);
      return;
    default:
      message satisfies never;
  }
});
// Electron's utility processes end with it.
process.on('disconnect', () => process.exit());
Object.defineProperty(process, 'parentPort', { value: parent });
