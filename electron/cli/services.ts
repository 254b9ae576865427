// The services behind the commands, made when first used: `devices` opens no database, `runs` starts no data engine.

import type { CommandSurroundings } from '../../engine/protocol/command-line.ts';
import type { OnnxHost } from '../../engine/runs/export.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { openStore, type StoreProcessOptions } from '../../engine/history/client.node.ts';
import { explainFailure } from '../../engine/history/failures.ts';
import { makeFolder } from '../../engine/history/home.ts';
import { homeFolder } from '../../engine/system/home-folder.ts';
import { lazyService } from '../../engine/protocol/lazy-service.ts';
import { loadPart } from '../../engine/protocol/loading.ts';
import { startOnnx } from './onnx-process.ts';

export class Services {
  readonly home = usableHome();
  readonly #surroundings: CommandSurroundings;
  #data: DataService | null = null;
  #opened: { close(): Promise<void> } | null = null;
  #store: Promise<StoreService> | null = null;

  constructor(surroundings: CommandSurroundings) {
    this.#surroundings = surroundings;
  }

  /** How the processes of the history are started. */
  get storeProcess(): StoreProcessOptions {
    return { home: this.home, start: this.#surroundings.startStore };
  }

  startOnnx(): Promise<OnnxHost> {
    return startOnnx(this.#surroundings.startOnnx);
  }

  /** Starts the process of a run where this program is no Node. */
  get startTrainer(): CommandSurroundings['startTrainer'] {
    return this.#surroundings.startTrainer;
  }

  get data(): DataService {
    this.#data ??= lazyService(async () => {
      const { createDataService } = await loadPart(import('../../engine/data/service.ts'));
      const opened = createDataService({ home: this.home });
      this.#opened = opened;
      return opened;
    });
    return this.#data;
  }

  /** The history; runs whose process is gone are marked as interrupted when it opens. */
  get store(): Promise<StoreService> {
    this.#store ??= openStore(this.storeProcess).then(async (store) => {
      await store.recover();
      return store;
    });
    return this.#store;
  }

  async close(): Promise<void> {
    // What it cannot remove the next process does.
    await this.#opened?.close().catch(() => undefined);
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
