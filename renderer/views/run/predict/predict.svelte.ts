// The state of the Predict tab: a file with what was made of its columns and predicted for its rows, and how it is being matched.

import type { AppService } from '../../../../engine/protocol/app.ts';
import type { ColumnMatch, FileMatching, PredictionFormat, Progress } from '../../../../engine/protocol/data.ts';
import { ownValue } from '../../../../engine/protocol/own.ts';
import type { FilePrediction } from '../../../../engine/protocol/predicting.ts';
import { failureOf, wasCancelled, type Failure } from '../../../app/failure.ts';

const order = { refused: 0, warned: 1, without: 2, fine: 3 } as const;

/** Problems first: refused before warned before fine, else in the order of the model. */
export function byUrgency(columns: readonly ColumnMatch[]): readonly ColumnMatch[] {
  return [...columns].sort((one, other) => order[one.status] - order[other.status]);
}

/** "11 of 13 matched, 1 missing, 1 refused" */
export function matchWords(columns: readonly ColumnMatch[]): string {
  const count = (is: (column: ColumnMatch) => boolean): number => columns.filter(is).length;
  const parts = [
    [count(({ status, found }) => status === 'refused' && found === null), 'missing'],
    [count(({ status, found }) => status === 'refused' && found !== null), 'refused'],
    [count(({ status }) => status === 'without'), 'left out'],
  ] as const;
  const matched = count(({ status }) => status === 'fine' || status === 'warned');
  const said = parts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`);
  return [`${matched} of ${columns.length} matched`, ...said].join(', ');
}

/** Likely pairs of values that training does not know with those it knows; empty where nothing is likely. */
export function likelyCategory(value: string, categories: readonly string[]): string {
  const words = (text: string): readonly string[] => text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const bare = (text: string): string => words(text).join('');
  const exact = categories.filter((category) => bare(category) === bare(value));
  if (exact.length === 1) return exact[0];
  const alike = categories.filter((category) =>
    words(category).some((word) => word.length > 2 && words(value).includes(word)),
  );
  return alike.length === 1 ? alike[0] : '';
}

export class PredictState {
  readonly #service: AppService;
  readonly #run: number;
  result: FilePrediction | null = $state.raw(null);
  progress: Progress | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  match: FileMatching = $state.raw({});
  /** What is being predicted or saved. */
  job: string | null = $state.raw(null);
  #tokens: readonly string[] = [];
  #jobs = 0;

  constructor(service: AppService, run: number) {
    this.#service = service;
    this.#run = run;
  }

  get refused(): readonly ColumnMatch[] {
    return this.result?.match?.columns.filter(({ status }) => status === 'refused') ?? [];
  }

  /** Another file, or several pictures. */
  async show(items: readonly { readonly token: string }[]): Promise<void> {
    this.#tokens = items.map(({ token }) => token);
    this.match = {};
    await this.#predict();
  }

  /** Another column of the file for one of the model; null = go without it. */
  async take(column: string, name: string | null): Promise<void> {
    this.match = { ...this.match, columns: { ...this.match.columns, [column]: name } };
    await this.#predict();
  }

  async matchValues(column: string, values: Readonly<Record<string, string>>): Promise<void> {
    const before = ownValue(this.match.values ?? {}, column) ?? {};
    this.match = { ...this.match, values: { ...this.match.values, [column]: { ...before, ...values } } };
    await this.#predict();
  }

  async #predict(): Promise<void> {
    await this.#work(async (job) => {
      const result = await this.#service.predictFile({
        job,
        run: this.#run,
        tokens: this.#tokens,
        match: this.match,
      });
      // Of a file that another one has taken the place of.
      const late = this.job !== job;
      const unwanted = late ? result : this.result;
      if (!late) this.result = result;
      if (unwanted) await this.#service.closePrediction({ prediction: unwanted.prediction });
    });
  }

  /** The name of the file that was saved; null = none was. */
  async save(format: PredictionFormat): Promise<string | null> {
    const { result } = this;
    if (!result) return null;
    let saved: string | null = null;
    await this.#work(async (job) => {
      ({ saved } = await this.#service.savePrediction({ job, prediction: result.prediction, ...format }));
    });
    return saved;
  }

  async cancel(): Promise<void> {
    if (this.job) await this.#service.cancel({ job: this.job });
  }

  async #work(work: (job: string) => Promise<void>): Promise<void> {
    await this.cancel();
    const job = `predict-${this.#run}-${++this.#jobs}-${Date.now()}`;
    this.job = job;
    const stop = this.#service.onProgress((event) => {
      if (event.job === job) this.progress = event.progress;
    });
    try {
      await work(job);
      if (this.job === job) this.failure = null;
    } catch (error) {
      if (this.job === job && !wasCancelled(error)) this.failure = failureOf(error);
    } finally {
      stop();
      if (this.job === job) {
        this.job = null;
        this.progress = null;
      }
    }
  }

  close(): void {
    void this.cancel();
    this.job = null;
    if (this.result) void this.#service.closePrediction({ prediction: this.result.prediction });
  }
}
