// What figures of energy, money and time rest on outside the hardware section: the catalogue with the person's own entries, and what
// electricity costs. Views load this when it is first needed: the catalogue does not stand between a person and the window.

import { z } from 'zod';
import type { AppService } from '../../../engine/protocol/app.ts';
import { electricityOf } from '../../../engine/hardware/bill.ts';
import { readCatalogue, type Catalogue } from '../../../engine/hardware/catalogue/catalogue.ts';
import { electricityKey, type Electricity } from '../../../engine/settings/electricity.ts';

// The page may not make code of text, which zod would otherwise try.
z.config({ jitless: true });

export interface Knowledge {
  readonly catalogue: Catalogue;
  readonly electricity: Electricity;
}

/** The hardware section says what is wrong with a damaged own file; here the built-in catalogue goes on. */
export async function readKnowledge(service: AppService): Promise<Knowledge> {
  const [own, kept] = await Promise.all([
    service.ownCatalogue().catch(() => null),
    service.getSetting({ key: electricityKey }),
  ]);
  return { catalogue: readCatalogue(own).catalogue, electricity: electricityOf(kept) };
}
