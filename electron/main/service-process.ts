// A service that lives in a process of its own and outlives that process: when it dies, calls under way fail, and the next
// call starts it again. Listeners are carried over. A process that keeps dying is not started for ever.

import { TrainyardError } from '../../engine/protocol/errors.ts';
import { connect, type Service } from '../../engine/protocol/rpc.ts';
import type { Child } from './child.ts';
import { Listeners } from './listeners.ts';

/** Starts within `windowMs` after which a process is given up. */
const restarts = { most: 3, windowMs: 60_000 };
/** How long a process may take to end when asked. */
const patienceMs = 3000;

export interface ServiceProcess<T> {
  readonly service: T;
  /** The running process, started if need be. */
  child(): Promise<Child>;
  /** Called with the reason each time the process has died unasked. */
  onDeath(listener: (reason: string) => void): () => void;
  close(): Promise<void>;
}

export function createServiceProcess<T extends Service<T>>(name: string, start: () => Child): ServiceProcess<T> {
  interface Connection {
    readonly child: Child;
    readonly remote: Record<string, (argument: unknown) => unknown>;
    /** Events this process has been asked for. */
    readonly listening: Set<string>;
  }
  const deaths = new Listeners<string>();
  const subscriptions = new Map<string, Set<(value: unknown) => void>>();
  const starts: number[] = [];
  let current: Promise<Connection> | null = null;
  let opened: Connection | null = null;
  /** The last process that was started; it may still be on its way. */
  let newest: Child | null = null;
  let closing = false;

  const open = async (): Promise<Connection> => {
    const now = Date.now();
    while (starts.length > 0 && now - starts[0] > restarts.windowMs) starts.shift();
    if (starts.length >= restarts.most) {
      throw new TrainyardError(
        'internal.process_dies',
        `The ${name} process ended ${starts.length} times within a minute and is not started again for now.`,
        'Wait a minute or restart Trainyard; free memory if the machine is short of it.',
      );
    }
    starts.push(now);
    const child = start();
    newest = child;
    const remote = connect(child.port, { peer: `the ${name} process` }) as unknown as Connection['remote'];
    const connection: Connection = { child, remote, listening: new Set() };
    void child.ended.then((reason) => {
      if (closing) return;
      if (opened === connection) current = opened = null;
      deaths.emit(reason);
    });
    await child.ready;
    opened = connection;
    for (const event of subscriptions.keys()) listen(connection, event);
    return connection;
  };

  const connection = (): Promise<Connection> => {
    if (current === null) {
      current = open();
      current.catch(() => (current = null));
    }
    return current;
  };

  const listen = ({ remote, listening }: Connection, event: string): void => {
    if (listening.has(event)) return;
    listening.add(event);
    // `remote` is a proxy: it has no words of its own.
    // eslint-disable-next-line trainyard/no-word-lookup
    remote[event](deliver(event));
  };

  const deliver = (event: string) => (value: unknown) => {
    for (const listener of [...(subscriptions.get(event) ?? [])]) listener(value);
  };

  const subscribe = (event: string, listener: (value: unknown) => void): (() => void) => {
    let listeners = subscriptions.get(event);
    if (listeners === undefined) {
      subscriptions.set(event, (listeners = new Set()));
      if (opened !== null) listen(opened, event);
    }
    listeners.add(listener);
    return () => listeners.delete(listener);
  };

  const service = new Proxy({} as T, {
    get(_target, member) {
      if (typeof member !== 'string' || member === 'then') return undefined;
      if (/^on[A-Z]/.test(member)) return (listener: (value: unknown) => void) => subscribe(member, listener);
      // eslint-disable-next-line trainyard/no-word-lookup
      return async (request: unknown) => (await connection()).remote[member](request);
    },
  });

  return {
    service,
    child: async () => (await connection()).child,
    onDeath: (listener) => deaths.add(listener),
    async close() {
      closing = true;
      if (current === null || newest === null) return;
      const child = newest;
      child.end();
      const slow = setTimeout(() => child.kill(), patienceMs);
      await child.ended;
      clearTimeout(slow);
    },
  };
}
