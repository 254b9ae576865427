// A language model on the command line: a book is trained on, the run writes, the same seed writes the same, and what answers rows is refused.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { lastEvent, temporaryHome, trainyard } from '../support/cli.ts';
import { lacksPython, runPython } from '../support/python.ts';

const home = temporaryHome({ after } as never);

/** Sentences in a fixed round: what follows is told by what was before. */
const sentences = [
  'The cat sat on the mat, and',
  'the dog lay by the door;',
  'a bird sang to them all:',
  'nobody listened.',
];
const book = path.join(home, 'book.txt');
fs.writeFileSync(book, Array.from({ length: 400 }, (_, i) => sentences[i % 4]).join('\n'));

const model = path.join(home, 'gpt.json');
const block = (id: string, from: string): readonly object[] => [
  { type: 'layer_norm', id: `${id}n`, from },
  { type: 'attention', id: `${id}a`, heads: 2, causal: true },
  { type: 'add', id, from: [from, `${id}a`] },
];
const layers = (pool: string): readonly object[] => [
  { type: 'token_embedding', dimensions: 32 },
  { type: 'position_embedding', id: 'p' },
  ...block('a', 'p'),
  ...block('b', 'a'),
  { type: 'layer_norm' },
  { type: 'pool_positions', pool },
  { type: 'output' },
];
fs.writeFileSync(model, JSON.stringify({ version: 1, layers: layers('last') }));

const flags = [
  '--model',
  model,
  '--length',
  '24',
  '--epochs',
  '12',
  '--lr',
  '0.01',
  '--device',
  'cpu',
  '--threads',
  '1',
];

test('a book is read as a text to write on, and learned', async () => {
  const { stdout } = await trainyard(home, 'inspect', book);
  assert.match(stdout, /read as format text/);
  assert.match(stdout, /target text \(language\)/);
  assert.match(stdout, /^.{19}…$/m, 'what is cut says so');
  assert.match(stdout, /^split: 80 % of the text train, 10 % validate, 10 % test$/m);
  const { metrics } = await lastEvent(home, 'train', book, ...flags);
  const { val_bits_per_byte: bits, val_loss: loss, val_perplexity: perplexity } = metrics as Record<string, number>;
  // Whoever told letters by how often they come would need over 4 bits.
  assert.ok(bits < 0.6, `${bits} bits per byte`);
  // Tokens are bytes here.
  assert.ok(Math.abs(bits - loss / Math.LN2) < 1e-9);
  assert.ok(Math.abs(perplexity - Math.exp(loss)) < 1e-9);
});

test('it writes on, and by the same seed the same', async () => {
  const write = async (...more: readonly string[]): Promise<string> =>
    (await lastEvent(home, 'generate', '1', '--tokens', '60', ...more)).text as string;
  const sure = await write('--prompt', 'The cat sat on', '--temperature', '0');
  assert.match(sure, /^ the mat, and\nthe dog lay by/);
  const [one, again, other] = [
    await write('--temperature', '3', '--top-p', '1', '--seed', '5'),
    await write('--temperature', '3', '--top-p', '1', '--seed', '5'),
    await write('--temperature', '3', '--top-p', '1', '--seed', '6'),
  ];
  assert.equal(one, again);
  assert.notEqual(one, other);
  const { stdout } = await trainyard(home, 'generate', '1', '--prompt', 'The cat sat on', '--temperature', '0');
  assert.ok(stdout.startsWith(`The cat sat on${sure}`));
  const { stderr } = await trainyard(home, 'generate', '1', '--prompt', 'Ü 😀, Ü', '--tokens', '3');
  assert.match(stderr, /The model has never read Ü 😀 of the prompt/);
});

test('while it learns it writes into its log', async () => {
  const { stdout } = await trainyard(home, 'show', '1', '--log');
  assert.match(stdout, /Step \d+ writes: /);
});

test('what asks for answers to rows is refused by name', async () => {
  for (const command of [
    ['evaluate', '1'],
    ['predict', '1', book],
    ['explain', '1'],
    ['serve', '1'],
    ['check', book, '--model', model],
  ]) {
    const { code, stderr } = await trainyard(home, ...command);
    assert.equal(code, 2, `${command[0]}: ${stderr}`);
    assert.match(stderr, /language model/, command[0]);
  }
});

