// The services behind the commands, made when first used: `devices` opens no database, `runs` starts no data engine.

import type { DataService } from '../../engine/protocol/data.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { openStore } from '../../engine/history/client.node.ts';
import { explainFailure } from '../../engine/history/failures.ts';
import { makeFolder } from '../../engine/history/home.ts';
import { homeFolder } from './home.ts';
import { lazyService } from './lazy-service.ts';
import { loadPart } from './loading.ts';

export class Services {
  readonly home = usableHome();
  #data: DataService | null = null;
  #store: Promise<StoreService> | null = null;

  get data(): DataService {
    this.#data ??= lazyService(async () => {
      const { createDataService } = await loadPart(import('../../engine/data/service.ts'));
      return createDataService({ home: this.home });
    });
    return this.#data;
  }

  /** The history; runs whose process is gone are marked as interrupted when it opens. */
  get store(): Promise<StoreService> {
    this.#store ??= openStore({ home: this.home }).then(async (store) => {
      await store.recover();
      return store;
    });
    return this.#store;
  }

  async close(): Promise<void> {
    const store = await this.#store?.catch(() => null);
    await store?.close();
  }
}

/** The home, made where it is missing: whatever is asked for first, nothing tries that in vain. */
function usableHome(): string {
  const home = homeFolder();
  try {
    makeFolder(home);
    return home;
  } catch (error) {
    throw explainFailure(error, home);
  }
}
