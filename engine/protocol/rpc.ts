// An interface turned into calls over a Port: `serve` answers them with an implementation, `connect` returns something
// that looks like the implementation. A method takes one request, or none, and returns a promise; `onXxx(listener)` is an
// event and returns an unsubscribe function. Errors cross as WireErrors. Several services, in both directions, may share
// one port under different names.

import { fromWire, InputError, toWire, TrainyardError } from './errors.ts';
import type { WireError } from './errors.ts';
import type { Port } from './port.ts';
import { ownValue } from './own.ts';

/** The shape of an interface that can be served. */
export type Service<T> = {
  readonly [Name in keyof T]: (argument: never) => Promise<unknown> | (() => void);
};

/** Anything with zod's `parse`: returns the accepted value or throws. */
export interface RequestSchema {
  parse(value: unknown): unknown;
}

export interface ServeOptions {
  /** Name of the service on this port. */
  readonly service?: string;
  /** A schema for the request of each method. If given, methods without one are refused; events need none. */
  readonly validate?: Readonly<Record<string, RequestSchema>>;
  /** What of an error the other side may see; default all of it. */
  readonly errors?: (error: WireError) => WireError;
}

export interface ConnectOptions {
  /** Name of the service on this port. */
  readonly service?: string;
  /** Who answers, for error messages: "the store process". */
  readonly peer?: string;
}

type Message =
  | {
      readonly service: string;
      readonly kind: 'call';
      readonly id: number;
      readonly name: string;
      readonly request: unknown;
    }
  | { readonly service: string; readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly service: string; readonly kind: 'error'; readonly id: number; readonly error: WireError }
  | { readonly service: string; readonly kind: 'listen' | 'unlisten'; readonly name: string }
  | { readonly service: string; readonly kind: 'event'; readonly name: string; readonly value: unknown };

type Method = (request: unknown) => Promise<unknown>;
type Subscribe = (listener: (value: unknown) => void) => () => void;

/** Answers calls that arrive at `port` until it closes. Returns a function that stops answering. */
export function serve<T extends Service<T>>(port: Port, implementation: T, options: ServeOptions = {}): () => void {
  const { service = 'default', validate, errors = (error) => error } = options;
  const members = implementation as Readonly<Record<string, unknown>>;
  const subscriptions = new Map<string, () => void>();

  const answer = async (id: number, name: string, request: unknown): Promise<void> => {
    try {
      const accepted = validate ? accept(validate, name, request) : request;
      const method = memberOf(members, name) as Method | null;
      if (method === null)
        throw new TrainyardError('internal.unknown_call', `The service "${service}" has no "${name}".`);
      const value = await method.call(members, accepted);
      port.postMessage({ service, kind: 'result', id, value } satisfies Message);
    } catch (error) {
      port.postMessage({ service, kind: 'error', id, error: errors(toWire(error)) } satisfies Message);
    }
  };

  const listen = (name: string): void => {
    const subscribe = memberOf(members, name) as Subscribe | null;
    if (subscribe === null || subscriptions.has(name)) return;
    const forward = (value: unknown): void => {
      port.postMessage({ service, kind: 'event', name, value } satisfies Message);
    };
    subscriptions.set(name, subscribe.call(members, forward));
  };

  const unlisten = (name: string): void => {
    subscriptions.get(name)?.();
    subscriptions.delete(name);
  };

  const stopReceiving = port.onMessage((message) => {
    if (!isMessage(message, service)) return;
    if (message.kind === 'call' && !isEventName(message.name)) void answer(message.id, message.name, message.request);
    else if (message.kind === 'listen' && isEventName(message.name)) listen(message.name);
    else if (message.kind === 'unlisten') unlisten(message.name);
  });
  const stop = (): void => {
    stopReceiving();
    for (const name of [...subscriptions.keys()]) unlisten(name);
  };
  port.onClose(stop);
  return stop;
}

