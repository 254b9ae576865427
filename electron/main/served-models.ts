// Runs that are kept ready: one process a run, for a form that is dragged, for a server, or for both; it ends when neither needs it.

import { Listeners } from '../../engine/protocol/listeners.ts';
import type { ServedRun } from '../../engine/protocol/predicting.ts';
import type {
  ModelForm,
  ModelSource,
  PredictionSpeed,
  RowAnswers,
  ServerAddress,
  TextPiece,
  TextRequest,
  TextStart,
} from '../../engine/protocol/serving.ts';
import type { CellValue } from '../../engine/protocol/data.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { readModelFiles } from '../../engine/runs/model-files.ts';
import type { CpuHost, Processes } from './processes.ts';

/** Milliseconds between two looks at what a server has done. */
const lookEvery = 1000;

interface Ready {
  readonly name: string;
  readonly host: CpuHost;
  readonly form: ModelForm;
}

export interface ServedModelParts {
  readonly store: StoreService;
  readonly processes: Pick<Processes, 'startCpuHost' | 'startGpuHost'>;
}

export class ServedModels {
  readonly #parts: ServedModelParts;
  readonly #ready = new Map<number, Promise<Ready>>();
  /** Runs whose form is open. */
  readonly #open = new Set<number>();
  readonly #servers = new Map<number, ServerAddress & { readonly name: string }>();
  readonly #listeners = new Listeners<{ runs: readonly ServedRun[] }>();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(parts: ServedModelParts) {
    this.#parts = parts;
  }

  async open(run: number): Promise<ModelForm> {
    this.#open.add(run);
    return (await this.#model(run)).form;
  }

  async ask(run: number, rows: readonly Readonly<Record<string, CellValue>>[]): Promise<RowAnswers> {
    return (await this.#model(run)).host.served.predict({ rows });
  }

  async read(run: number, row: Readonly<Record<string, CellValue>>): Promise<Readonly<Record<string, CellValue>>> {
    return (await this.#model(run)).host.served.read({ row });
  }

  async startText({ run, ...request }: TextRequest & { run: number }): Promise<TextStart> {
    this.#open.add(run);
    return (await this.#model(run)).host.served.startText(request);
  }

  async nextText(run: number, job: string): Promise<TextPiece> {
    const ready = await this.#ready.get(run);
    return ready ? ready.host.served.nextText({ job }) : { text: '', done: true };
  }

  async endText(run: number, job: string): Promise<void> {
    await (await this.#ready.get(run))?.host.served.endText({ job });
  }

  async speed(run: number, device: 'cpu' | 'gpu'): Promise<PredictionSpeed> {
    if (device === 'cpu') return (await this.#model(run)).host.served.speed();
    const source = await this.#source(run);
    const host = await this.#parts.processes.startGpuHost();
    try {
      return await host.speed.speed(source);
    } finally {
      host.kill();
    }
  }

  async close(run: number): Promise<void> {
    this.#open.delete(run);
    await this.#endUnneeded(run);
  }

  async serve(run: number, port?: number): Promise<ServedRun> {
    const { host, name } = await this.#model(run);
    this.#servers.set(run, { name, ...(await host.served.listen({ port })) });
    this.#timer ??= setInterval(() => void this.#tell(), lookEvery);
    const served = (await this.list()).find((one) => one.run === run);
    await this.#tell();
    if (served) return served;
    throw new RangeError(`run ${run} is not served`);
  }

  async stop(run: number): Promise<void> {
    if (!this.#servers.delete(run)) return;
    await (await this.#ready.get(run))?.host.served.unlisten();
    await this.#endUnneeded(run);
    await this.#tell();
  }

  /** Runs that were changed: one in the trash, or gone, answers nobody any more. */
  async changed(runs: readonly number[]): Promise<void> {
    for (const run of runs.filter((one) => this.#ready.has(one))) {
      const record = await this.#parts.store.run({ run }).catch(() => null);
      if (record !== null && record.deletedAt === null) continue;
      await this.stop(run);
      await this.close(run);
    }
  }

  async list(): Promise<readonly ServedRun[]> {
    const listed = [...this.#servers].map(async ([run, server]): Promise<ServedRun> => {
      const { host } = await this.#model(run);
      return { run, ...server, ...(await host.served.counts()) };
    });
    return (await Promise.allSettled(listed)).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  onServing(listener: (event: { runs: readonly ServedRun[] }) => void): () => void {
    return this.#listeners.add(listener);
  }

  async #tell(): Promise<void> {
    this.#listeners.emit({ runs: await this.list() });
    if (this.#servers.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #model(run: number): Promise<Ready> {
    const found = this.#ready.get(run);
    if (found) return found;
    const ready = this.#start(run);
    this.#ready.set(run, ready);
    // A process that dies takes its server with it; the next question starts another, which is not meant by the end of the old one.
    const gone = (): void => {
      if (this.#ready.get(run) !== ready) return;
      this.#ready.delete(run);
      if (this.#servers.delete(run)) void this.#tell();
    };
    ready.then(({ host }) => host.exited).then(gone, gone);
    return ready;
  }

  async #start(run: number): Promise<Ready> {
    const source = await this.#source(run);
    const host = await this.#parts.processes.startCpuHost();
    try {
      return { name: source.name, host, form: await host.served.open(source) };
    } catch (error) {
      host.kill();
      throw error;
    }
  }

  async #source(run: number): Promise<ModelSource> {
    const { name } = await this.#parts.store.run({ run });
    return { run, name, ...(await readModelFiles(this.#parts.store, run)) };
  }

  async #endUnneeded(run: number): Promise<void> {
    if (this.#open.has(run) || this.#servers.has(run)) return;
    const ready = this.#ready.get(run);
    this.#ready.delete(run);
    (await ready?.catch(() => null))?.host.kill();
  }
}
