// A service whose process may die: calls under way fail, the next one starts it again, and listeners are carried over. A
// process that keeps dying is not started for ever.

import { Listeners } from './listeners.ts';
import { isEventName, type Service } from './rpc.ts';

/** A process that serves `T`, as it was started. */
export interface Living<T> {
  readonly remote: T;
  /** Resolves with the reason, in words, when it has ended. */
  readonly ended: Promise<string>;
}

export interface RevivingOptions<T, L extends Living<T>> {
  /** Starts the process; resolves when it serves. */
  readonly open: () => Promise<L>;
  /** Starts within a window after which no more are tried. */
  readonly restarts: { readonly most: number; readonly windowMilliseconds: number };
  readonly tooMany: (times: number) => Error;
  /** Members that this side answers itself. */
  readonly own?: Partial<T>;
}

type Method = (request: unknown) => unknown;
type Subscribe = (listener: (value: unknown) => void) => () => void;

export class Reviving<T extends Service<T>, L extends Living<T>> {
  /** The service itself; each call starts the process if need be. */
  readonly service: T;
  readonly #options: RevivingOptions<T, L>;
  readonly #deaths = new Listeners<string>();
  readonly #events = new Map<string, Listeners<unknown>>();
  readonly #starts: number[] = [];
  #current: Promise<L> | null = null;
  #opened: L | null = null;
  #closed: Error | null = null;
  /** What nothing may serve beside; it does not reject. */
  #alone: Promise<void> | null = null;

  constructor(options: RevivingOptions<T, L>) {
    this.#options = options;
    const own: Readonly<Record<string, unknown>> = { ...options.own };
    this.service = new Proxy({} as T, {
      get: (_target, name) => {
        if (typeof name !== 'string' || name === 'then') return undefined;
        if (Object.hasOwn(own, name)) return Reflect.get(own, name);
        if (isEventName(name)) return (listener: (value: unknown) => void) => this.#subscribe(name, listener);
        return async (request: unknown) => memberOf<Method>((await this.living()).remote, name)(request);
      },
    });
  }

  /** The running process, started if need be. */
  living(): Promise<L> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    if (this.#alone !== null) return this.#alone.then(() => this.living());
    if (this.#current === null) {
      const starting = (this.#current = this.#open());
      starting.catch(() => {
        if (this.#current === starting) this.#current = null;
      });
    }
    return this.#current;
  }

  /** Whether there is a process, be it only on its way. */
  get isStarted(): boolean {
    return this.#current !== null;
  }

  /** The process that serves now; null = none. */
  get opened(): L | null {
    return this.#opened;
  }

  /** Called with the reason each time the process has died unasked. */
  onDeath(listener: (reason: string) => void): () => void {
    return this.#deaths.add(listener);
  }

  /**
   * Does something that no process may serve beside: `end` ends the one there is, calls made meanwhile wait. The starts before
   * it are forgotten.
   */
  alone<Result>(end: (living: L) => Promise<void>, work: () => Promise<Result>): Promise<Result> {
    const current = this.#current;
    const done = (async () => {
      const living = await current?.catch(() => null);
      if (living) await end(living);
      return work();
    })().finally(() => {
      this.#alone = null;
      this.#starts.length = 0;
    });
    this.#alone = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  /** From now on calls reject with this error, and nothing is started again. */
  close(error: Error): void {
    this.#closed = error;
  }

  async #open(): Promise<L> {
    const { restarts, tooMany } = this.#options;
    const now = Date.now();
    while (this.#starts.length > 0 && now - this.#starts[0] > restarts.windowMilliseconds) this.#starts.shift();
    if (this.#starts.length >= restarts.most) throw tooMany(this.#starts.length);
    this.#starts.push(now);
    const living = await this.#options.open();
    this.#opened = living;
    void living.ended.then((reason) => {
      if (this.#opened === living) this.#current = this.#opened = null;
      if (this.#closed === null && this.#alone === null) this.#deaths.emit(reason);
    });
    for (const event of this.#events.keys()) this.#listen(living, event);
    return living;
  }

  #subscribe(event: string, listener: (value: unknown) => void): () => void {
    let listeners = this.#events.get(event);
    if (listeners === undefined) {
      this.#events.set(event, (listeners = new Listeners()));
      if (this.#opened !== null) this.#listen(this.#opened, event);
    }
    return listeners.add(listener);
  }

  /** One subscription of this side's, whoever listens here. */
  #listen(living: L, event: string): void {
    memberOf<Subscribe>(living.remote, event)((value) => this.#events.get(event)?.emit(value));
  }
}

/** A remote is a proxy: it has whatever member it is asked for. */
function memberOf<M>(remote: object, name: string): M {
  return Reflect.get(remote, name) as M;
}