/**
 * A remote implementation of `T`. Calls that wait for an answer when the port closes, and later ones, reject with
 * `internal.disconnected`.
 */
export function connect<T extends Service<T>>(port: Port, options: ConnectOptions = {}): T {
  const { service = 'default', peer = 'the other process' } = options;
  const calls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void; name: string }>();
  const listeners = new Map<string, Set<(value: unknown) => void>>();
  const members = new Map<string, Method | Subscribe>();
  let nextId = 1;
  let closed = false;

  const disconnected = (name: string): TrainyardError =>
    new TrainyardError(
      'internal.disconnected',
      `The connection to ${peer} was closed before "${name}" was answered.`,
      'Try again; if it happens again, restart Trainyard.',
    );

  port.onMessage((message) => {
    if (!isMessage(message, service)) return;
    if (message.kind === 'event') {
      for (const listener of [...(listeners.get(message.name) ?? [])]) listener(message.value);
    } else if (message.kind === 'result' || message.kind === 'error') {
      const call = calls.get(message.id);
      calls.delete(message.id);
      if (message.kind === 'result') call?.resolve(message.value);
      else call?.reject(fromWire(message.error));
    }
  });
  port.onClose(() => {
    closed = true;
    for (const call of calls.values()) call.reject(disconnected(call.name));
    calls.clear();
  });

  const method = (name: string): Method => {
    return (request) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(disconnected(name));
        const id = nextId++;
        port.postMessage({ service, kind: 'call', id, name, request } satisfies Message);
        calls.set(id, { resolve, reject, name });
      });
  };

  const event = (name: string): Subscribe => {
    const own = new Set<(value: unknown) => void>();
    listeners.set(name, own);
    return (listener) => {
      if (own.size === 0) port.postMessage({ service, kind: 'listen', name } satisfies Message);
      own.add(listener);
      return () => {
        if (own.delete(listener) && own.size === 0) {
          port.postMessage({ service, kind: 'unlisten', name } satisfies Message);
        }
      };
    };
  };

  return new Proxy({} as T, {
    get(_target, name) {
      // A proxy that answered `then` would be taken for a promise.
      if (typeof name !== 'string' || name === 'then') return undefined;
      let member = members.get(name);
      if (member === undefined) members.set(name, (member = isEventName(name) ? event(name) : method(name)));
      return member;
    },
  });
}

/** `onProgress`: members that take a listener. */
export function isEventName(name: string): boolean {
  return /^on[A-Z]/.test(name);
}

function isMessage(value: unknown, service: string): value is Message {
  return (
    typeof value === 'object' && value !== null && 'kind' in value && 'service' in value && value.service === service
  );
}

/** A function of the implementation itself; nothing that every object has. */
function memberOf(members: Readonly<Record<string, unknown>>, name: string): unknown {
  const member = name in Object.prototype ? null : Reflect.get(members, name);
  return typeof member === 'function' ? member : null;
}

/** Values refused by a schema become one sentence: which field, and what is wrong with it. */
function accept(schemas: Readonly<Record<string, RequestSchema>>, name: string, request: unknown): unknown {
  const schema = ownValue(schemas, name);
  if (schema === undefined) {
    throw new TrainyardError('internal.unknown_call', `"${name}" may not be called from here.`);
  }
  try {
    return schema.parse(request);
  } catch (error) {
    throw new InputError('input.invalid_request', `"${name}" was refused: ${describeRefusal(error)}.`, '', {
      cause: error,
    });
  }
}

function describeRefusal(error: unknown): string {
  const issues = typeof error === 'object' && error !== null && 'issues' in error ? error.issues : null;
  if (!Array.isArray(issues)) return error instanceof Error ? error.message : String(error);
  return issues
    .map((issue: { path?: readonly PropertyKey[]; message?: string }) =>
      [issue.path?.map(String).join('.'), issue.message].filter(Boolean).join(': '),
    )
    .join('; ');
}
