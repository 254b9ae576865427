// A row that a person changes: the prediction follows, one question at a time, and always the latest.

import type { AppService } from '../../../../engine/protocol/app.ts';
import type { CellValue, ColumnInfo } from '../../../../engine/protocol/data.ts';
import { ownValue } from '../../../../engine/protocol/own.ts';
import type { FormField, ModelForm, RowAnswers } from '../../../../engine/protocol/serving.ts';
import { failureOf, type Failure } from '../../../app/failure.ts';

export type RowValues = Readonly<Record<string, CellValue>>;

export class WhatIfState {
  readonly #service: AppService;
  readonly #run: number;
  form: ModelForm | null = $state.raw(null);
  values: RowValues = $state.raw({});
  /** Where it started from, for comparison. */
  start: { readonly words: string; readonly values: RowValues; readonly answer: RowAnswers | null } = $state.raw({
    words: '',
    values: {},
    answer: null,
  });
  answer: RowAnswers | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  #asking = false;
  #again = false;

  constructor(service: AppService, run: number) {
    this.#service = service;
    this.#run = run;
  }

  async open(): Promise<void> {
    try {
      this.form = await this.#service.openModel({ run: this.#run });
      await this.startFrom('the middle of training', {});
    } catch (error) {
      this.failure = failureOf(error);
    }
  }

  close(): void {
    void this.#service.closeModel({ run: this.#run });
  }

  /**
   * Columns that are not given take the middle of the training rows, and so do those that are null where training had no gaps.
   * `given`: as the model reads them.
   */
  async startFrom(words: string, given: RowValues): Promise<void> {
    const fields = this.form?.fields ?? [];
    const values = Object.fromEntries(
      fields.map(({ name, middle, gaps }) => {
        const value = ownValue(given, name);
        return [name, value === null && gaps ? null : (value ?? middle)];
      }),
    );
    this.values = values;
    const answer = await this.#ask(values);
    this.start = { words, values, answer };
    this.answer = answer;
  }

  set(name: string, value: CellValue): void {
    this.values = { ...this.values, [name]: value };
    void this.#follow();
  }

  reset(name: string): void {
    this.set(name, ownValue(this.start.values, name) ?? null);
  }

  /** While an answer is on its way further changes wait; then the latest is asked for. */
  async #follow(): Promise<void> {
    this.#again = true;
    if (this.#asking) return;
    this.#asking = true;
    while (this.#again) {
      this.#again = false;
      this.answer = (await this.#ask(this.values)) ?? this.answer;
    }
    this.#asking = false;
  }

  async #ask(row: RowValues): Promise<RowAnswers | null> {
    try {
      const answer = await this.#service.askModel({ run: this.#run, rows: [row] });
      this.failure = null;
      return answer;
    } catch (error) {
      this.failure = failureOf(error);
      return null;
    }
  }
}

/** From where to where a control goes: what the dataset holds, else what most training rows have. */
export function rangeOf(field: FormField, column: ColumnInfo | undefined): readonly [number, number] {
  const [low, high] = field.usual ?? [0, 1];
  return [column?.minimum ?? low, column?.maximum ?? high];
}

/** A step that the hand can tell: a five-hundredth of the range, round; whole where the column is. */
export function stepOf([low, high]: readonly [number, number], whole: boolean): number {
  const step = 10 ** Math.floor(Math.log10((high - low) / 100 || 1));
  return whole ? Math.max(1, step) : step;
}
