// Where the native addon is missing the status bar and a check before a run say so, with what it costs; where it is there, nothing is said.

import { expect, launch, screenshot, test } from './launch.ts';
import { importTable, writeTable } from './scene.ts';

const words = /No native addon: training takes about \d+(\.\d+)? × as long/;

test('a missing native addon is said in the status bar, whole in a small window too', async () => {
  const app = await launch({ env: { TRAINYARD_NATIVE: '0' } });
  const { page } = app;
  const status = page.getByRole('contentinfo', { name: 'Status' });
  const said = status.getByRole('link', { name: words });
  await expect(said).toBeVisible();
  // What brings it back stands where it leads to, by the keyboard, too.
  await said.focus();
  await page.keyboard.press('Enter');
  const whole = page.getByText(/WebAssembly does its work\..*TRAINYARD_NATIVE is 0, which leaves it out: unset it\./s);
  await expect(whole).toBeVisible();
  await expect(page.getByText('Install Trainyard again')).toHaveCount(0);
  await screenshot(app, 'missing-addon-hardware');
  for (const width of [1100, 1440, 1920]) {
    await (await app.electron.browserWindow(page)).evaluate((window, w) => window.setContentSize(w, 800), width);
    await page.waitForFunction((wanted) => Math.abs(innerWidth - wanted) < 3, width);
    await screenshot(app, `missing-addon-${width}`);
    const hidden = await status.evaluate((bar) => bar.scrollWidth - bar.clientWidth);
    expect(hidden).toBeLessThanOrEqual(0);
  }
  const dataset = await importTable(app, writeTable(app.home, 400));
  await page.evaluate((id) => (location.hash = `#new/${id}`), dataset.id);
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  const verdict = page.getByRole('status').filter({ hasText: /to fix first|to look at|Nothing found/ });
  await expect(verdict).toContainText(words, { timeout: 60_000 });
  for (const width of [1100, 1440, 1920]) {
    await (await app.electron.browserWindow(page)).evaluate((window, w) => window.setContentSize(w, 800), width);
    await page.waitForFunction((wanted) => Math.abs(innerWidth - wanted) < 3, width);
    await expect(verdict.getByText(words)).toBeVisible();
    await screenshot(app, `missing-addon-check-${width}`);
  }
  await app.close();
});

test('nothing is said where it is there', async ({ app }) => {
  const status = app.page.getByRole('contentinfo', { name: 'Status' });
  await expect(status).toContainText('CPU');
  await expect(status.getByText(words)).toHaveCount(0);
});
