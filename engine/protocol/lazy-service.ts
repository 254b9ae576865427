// A service whose code is loaded with its first call: the data engine takes a fifth of a second of processor time and 30 MB to load,
// and neither half of the commands nor the window's first view ask it for more than a list.

import { ownValue } from './own.ts';
import { isEventName, type Service } from './rpc.ts';

type Method = (argument: never) => Promise<unknown>;
type Subscribe = (listener: never) => () => void;

/**
 * Looks like the service that `load` promises; what loading throws, its calls throw, and the next one tries again. Listening loads
 * nothing: an event can only come of a call.
 * @param ready  members that are answered without it
 */
export function lazyService<T extends Service<T>>(load: () => Promise<T>, ready: Partial<T> = {}): T {
  let loading: Promise<T> | null = null;
  /** Listeners that wait for the service. */
  const waiting = new Set<(service: T) => void>();
  const loaded = (): Promise<T> => {
    if (loading !== null) return loading;
    loading = load().then((service) => {
      for (const subscribe of waiting) subscribe(service);
      return service;
    });
    loading.catch(() => (loading = null));
    return loading;
  };

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
      const subscribe = (service: T): void => {
        waiting.delete(subscribe);
        if (!stopped) stop = (service[name as keyof T] as Subscribe).call(service, listener);
      };
      if (loading === null) waiting.add(subscribe);
      else loading.then(subscribe, () => waiting.add(subscribe));
      return () => {
        stopped = true;
        waiting.delete(subscribe);
        stop?.();
      };
    };

  return new Proxy({} as T, {
    get(_target, name) {
      // A proxy that answered `then` would be taken for a promise.
      if (typeof name !== 'string' || name === 'then') return undefined;
      return ownValue(ready, name) ?? (isEventName(name) ? listen(name) : call(name));
    },
  });
}
