// Models that read texts leave with what makes their tokens: an ONNX model fed ids, its certificate, and a module of Python that makes the same ids
// of odd texts.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { encodeText } from '../../engine/data/preprocess/texts.ts';
import type { Preprocessing, TextRecipe } from '../../engine/data/preprocess/recipe.ts';
import { tokenFiles } from '../../engine/export/texts/tokens.ts';
import type { Tokenizer } from '../../engine/text/tokenizer.ts';
import { trainTokenizer } from '../../engine/text/tokenizers.ts';
import { lastEvent, temporaryHome } from '../support/cli.ts';
import { lacksPython, runPython } from '../support/python.ts';

const home = temporaryHome({ after } as never);

const odd = [
  '',
  ' \u00a0',
  '\u3000 spaces round it  ',
  'NA',
  'left out',
  'Plain words, and 12 numbers!',
  'ΟΔΟΣ, ÅNGSTRÖM and İstanbul',
  'cafe\u0301 café',
  '日本語 and 한국어',
  'one 😀 two 👩‍👩‍👧',
  '\ud83d half a pair \ude00',
  'tab\tline\nend\u0000',
  'longer than any of them '.repeat(9),
  `${'x'.repeat(39)}😀 is cut there`,
  `cut there 😀${'x'.repeat(39)}`,
];

const recipeOf = (kind: Tokenizer['kind'], keepsEnd: boolean) => {
  const tokenizer = trainTokenizer(odd.slice(0, 10), { kind, vocabulary: 300 });
  const feature: TextRecipe = {
    ...{ kind: 'text', column: 'said', missing: ['left out'], characters: 40, length: 9 },
    tokenizer: JSON.parse(JSON.stringify(tokenizer.toJSON())) as unknown,
    vocabulary: tokenizer.vocabulary,
    ...(keepsEnd && { keepsEnd }),
  };
  const target = { kind: 'classes', column: 'is', missing: [], classes: ['a', 'b'] } as const;
  const recipe = { version: 1, features: [feature], target, leftOut: [] } as unknown as Preprocessing;
  return { feature, recipe };
};

for (const [kind, keepsEnd] of [
  ['words', false],
  ['characters', false],
  ['wordpiece', false],
  ['wordpiece', true],
  ['bytes', false],
  ['bytes', true],
] as const) {
  const packages = kind === 'words' || kind === 'characters' ? ['numpy'] : ['numpy', 'tokenizers'];
  test(
    `Python makes the same ids of odd texts: ${kind}${keepsEnd ? ' of their ends' : ''}`,
    { skip: lacksPython(...packages) },
    () => {
      const { feature, recipe } = recipeOf(kind, keepsEnd);
      const folder = path.join(home, `${kind} ${keepsEnd}`);
      fs.mkdirSync(folder);
      for (const { path: name, data } of tokenFiles(recipe, '')) fs.writeFileSync(path.join(folder, name), data);
      fs.writeFileSync(path.join(folder, 'odd.json'), JSON.stringify(odd));
      const script =
        'import json, tokens; print(json.dumps(tokens.codes({"said": json.load(open("odd.json"))}).tolist()))';
      const found = JSON.parse(runPython(['-c', script], { cwd: folder })) as number[][];
      odd.forEach((text, row) => {
        const wanted = new Float32Array(feature.length);
        const trimmed = text.replaceAll(/^\p{Zs}+|\p{Zs}+$/gu, '');
        encodeText(feature, trimmed === '' || trimmed === 'NA' || trimmed === 'left out' ? null : text, wanted, 0);
        assert.deepEqual(found[row], [...wanted], JSON.stringify(text));
      });
    },
  );
}

