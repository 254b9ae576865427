// The app tests: the real Electron, as a person would use it. Screenshots of every view are kept.

import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: '.',
  testMatch: '**/*.spec.ts',
  outputDir: '../../test-results/app',
  // A window waits more than it works: all tests together take half of the time of two cores when two go at once.
  workers: 3,
  // A real window on a busy machine can miss a key or a frame; a test that fails twice has found something.
  retries: process.env['CI'] ? 1 : 0,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: [['list'], ['./flaky-reporter.ts']],
  forbidOnly: Boolean(process.env['CI']),
});
