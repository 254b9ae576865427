// A service whose code is loaded with its first call: the data engine takes a fifth of a second of processor time to load, and half of
// the commands never ask it.

import { isEventName, type Service } from '../../engine/protocol/rpc.ts';

/** Looks like the service that `load` promises. Events are listened to once it is there; what loading throws, its calls throw. */
export function lazyService<T extends Service<T>>(load: () => Promise<T>): T {
  let loading: Promise<T> | null = null;
  const loaded = (): Promise<T> => (loading ??= load());
  type Method = (argument: never) => Promise<unknown>;
  type Subscribe = (listener: never) => () => void;

  const call =
    (name: string): Method =>
    async (argument) => {
      const service = await loaded();
      return (service[name as keyof T] as Method).call(service, argument);
    };
  const listen =
    (name: string): Subscribe =>
    (listener) => {
      let stop: (() => void) | null = null;
      let stopped = false;
      const begun = loaded().then((service) => {
        if (!stopped) stop = (service[name as keyof T] as Subscribe).call(service, listener);
      });
      // Whoever calls hears of it.
      begun.catch(() => undefined);
      return () => {
        stopped = true;
        stop?.();
      };
    };

  return new Proxy({} as T, {
    get(_target, name) {
      // A proxy that answered `then` would be taken for a promise.
      if (typeof name !== 'string' || name === 'then') return undefined;
      return isEventName(name) ? listen(name) : call(name);
    },
  });
}