test('a network and a linear model on texts, a number and a category leave as ONNX and answer the same there', async () => {
  const lines = Array.from({ length: 240 }, (_, row) => {
    const said = row % 17 === 3 ? '' : `"no. ${row}: ${row % 2 ? 'stale, sent back' : 'lovely 😀'}"`;
    return `${row % 5},${['red', 'blue', 'green'][row % 3]},${said},${row % 2 ? 'no' : 'yes'}`;
  });
  const table = path.join(home, 'reviews.csv');
  fs.writeFileSync(table, ['stars,colour,review,liked', ...lines].join('\n'));
  const flags = ['--target', 'liked', '--text', 'review', '--model', 'text-bag', '--epochs', '1'];
  const { run } = await lastEvent(home, 'train', table, ...flags);
  const out = path.join(home, 'm.onnx');
  const { certificate } = await lastEvent(home, 'export', String(run), '--format', 'onnx', '--out', out);
  const { passed, inputs } = certificate as { passed: boolean; inputs: { name: string; type: string }[] };
  assert.ok(passed, JSON.stringify(certificate));
  assert.match(inputs.find(({ name }) => name === 'review')!.type, /^int64 N × \d+$/);
  assert.equal(inputs.length, 3);
  for (const name of ['m.tokenizer.json', 'm.tokens.py', 'm.check.py']) assert.ok(fs.existsSync(path.join(home, name)));
  const linear = await lastEvent(home, 'train', table, ...flags.slice(0, 4), '--model', 'linear');
  const counted = path.join(home, 'l.onnx');
  const proof = await lastEvent(home, 'export', String(linear.run), '--format', 'onnx', '--out', counted);
  assert.ok((proof.certificate as { passed: boolean }).passed, JSON.stringify(proof.certificate));
  if (lacksPython('numpy', 'onnxruntime')) return;
  assert.match(runPython([path.join(home, 'l.check.py')]), /passes with onnxruntime/);
  assert.match(runPython([path.join(home, 'm.check.py')]), /passes with onnxruntime/);
});

test(
  'in PyTorch a text classifier gives the probabilities it gives here, and begins as it began here: fixed tables of places too',
  { skip: lacksPython('torch', 'safetensors', 'tokenizers') },
  async () => {
    const lines = Array.from({ length: 90 }, (_, row) =>
      JSON.stringify({ said: `${odd[5 + (row % 5)]} ${row}`, is: row % 2 ? 'yes' : 'no' }),
    );
    const table = path.join(home, 'said.jsonl');
    fs.writeFileSync(table, lines.join('\n'));
    const layers = [
      { type: 'token_embedding', dimensions: 16 },
      { type: 'position_embedding', vectors: 'sinusoidal' },
      { type: 'attention', heads: 2, rotary: true },
      { type: 'pool_positions' },
      { type: 'output' },
    ];
    fs.writeFileSync(path.join(home, 'places.json'), JSON.stringify({ version: 1, layers }));
    const flags = [
      '--target',
      'is',
      '--text',
      'said',
      '--model',
      path.join(home, 'places.json'),
      '--tokenizer',
      'bytes',
      '--epochs',
      '1',
    ];
    const { run } = await lastEvent(home, 'train', table, ...flags);
    const folder = path.join(home, 'project');
    await lastEvent(home, 'export', String(run), '--format', 'pytorch', '--out', folder);
    const others = odd.map((said) => ({ said: said.toWellFormed() }));
    const asked = path.join(home, 'asked.jsonl');
    fs.writeFileSync(asked, others.map((row) => JSON.stringify(row)).join('\n'));
    fs.writeFileSync(path.join(folder, 'odd.json'), JSON.stringify(others.map(({ said }) => said)));
    const out = path.join(home, 'predictions.csv');
    await lastEvent(home, 'predict', String(run), asked, '--out', out);
    const [head, ...rows] = fs
      .readFileSync(out, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(','));
    const wanted = rows.map((row) => Number(row[head.findIndex((name) => /yes/.test(name))]));
    const script = `
import json, torch, model, tokens
logits = model.load()(torch.from_numpy(tokens.codes({"said": json.load(open("odd.json"))})))
shares = logits.softmax(1)[:, 1] if logits.shape[1] > 1 else logits.sigmoid()[:, 0]
print(json.dumps(shares.tolist()))`;
    const found = JSON.parse(runPython(['-c', script], { cwd: folder })) as number[];
    assert.equal(found.length, wanted.length);
    found.forEach((share, row) => assert.ok(Math.abs(share - wanted[row]) < 1e-4, `${row}: ${share}, ${wanted[row]}`));
    const compared = [...runPython(['train.py', '--compare'], { cwd: folder }).matchAll(/difference (\S+)/g)];
    assert.ok(compared.length > 1);
    for (const [said, difference] of compared) assert.ok(Number(difference) < 1e-5, said);
  },
);
