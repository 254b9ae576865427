// A device that is opened when something first needs it: a learner may need none.

import type { Backend } from '../backends/backend.ts';

export interface LazyBackend {
  readonly open: () => Promise<Backend>;
  /** Closes it if it was opened. */
  readonly close: () => Promise<void>;
}

export function lazyBackend(create: () => Promise<Backend>): LazyBackend {
  let opened: Promise<Backend> | null = null;
  return {
    open: () => (opened ??= create()),
    close: async () => {
      const backend = await opened?.catch(() => null);
      await backend?.close();
    },
  };
}
