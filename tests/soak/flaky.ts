// The app's tests again and again on a busy machine: which of them fail now and then? No test is tried a second time.
//
//   node tests/soak/flaky.ts [--times 20] [--load 2] [-- what npm test -- app takes]
//
// `--load`: processes that keep the processor busy meanwhile. Ends with `flaky: N`, N the tests that passed some times and
// failed others, and `failing: M`, those that never passed; exit code 1 unless both are 0.

import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

interface Suite {
  readonly suites?: readonly Suite[];
  readonly specs?: readonly {
    readonly title: string;
    readonly file: string;
    readonly tests: readonly { readonly results: readonly { readonly status: string }[] }[];
  }[];
}

const root = path.resolve(import.meta.dirname, '../..');
// What follows `--` is Playwright's.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '20' }, load: { type: 'string', default: '2' } },
});
const busy = Array.from({ length: Number(values.load) }, () =>
  spawn(process.execPath, ['-e', 'for (;;) Math.sqrt(Math.random())'], { stdio: 'ignore' }),
);
const report = path.join(os.tmpdir(), `trainyard-flaky-${process.pid}.json`);
const playwright = [...positionals, '--repeat-each', values.times, '--retries', '0', '--reporter', 'list,json'];
const tests = spawn(process.execPath, ['scripts/test.mjs', 'app', ...playwright], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PLAYWRIGHT_JSON_OUTPUT_NAME: report },
});
await new Promise((resolve) => tests.once('close', resolve));
for (const process of busy) process.kill();

const passed = new Map<string, boolean[]>();
const collect = ({ suites = [], specs = [] }: Suite): void => {
  suites.forEach(collect);
  for (const { file, title, tests } of specs) {
    const name = `${file}: ${title}`;
    const all = passed.get(name) ?? [];
    for (const { results } of tests)
      all.push(...results.map(({ status }) => status === 'passed' || status === 'skipped'));
    passed.set(name, all);
  }
};
collect(JSON.parse(readFileSync(report, 'utf8')) as Suite);
rmSync(report);
const flaky = [...passed].filter(([, times]) => times.includes(true) && times.includes(false));
const failing = [...passed].filter(([, times]) => times.length > 0 && !times.includes(true));
for (const [name, times] of [...flaky, ...failing]) {
  console.log(`${name}: ${times.filter((good) => !good).length} of ${times.length} times failed`);
}
console.log(`failing: ${failing.length}`);
console.log(`flaky: ${flaky.length}`);
process.exitCode = flaky.length + failing.length > 0 || passed.size === 0 ? 1 : 0;