test('models and splits that would have it read ahead are refused, and other learners', async () => {
  const ahead = path.join(home, 'ahead.json');
  fs.writeFileSync(ahead, JSON.stringify({ version: 1, layers: layers('mean') }));
  const refusals = [
    [['--model', ahead], /looks ahead/],
    [['--model', 'linear'], /learn to write/],
    [['--model', model, '--folds', '3'], /split in its order/],
    [['--model', model, '--length', '9000'], /too short/],
    [['--model', model, '--tokenizer', 'words'], /cannot be put together/],
  ] as const;
  for (const [given, message] of refusals) {
    const { code, stderr } = await trainyard(home, 'train', book, ...given);
    assert.notEqual(code, 0, given.join(' '));
    assert.match(stderr, message);
  }
  const { code, stderr } = await trainyard(home, 'generate', '99');
  assert.equal(code, 2, stderr);
});

test('it leaves as safetensors and ONNX, where it is the same model of prompts of any length; for a cluster it is refused by name', async () => {
  const file = path.join(home, 'm.onnx');
  const { certificate } = await lastEvent(home, 'export', '1', '--format', 'onnx', '--out', file);
  const { passed, rows, inputs, outputs } = certificate as Record<string, unknown> & {
    readonly outputs: readonly { readonly name: string }[];
  };
  assert.ok(passed && (rows as number) >= 20, JSON.stringify(certificate));
  assert.deepEqual(inputs, [{ name: 'text', type: 'int64 N × 24' }]);
  assert.deepEqual(
    outputs.map(({ name }) => name),
    ['label', 'probabilities', 'logits', 'next'],
  );
  const said = await lastEvent(home, 'generate', '1', '--prompt', 'a bird', '--tokens', '40', '--temperature', '0');
  const writes = (python: string): string => runPython([path.join(home, python), 'a bird', '40']).replace(/\r?\n$/, '');
  if (!lacksPython('numpy', 'onnxruntime')) assert.equal(writes('m.write.py'), said.text);
  const cluster = await trainyard(home, 'export', '1', '--format', 'pytorch-ddp', '--out', path.join(home, 'ddp'));
  assert.match(
    cluster.stderr,
    /There is no PyTorch on a cluster of a language model\. It leaves as ONNX, safetensors, PyTorch project, /,
  );
  const kept = path.join(home, 'm.safetensors');
  assert.equal((await trainyard(home, 'export', '1', '--format', 'safetensors', '--out', kept)).code, 0);
});

test(
  'as a project of PyTorch it writes the same, and its first losses are those of the run',
  { skip: lacksPython('torch', 'safetensors') },
  async () => {
    const folder = path.join(home, 'project');
    await lastEvent(home, 'export', '1', '--format', 'pytorch', '--out', folder);
    // Longer than the context, and a sign that the model has never read.
    for (const prompt of ['The cat sat on the mat, and the dog', 'Ü']) {
      const { text } = await lastEvent(
        home,
        'generate',
        '1',
        '--prompt',
        prompt,
        '--tokens',
        '40',
        '--temperature',
        '0',
      );
      assert.equal(runPython(['write.py', prompt, '40'], { cwd: folder }).replace(/\r?\n$/, ''), text);
    }
    const compared = runPython(['train.py', '--compare'], { cwd: folder });
    const differences = [...compared.matchAll(/difference (\S+)/g)].map(([, difference]) => Number(difference));
    assert.equal(differences.length, 10, compared);
    assert.ok(Math.max(...differences) < 1e-4, compared);
  },
);

test('without its texts, as one that was imported, it is no table that another file could stand for', async () => {
  const [{ dataset }] = (await trainyard(home, 'datasets', '--json')).events;
  assert.equal((await trainyard(home, 'datasets', 'remove', String(dataset))).code, 0);
  const { code, stderr } = await trainyard(home, 'evaluate', '1');
  assert.deepEqual([code, /language model: it writes text/.test(stderr)], [2, true], stderr);
});
