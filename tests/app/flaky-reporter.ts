// Counts the tests that passed only when they were tried again, and says so at the very end, loudly: a retry hides nothing.

import type { FullResult, Reporter, TestCase, TestResult } from '@playwright/test/reporter';

export default class FlakyReporter implements Reporter {
  readonly #flaky = new Set<string>();

  onTestEnd(test: TestCase, result: TestResult): void {
    if (result.status === 'passed' && result.retry > 0) this.#flaky.add(test.titlePath().filter(Boolean).join(' › '));
  }

  onEnd(_result: FullResult): void {
    const names = [...this.#flaky];
    const mark = names.length > 0 ? `${'!'.repeat(72)}\n` : '';
    const list = names.map((name) => `  passed only when tried again: ${name}\n`).join('');
    process.stdout.write(`\n${mark}${list}flaky: ${names.length}\n${mark}`);
  }

  printsToStdio(): boolean {
    return false;
  }
}
