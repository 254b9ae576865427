// What the README shows of the demo is what the demo says today.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { temporaryHome, trainyard } from '../support/cli.ts';

/** A line without its figures: times are another machine's, scores another instruction set's. */
const shapeOf = (line: string): string =>
  line
    .replace(/ ×\d+/, '')
    .replace(/\d[\d,.]*(?:e[+-]?\d+)?/g, '#')
    .replace(/ +/g, ' ');

test('the README shows what the demo says', async (context) => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const shown = /```\n(penguins\.csv[^`]*)```/.exec(readme)?.[1] ?? '';
  const { code, stdout, stderr } = await trainyard(temporaryHome(context), 'demo');
  assert.equal(code, 0, stderr);
  const said = `${stderr}\n${stdout}`.split('\n').map(shapeOf);
  const lines = shown.trim().split('\n');
  assert.ok(lines.length > 5);
  assert.deepEqual(
    lines.filter((line) => !said.includes(shapeOf(line))),
    [],
  );
});
