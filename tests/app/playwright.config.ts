// The app tests: the real Electron, one window at a time, as a person would use it. Screenshots of every view are kept.

import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: '.',
  testMatch: '**/*.spec.ts',
  outputDir: '../../test-results/app',
  // Two cores train, draw and test at once.
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
  forbidOnly: Boolean(process.env['CI']),
});
