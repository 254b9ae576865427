// Megabytes of UTF-8 a second of processor time that each kind of tokenizer reads, line by line and as one text:
// `node tests/bench/tokenizers.ts [--rounds 3]`, the best of the rounds. English are the Markdown files of the packages in node_modules, other languages
// the messages of TypeScript in thirteen of them, which every checkout has. Half of the lines train, the other half is read.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Tokenizer } from '../../engine/text/tokenizer.ts';
import { tokenizerOf, trainTokenizer } from '../../engine/text/tokenizers.ts';
import { utf8Length } from '../../engine/text/utf8.ts';

const packages = path.resolve(import.meta.dirname, '../../node_modules');
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const rounds = Number(values.rounds);
/** UTF-16 units of each text. */
const mostCharacters = 8_000_000;

function english(): string {
  const names = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter((name) => /\.md$/i.test(name));
  let text = '';
  for (const name of names.sort())
    if (text.length < mostCharacters) text += readFileSync(path.join(packages, name), 'utf8');
  return text.slice(0, mostCharacters);
}

/** Languages in turn, so that both halves have all of them. */
function manyLanguages(): string {
  const folder = path.join(packages, 'typescript/lib');
  const languages = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const messages = languages.map(({ name }) => {
    const file = path.join(folder, name, 'diagnosticMessages.generated.json');
    return Object.values(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>);
  });
  const longest = Math.max(...messages.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => messages.flatMap((own) => own[at] ?? []).join('\n'))
    .join('\n')
    .slice(0, mostCharacters);
}

/** Seconds of processor time of the quickest round; each round has a tokenizer that has read nothing yet. */
function fastest(json: unknown, work: (tokenizer: Tokenizer) => void): number {
  let best = Infinity;
  for (let round = 0; round < rounds; round++) {
    const tokenizer = tokenizerOf(json);
    const before = process.cpuUsage();
    work(tokenizer);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1e6);
  }
  return best;
}

for (const [name, text] of [
  ['English', english()],
  ['13 languages', manyLanguages()],
] as const) {
  const lines = text.match(/[^\n]*\n|[^\n]+/g) ?? [];
  const [trained, read] = [0, 1].map((half) => lines.filter((_, at) => at % 2 === half));
  const whole = read.join('');
  const megabytes = utf8Length(whole) / 1e6;
  console.log(`${name}: ${megabytes.toFixed(1)} MB in ${read.length} lines`);
  for (const [kind, vocabulary] of [
    ['characters', 1_000],
    ['words', 20_000],
    ['wordpiece', 8_000],
    ['bytes', 8_000],
  ] as const) {
    const json = trainTokenizer(trained, { kind, vocabulary }).toJSON();
    let tokens = 0;
    const byLine = fastest(json, (tokenizer) => {
      tokens = read.reduce((sum, line) => sum + tokenizer.encode(line).length, 0);
    });
    const atOnce = fastest(json, (tokenizer) => void tokenizer.encode(whole));
    const speed = (seconds: number): string => `${(megabytes / seconds).toFixed(1)} MB/s`;
    const size = (utf8Length(whole) / tokens).toFixed(1);
    console.log(`  ${kind}: ${speed(byLine)} line by line, ${speed(atOnce)} at once, ${size} bytes a token`);
  }
}
