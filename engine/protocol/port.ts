// A Port is one end of a connection that carries whole messages in order: between processes, threads, windows, or within
// one process. rpc.ts builds services on it. Adapters for the DOM, Electron and Node stand in port.dom.ts,
// port.electron.ts and port.node.ts; this file knows none of them.

export interface Port {
  /** Sends a copy of `message`; `transfer` lists what is handed over instead of copied, where the kind of port can. */
  postMessage(message: unknown, transfer?: readonly object[]): void;
  /** Messages that arrive before the first listener wait for it. Returns an unsubscribe function. */
  onMessage(listener: (message: unknown) => void): () => void;
  /** Called once, when either side has closed or died; at once if that has happened already. Returns an unsubscribe function. */
  onClose(listener: () => void): () => void;
  close(): void;
}

/** What an adapter has to say about the thing it adapts. */
export interface PortLink {
  postMessage(message: unknown, transfer?: readonly object[]): void;
  /** Called once, when somebody listens: from then on `receive` gets every message. */
  start(receive: (message: unknown) => void): void;
  /** Called once, immediately: `closed` may be called any number of times. */
  watch(closed: () => void): void;
  close(): void;
}

/** Turns a link into a Port: several listeners, late listeners, closing once, nothing sent after closing. */
export function createPort(link: PortLink): Port {
  const messageListeners = new Set<(message: unknown) => void>();
  const closeListeners = new Set<() => void>();
  let started = false;
  let closed = false;

  const markClosed = (): void => {
    if (closed) return;
    closed = true;
    for (const listener of [...closeListeners]) listener();
  };
  link.watch(markClosed);

  return {
    postMessage(message, transfer) {
      if (!closed) link.postMessage(message, transfer);
    },
    onMessage(listener) {
      messageListeners.add(listener);
      if (!started) {
        started = true;
        link.start((message) => {
          for (const each of [...messageListeners]) each(message);
        });
      }
      return () => messageListeners.delete(listener);
    },
    onClose(listener) {
      if (closed) listener();
      else closeListeners.add(listener);
      return () => closeListeners.delete(listener);
    },
    close() {
      if (closed) return;
      link.close();
      markClosed();
    },
  };
}

declare function structuredClone<T>(value: T, options?: { readonly transfer?: readonly object[] }): T;

/** Two connected ports in this process. Messages are copied, as between processes, and arrive in a later microtask. */
export function createPortPair(): readonly [Port, Port] {
  const left = createEnd();
  const right = createEnd();
  const close = (): void => {
    left.closed();
    right.closed();
  };
  return [joinEnds(left, right, close), joinEnds(right, left, close)];
}

interface MemoryEnd {
  readonly waiting: unknown[];
  receive: ((message: unknown) => void) | null;
  closed: () => void;
}

function createEnd(): MemoryEnd {
  return { waiting: [], receive: null, closed: () => undefined };
}

function joinEnds(own: MemoryEnd, other: MemoryEnd, close: () => void): Port {
  const deliver = (): void => {
    if (other.receive !== null) for (const message of other.waiting.splice(0)) other.receive(message);
  };
  return createPort({
    postMessage(message, transfer = []) {
      other.waiting.push(structuredClone(message, { transfer }));
      void Promise.resolve().then(deliver);
    },
    start(receive) {
      own.receive = receive;
      void Promise.resolve().then(() => {
        for (const message of own.waiting.splice(0)) receive(message);
      });
    },
    watch(closed) {
      own.closed = closed;
    },
    close,
  });
}
