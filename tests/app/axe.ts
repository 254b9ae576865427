// What axe finds wrong with a page for those who cannot see it, hear it or use a pointer.

import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** Violations of WCAG 2.2 A and AA and of axe's good practice, in short; `within`: a selector of the part to look at. */
export async function violations(page: Page, within?: string): Promise<string[]> {
  // axe would open a window of its own to finish in, which the app denies; legacy mode stays in the page.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations: found } = await (within === undefined ? axe : axe.include(within)).analyze();
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => String(target)).join(', ')}`);
}
