// The catalogue of the open tab: built in, with the person's own prices over it, read anew whenever a tab is opened.

import { z } from 'zod';
import type { AppService } from '../../../engine/protocol/app.ts';
import { readCatalogue, type Catalogue } from '../../../engine/hardware/catalogue/catalogue.ts';
import { problemText } from '../../../engine/hardware/catalogue/check.ts';
import { failureOf } from '../../app/failure.ts';

// The page may not make code of text, which zod would otherwise try.
z.config({ jitless: true });

export type OwnPriceRequest = Parameters<AppService['setOwnPrice']>[0];

export class HardwareCatalogue {
  /** The built-in one until the own file has been read. */
  value: Catalogue = $state.raw(readCatalogue().catalogue);
  /** What is wrong with the own file, in a sentence with line and field; '' = nothing. */
  damage: string = $state('');
  loaded: boolean = $state(false);
  readonly #service: AppService;

  constructor(service: AppService) {
    this.#service = service;
  }

  async load(): Promise<void> {
    try {
      this.#take(await this.#service.ownCatalogue());
    } catch (error) {
      const { message, hint } = failureOf(error);
      this.damage = `${message} ${hint}`;
    }
    this.loaded = true;
  }

  /** Keeps an own price; throws what the main process has against it. */
  async setPrice(price: OwnPriceRequest): Promise<void> {
    this.#take(await this.#service.setOwnPrice(price));
  }

  #take(text: string | null): void {
    const { catalogue, problems } = readCatalogue(text);
    this.value = catalogue;
    const more = problems.length > 1 ? ` And ${problems.length - 1} more.` : '';
    this.damage = problems.length > 0 ? `hardware/catalogue.json: ${problemText(problems[0])}${more}` : '';
  }
}
