// The long soak: `node tests/soak/soak.ts [--kills N] [--damages N] [--seed N]`, 300 kills and 200 damaged homes by default.
// Prints what it did and ends with code 1 if anything went wrong. docs/reliability.md has the figures.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { damageMany } from './damages.ts';
import { killMany } from './kills.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '300' },
    damages: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
  },
});
const seed = Number(values.seed);
const home = mkdtempSync(join(tmpdir(), 'trainyard-soak-'));
try {
  const started = performance.now();
  const killed = await killMany(home, Number(values.kills), seed);
  const between = performance.now();
  console.log(
    `${killed.kills} kills, ${killed.facts} facts looked up, ${killed.wrong.length} wrong (${seconds(between - started)})`,
  );
  const damaged = await damageMany(Number(values.damages), seed);
  console.log(
    `${damaged.damages} damages: ${damaged.refused} refused or named, ${damaged.harmless} harmless, ` +
      `${damaged.wrong.length} wrong (${seconds(performance.now() - between)})`,
  );
  for (const what of [...killed.wrong, ...damaged.wrong]) console.log(what);
  process.exitCode = killed.wrong.length + damaged.wrong.length > 0 ? 1 : 0;
} finally {
  rmSync(home, { recursive: true, force: true });
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1000)} s`;
}
