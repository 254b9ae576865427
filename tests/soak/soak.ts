// The long soak: `node tests/soak/soak.ts [--kills N] [--damages N] [--commands N] [--seed N]`, 300 kills, 200 damaged homes and 300 commands by
// default; with `--hours 6` again and again in small parts, each with the next seed, for that long. Prints what it did and ends with code 1 if
// anything went wrong. docs/reliability.md has the figures.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { soakCommands } from './commands.ts';
import { damageMany } from './damages.ts';
import { killMany } from './kills.ts';
import { killQueue } from './queue-kills.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '300' },
    damages: { type: 'string', default: '200' },
    commands: { type: 'string', default: '300' },
    hours: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const firstSeed = Number(values.seed);

type Part = (home: string, seed: number) => Promise<{ readonly said: string; readonly wrong: readonly string[] }>;

const kills =
  (count: number): Part =>
  async (home, seed) => {
    const { kills, facts, wrong } = await killMany(home, count, seed);
    return { said: `${kills} kills, ${facts} facts looked up`, wrong };
  };
const queue =
  (count: number): Part =>
  async (home, seed) => {
    const { kills, runs, cut, wrong } = await killQueue(home, count, seed);
    return { said: `${kills} workers of the queue killed, ${runs} runs, ${cut} of them cut`, wrong };
  };
const damages =
  (count: number): Part =>
  async (_home, seed) => {
    const { damages, refused, harmless, wrong } = await damageMany(count, seed);
    return { said: `${damages} damages: ${refused} refused or named, ${harmless} harmless`, wrong };
  };
const commands =
  (count: number): Part =>
  async (home, seed) => {
    const { commands, killed, wrong } = await soakCommands(home, (done) => done < count, seed);
    return { said: `${commands} commands, ${killed} of them ended early`, wrong };
  };

async function soak(part: Part, seed: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-soak-'));
  const started = performance.now();
  try {
    const { said, wrong } = await part(join(folder, 'home'), seed);
    const seconds = Math.round((performance.now() - started) / 1000);
    console.log(`seed ${seed}: ${said}, ${wrong.length} wrong (${seconds} s)`);
    for (const what of wrong) console.log(what);
    if (wrong.length > 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

if (values.hours === undefined) {
  for (const part of [kills(Number(values.kills)), damages(Number(values.damages)), commands(Number(values.commands))])
    await soak(part, firstSeed);
} else {
  const until = Date.now() + Number(values.hours) * 3_600_000;
  for (let seed = firstSeed; Date.now() < until; seed++)
    for (const part of [kills(15), commands(60), queue(10), damages(15)]) await soak(part, seed);
}
