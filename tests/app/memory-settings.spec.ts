// Settings that spare memory, as a person meets them: in the form, in what the run says, in a comparison.

import { expect, screenshot, test } from './launch.ts';
import { importTable, writeTable } from './scene.ts';

test('gradient checkpointing and 16 bits are chosen in the form, and the run says what became of them', async ({
  app,
}) => {
  const { page } = app;
  const { id } = await importTable(app, writeTable(app.home, 400));
  await page.evaluate((dataset) => (location.hash = `#new/${dataset}`), id);
  await expect(page.getByRole('heading', { name: 'New run' })).toBeVisible();
  await page.getByRole('button', { name: 'Wide MLP' }).click();
  await page.getByRole('textbox', { name: 'Epochs', exact: true }).fill('2');
  await page.getByRole('textbox', { name: 'Epochs', exact: true }).press('Tab');
  await page.getByRole('button', { name: 'Take one training' }).click();
  await page.getByRole('button', { name: 'Advanced' }).click();
  await page.getByRole('checkbox', { name: 'Gradient checkpointing' }).check();
  await page.getByRole('combobox', { name: 'Precision' }).selectOption('mixed16');
  const memory = page.getByRole('region', { name: 'Memory, forecast' });
  await expect(memory.getByText(/B if nothing is spared\.$/)).toBeVisible();
  const forecast = (await memory.locator('.total b').textContent())!;
  await screenshot(app, 'memory-settings');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.getByText('Completed').first()).toBeVisible();
  await expect(page.getByRole('log')).toContainText('Numbers of 16 bits are for GPUs');
  await expect(page.getByText('16 bits, mixed')).toBeVisible();
  // The form has said what is allocated: both go by the plan.
  await expect(page.getByRole('paragraph').filter({ hasText: /^\s*Memory/ })).toContainText(`forecast ${forecast}`);
  await screenshot(app, 'memory-settings-log');
});
