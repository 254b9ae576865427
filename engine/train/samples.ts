// What a language model writes while it learns: a few lines in the log, so that a person sees it learn.

import { languageOf, type Language } from '../text/language.ts';
import type { PreparedData } from '../protocol/data.ts';
import { sampleMessage } from '../protocol/samples.ts';
import type { Surroundings } from './control.ts';
import type { Diary } from './diary.ts';
import { fromCodes, generate } from './generate.ts';
import type { Session } from './session.ts';

/** Characters of a sample, about. */
const mostTokens = 160;
/** The same at every step, so that what changes is the model alone. */
const sampling = { temperature: 0.8, topP: 0.95, seed: 1 } as const;
/** Milliseconds that writing may take, and between two samples. */
const longest = 2_000;
const [least, share] = [5_000, 50];

export class Samples {
  readonly #session: Session;
  readonly #language: Language | null;
  readonly #diary: Diary;
  readonly #clock: Surroundings['clock'];
  #next: number;

  constructor(session: Session, data: PreparedData, diary: Diary, clock: Surroundings['clock']) {
    this.#session = session;
    this.#language = languageOf(data.preprocessing);
    this.#diary = diary;
    this.#clock = clock;
    this.#next = clock() + least;
  }

  /** Whether it is time for the next one: as often as costs no more than a fiftieth of the time. */
  get due(): boolean {
    return this.#language !== null && this.#clock() >= this.#next;
  }

  /** Writes a sample by the weights on the device, with nothing under way. */
  async write(step: number): Promise<void> {
    const language = this.#language;
    if (language === null) return;
    const begun = this.#clock();
    const following = fromCodes(language.length, (codes) => this.#session.following(codes));
    const options = { prompt: '', tokens: mostTokens, ...sampling };
    let text = '';
    await this.#diary.during('validation', async () => {
      for await (const piece of generate(following, language, options)) {
        text += piece;
        if (this.#clock() - begun > longest) break;
      }
    });
    this.#diary.say(sampleMessage({ step, text }));
    this.#next = this.#clock() + Math.max(least, share * (this.#clock() - begun));
  }
}
