// What a new run begins with: weights drawn by chance, or those of another run, whole or up to a layer. Shows layer by layer what
// of them fits the model as it stands in the draft, before it is started.

import { isNetwork } from '../../../engine/learners/network/declaration.ts';
import { outputWidth, tryResolve } from '../../../engine/model/resolve.ts';
import type { ModelSpec } from '../../../engine/model/spec.ts';
import { classNames, weightsFit, type LayerFit } from '../../../engine/model/weights-fit.ts';
import type { AppService } from '../../../engine/protocol/app.ts';
import {
  hasSeenRows,
  type Checkpoint,
  type CheckpointChoice,
  type StartWeights,
  type TransferRequest,
} from '../../../engine/protocol/going-on.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { failureOf, type Failure } from '../../app/failure.ts';
import { decided } from '../../app/quick-start.ts';
import { hasModel } from '../../lib/run-words.ts';
import type { Draft } from './draft.svelte.ts';
import { readAsRun } from './read-as.ts';

const fields = [
  'id',
  'name',
  'dataset',
  'datasetName',
  'state',
  'config',
  'result',
  'hasCheckpoint',
  'relation',
] as const;
/** A run whose weights may be the beginning of another. */
export type Source = Pick<RunRecord, (typeof fields)[number]>;

/** A network of one model: folds, and members of an ensemble, have others or many. */
const hasWeights = (run: Source): boolean =>
  isNetwork(run.config) && run.config.folds === undefined && run.relation !== 'member' && hasModel(run);

/** Runs that are offered, of the same data and of any. */
const offered = 60;

type Service = Pick<AppService, 'run' | 'runs' | 'checkpoints' | 'weightShapes' | 'readingOf' | 'datasetShape'>;

export class StartFrom {
  /** Absent: weights drawn by chance. */
  request: TransferRequest | undefined = $state.raw();
  sources: readonly Source[] = $state.raw([]);
  kept: readonly Checkpoint[] = $state.raw([]);
  failure: Failure | null = $state.raw(null);
  /** The tokenizer of the run is being taken over. */
  #reading = $state(false);
  #weights: StartWeights | null = $state.raw(null);
  readonly #service: Service;
  readonly #draft: Draft;

  readonly source = $derived(this.sources.find(({ id }) => id === this.request?.run));
  /** How each layer with weights fits; null: nothing to say, or not yet. */
  readonly fits: readonly LayerFit[] | null = $derived.by(() => {
    if (!this.request || !this.#weights || !this.#draft.learner.layers) return null;
    const { model, shape, training } = this.#draft;
    const { resolved, errors } = tryResolve(model, shape.input, outputWidth(shape.output, training.loss));
    if (errors.length > 0) return null;
    const { shapes, classes } = this.#weights;
    const options = { upTo: this.request.upTo, frozen: training.frozenLayers };
    return weightsFit(resolved, shapes, { ...options, classes: classNames(shape.output, classes) });
  });
  /** The first layer that would be taken and does not fit. */
  readonly misfit = $derived(this.fits?.find(({ fit }) => fit === 'misfit'));
  readonly seen = $derived.by(() => this.source !== undefined && hasSeenRows(this.source.config, this.#draft.config));
  /** Layers of the run, where they are others than those of the draft. */
  readonly otherLayers: ModelSpec | undefined = $derived.by(() => {
    const config = this.source?.config;
    if (!config || !isNetwork(config)) return undefined;
    return JSON.stringify(config.model.layers) === JSON.stringify(this.#draft.model.layers) ? undefined : config.model;
  });
  /** What keeps the run from being started. */
  readonly obstacle: string | undefined = $derived.by(() => {
    if (!this.request || !this.#draft.learner.layers) return undefined;
    if (this.#draft.folds !== undefined)
      return 'Weights of another run may have learned from the rows that test a fold: take one training';
    if (this.failure) return this.failure.message.replace(/\.$/, '');
    if (this.#reading) return 'The texts are being read as its run reads them';
    if (!this.fits) return undefined;
    if (this.misfit) return `${this.misfit.title} does not fit the weights of run ${this.request.run}`;
    const loose = this.fits.find(({ fit, frozen }) => frozen && fit === 'new');
    if (loose) return `${loose.title} is frozen with nothing taken for it: freeze fewer layers or take more`;
    if (this.fits.every(({ frozen }) => frozen)) return 'All layers are frozen: there is nothing to train';
    return this.fits.some(({ fit }) => fit === 'taken') ? undefined : `Nothing of run ${this.request.run} fits`;
  });

  constructor(service: Service, draft: Draft, request?: TransferRequest) {
    this.#service = service;
    this.#draft = draft;
    this.request = request;
    void this.#find().then(() => this.#read());
  }

  /** undefined: weights drawn by chance. */
  choose(run: number | undefined): Promise<void> {
    this.request = run === undefined ? undefined : { run, checkpoint: 'best' };
    // Folds and such weights do not go together, and folds may be there without having been asked for.
    if (run !== undefined && this.#draft.folds !== undefined) this.#draft.cross(undefined);
    return Promise.all([this.#read(), this.#readRows()]).then(() => undefined);
  }

  /** Has rows read as the run reads them, or as they are read best again. */
  async #readRows(): Promise<void> {
    const run = this.request?.run;
    const draft = this.#draft;
    this.#reading = true;
    try {
      const dataset = await readAsRun(this.#service, draft.dataset, run);
      if (dataset === draft.dataset) return;
      const shape = await this.#service.datasetShape({ dataset: dataset.id, settings: decided(dataset) });
      if (this.request?.run === run) draft.readOtherwise(dataset, shape);
    } catch (error) {
      if (this.request?.run === run) this.failure = failureOf(error);
    } finally {
      if (this.request?.run === run) this.#reading = false;
    }
  }

  take(checkpoint: CheckpointChoice): Promise<void> {
    if (this.request) this.request = { ...this.request, checkpoint };
    return this.#read();
  }

  /** Takes so many layers; undefined: all. */
  upTo(layers: number | undefined): void {
    if (!this.request) return;
    const { upTo: _, ...rest } = this.request;
    this.request = layers === undefined ? rest : { ...rest, upTo: layers };
  }

  async #find(): Promise<void> {
    try {
      const { dataset } = this.#draft;
      const [here, anywhere] = await Promise.all([
        this.#service.runs({ dataset: dataset.id, limit: offered, fields }),
        this.#service.runs({ limit: offered, fields }),
      ]);
      const asked = this.request ? [await this.#service.run({ run: this.request.run })] : [];
      const all = [...asked, ...here.runs, ...anywhere.runs].filter(
        (run, index, runs) => runs.findIndex(({ id }) => id === run.id) === index,
      );
      this.sources = all.filter(hasWeights);
    } catch (error) {
      this.failure = failureOf(error);
    }
  }

  async #read(): Promise<void> {
    const { request } = this;
    this.#weights = null;
    this.failure = null;
    if (!request) return;
    const asked = (): boolean => this.request?.run === request.run && this.request.checkpoint === request.checkpoint;
    try {
      const [kept, weights] = await Promise.all([
        this.#service.checkpoints({ run: request.run }),
        this.#service.weightShapes({ run: request.run, checkpoint: request.checkpoint }),
      ]);
      if (!asked()) return;
      this.kept = kept;
      this.#weights = weights;
    } catch (error) {
      if (asked()) this.failure = failureOf(error);
    }
  }
}
