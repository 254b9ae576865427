// A model of others from the command line: read as a finished run that predicts, begun with, frozen, and refused where it does not fit.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { decodeSafetensors } from '../../engine/train/safetensors.ts';
import { lastEvent, penguins, temporaryHome, trainyard } from '../support/cli.ts';
import { noisyClasses, temporaryFolder, writeTree } from '../support/pictures.ts';
import { fileOf, goldenNets } from '../golden/pretrained-pictures.ts';
import { folderOf, goldenTexts, nested } from '../golden/pretrained-texts.ts';

const home = temporaryHome({ after } as never);
const folder = temporaryFolder({ after } as never);
const at = (name: string): string => path.join(folder, name);
writeTree(folder, {
  'net.safetensors': fileOf(goldenNets.mobilenet_v2),
  'names.txt': 'ant\nbee\ncat\ndog\neel\n',
  'half.txt': 'ant\nbee\n',
  ...noisyClasses(['new'], 2, { size: 224, prefix: 'unknown/' }),
  ...noisyClasses(['left', 'right', 'up'], 12, { size: 64, prefix: 'own/' }),
});
const runs = async (): Promise<number> => (await trainyard(home, 'runs', '--json')).events.length;
const readingOfPixels = (run: number): { readonly mean: number[]; readonly deviation: number[] } =>
  JSON.parse(fs.readFileSync(path.join(home, 'runs', String(run), 'preprocessing.json'), 'utf8'));
const weightsOf = (run: number) =>
  decodeSafetensors(new Uint8Array(fs.readFileSync(path.join(home, 'runs', String(run), 'best.safetensors')))).tensors;

test('a file becomes a finished run once; it predicts by the names given', async () => {
  const finished = await lastEvent(home, 'import-model', at('net.safetensors'), '--classes', at('names.txt'));
  assert.deepEqual(finished, { event: 'finished', run: 1, parameters: 2_230_277, head: true });
  const again = await trainyard(home, 'import-model', at('net.safetensors'), '--classes', at('names.txt'));
  assert.match(again.stdout, /It is run 1 already\./);
  const shown = await trainyard(home, 'show', '1', '--log');
  assert.match(shown.stdout, /result +MobileNetV2 by torchvision's names, read from net\.safetensors$/m);
  assert.doesNotMatch(shown.stdout, /^ +(training|split|left out) /m, 'nobody knows how others have trained it');
  const { events } = await trainyard(home, 'predict', '1', at('unknown/new'), '--json');
  const rows = events.filter(({ event }) => event === 'prediction');
  assert.equal(rows.length, 2);
  for (const row of rows) assert.ok(['ant', 'bee', 'cat', 'dog', 'eel'].includes(String(row.prediction)));
});

test('a run begins with it: the body frozen, the head as wide as the data', async () => {
  const flags = ['--epochs', '1', '--device', 'cpu'];
  const train = await trainyard(
    home,
    'train',
    at('own'),
    '--from',
    at('net.safetensors'),
    '--freeze',
    'body',
    ...flags,
  );
  assert.equal(train.code, 0, train.stderr);
  assert.match(train.stdout, /MobileNetV2 by torchvision's names, read from net\.safetensors\./);
  assert.match(train.stdout, /\(Output\): new, of 3 in place of 5\./);
  assert.match(train.stdout, /^[\d,]+ of 2,[\d,]+ parameters are trained\.$/m);
  const run = (await runs()) as number;
  const [before, now] = [weightsOf(2), weightsOf(run)];
  const same = Object.keys(before).filter((name) =>
    Buffer.from(before[name].data.buffer).equals(Buffer.from(now[name].data.buffer)),
  );
  assert.equal(Object.keys(before).length - same.length, 2, 'all but weight and bias of the head stayed');
  // Its frozen weights know pixels as they learned from them: those of ImageNet, not by the mean of these pictures.
  const { mean, deviation } = readingOfPixels(run);
  assert.deepEqual([mean, deviation], [readingOfPixels(2).mean, readingOfPixels(2).deviation]);
  assert.deepEqual(mean, [0.485, 0.456, 0.406]);
  const shown = (await trainyard(home, 'show', String(run))).stdout;
  assert.match(shown, /family +started from run 2/);
});

test('what cannot be: other data, no file to name an architecture of, classes that do not fit, going on with it', async () => {
  const before = await runs();
  for (const [args, message] of [
    [['train', penguins, '--from', '1'], /Layer 1 \(stem\.norm\.conv\): Conv 2D needs images/],
    [['train', at('own'), '--architecture', 'resnet18'], /--architecture says what a file of weights holds/],
    [['train', at('own'), '--from', at('nowhere')], /There is no .*nowhere/],
    [
      ['import-model', at('net.safetensors'), '--architecture', 'vgg16'],
      /The architecture “vgg16” is not read\. These are: resnet18/,
    ],
    [
      ['import-model', at('net.safetensors'), '--classes', at('half.txt')],
      /tells 5 classes apart, the names given are 2/,
    ],
    [['import-model', at('own')], /own has no weights/],
    [['continue', '1', '--epochs', '+1'], /Run 1 is a model that others have trained.*train DATA --from 1/],
  ] as const) {
    const { code, stderr } = await trainyard(home, ...args);
    assert.deepEqual([code, message.test(stderr)], [2, true], stderr);
  }
  assert.equal(await runs(), before, 'nothing is left of them');
});

test('a folder of Hugging Face becomes a run that predicts a file of texts as transformers does', async () => {
  const { texts, models, empty } = goldenTexts;
  writeTree(at('distilbert'), folderOf(models.distilbert));
  // Spaces around a cell are no part of it; an empty one is [CLS] [SEP].
  const kept = [
    { text: '', wanted: empty.distilbert },
    ...texts.map((text, row) => ({ text, wanted: models.distilbert.answers[row] })),
  ].filter(({ text }) => text === text.trim());
  writeTree(folder, { 'texts.csv': ['text', ...kept.map(({ text }) => `"${text}"`)].join('\n') });
  const { run, head } = await lastEvent(home, 'import-model', at('distilbert'));
  assert.equal(head, true);
  assert.match((await trainyard(home, 'show', String(run))).stdout, /^ +model +DistilBERT, [\d,]+ parameters$/m);
  const { events } = await trainyard(home, 'predict', String(run), at('texts.csv'), '--json');
  const rows = events.filter(({ event }) => event === 'prediction');
  assert.equal(rows.length, kept.length);
  rows.forEach((row, i) => {
    const { wanted } = kept[i];
    for (const [k, name] of ['dull', 'fine', 'odd'].entries()) {
      assert.ok(Math.abs(Number(row[`p(${name})`]) - wanted[k]) < 1e-4, `row ${i}: ${JSON.stringify(row)}`);
    }
  });
  // Its rows are not here: it is certified with drawn ones, and is no project that trains.
  const left = await lastEvent(home, 'export', String(run), '--format', 'onnx', '--out', at('left.onnx'));
  const { passed, split, rows: tried } = left.certificate as Record<string, unknown>;
  assert.deepEqual([passed, split, tried], [true, 'drawn', 16]);
  const project = await trainyard(home, 'export', String(run), '--format', 'pytorch', '--out', at('project'));
  assert.match(project.stderr, /the rows that this model learned from are not here\. Export it as ONNX or safetensors/);
  const explained = await trainyard(home, 'explain', String(run));
  assert.match(explained.stderr, /is a model of others: the rows it learned from are not here/);
  writeTree(at('minilm'), folderOf(models.minilm));
  const body = await lastEvent(home, 'import-model', at('minilm'));
  assert.equal(body.head, false);
  const nothing = await trainyard(home, 'predict', String(body.run), at('texts.csv'));
  assert.notEqual(nothing.code, 0);
  assert.match(nothing.stderr, /output\.weight is missing.*begin a run with them, train DATA --from RUN/);
  const learned = await trainyard(home, 'train', at('minilm'));
  assert.match(learned.stderr, /minilm is a model, not rows to learn from/);
});

test('a run on other texts begins with a folder: its tokenizer, its first layers frozen, a head of as many classes as the data', async () => {
  const { models, tokenizers } = goldenTexts;
  const rows = Array.from(
    { length: 60 },
    (_, row) => `${row % 4 < 2 ? 'the yard' : 'it rains'} ${row},${'wxyz'[row % 4]}`,
  );
  writeTree(folder, { ...nested('bert', folderOf(models.bert)), 'own.csv': ['text,label', ...rows].join('\n') });
  const flags = ['--target', 'label', '--epochs', '1', '--device', 'cpu', '--freeze', 'b1', '--layer-decay', '0.5'];
  const train = await trainyard(
    home,
    'train',
    at('own.csv'),
    '--text',
    'text',
    '--from',
    at('bert'),
    ...flags,
    '--json',
  );
  assert.equal(train.code, 0, train.stderr);
  const run = Number(train.events.at(-1)?.run);
  const log = (await trainyard(home, 'show', String(run), '--log')).stdout;
  assert.match(log, /\(Layer norm\): taken from run \d+, frozen\.[^]*\(Output\): new, of 4 in place of 3\./);
  const recipe = fs.readFileSync(path.join(home, 'runs', String(run), 'preprocessing.json'), 'utf8');
  const [{ tokenizer }] = (JSON.parse(recipe) as { features: { tokenizer: unknown }[] }).features;
  assert.deepEqual(tokenizer, tokenizers[models.bert.tokenizer]);
  const { events } = await trainyard(home, 'predict', String(run), at('own.csv'), '--json');
  assert.equal(events.filter(({ event }) => event === 'prediction').length, 60);

  const short = { ...models.bert, tensors: { ...models.bert.tensors } };
  const table = 'bert.embeddings.word_embeddings.weight';
  const [tokens, width] = short.tensors[table];
  short.tensors[table] = [tokens - 3, width];
  writeTree(folder, nested('short', folderOf(short)));
  const refused = await trainyard(home, 'train', at('own.csv'), '--text', 'text', '--from', at('short'), ...flags);
  assert.equal(refused.code, 2);
  const why = `The tokenizer does not fit the model: it makes ${tokens} tokens, and ${table} of model.safetensors has ${tokens - 3} rows`;
  assert.ok(refused.stderr.includes(why), refused.stderr);
});

test('a folder whose long texts keep their ends predicts and is fine-tuned so; a padding written out in a text is told of', async () => {
  const { texts, models, ends } = goldenTexts;
  const settings = JSON.stringify({ truncation_side: 'left' });
  writeTree(at('roberta'), { ...folderOf(models.roberta), 'tokenizer_config.json': settings });
  const kept = texts.flatMap((text, row) => (text === text.trim() ? [{ text, wanted: ends.roberta[row] }] : []));
  const rows = [...kept.map(({ text }) => text), 'the <pad> yard'].map(
    (text, row) => `"${text}",${row % 2 ? 'no' : 'yes'}`,
  );
  writeTree(folder, { 'padded.csv': ['text,label', ...rows, ...rows, ...rows].join('\n') });
  const { run } = await lastEvent(home, 'import-model', at('roberta'));
  const { events } = await trainyard(home, 'predict', String(run), at('padded.csv'), '--json');
  const predicted = events.filter(({ event }) => event === 'prediction');
  kept.forEach(({ wanted }, i) => {
    for (const [k, name] of ['dull', 'fine', 'odd'].entries()) {
      assert.ok(Math.abs(Number(predicted[i][`p(${name})`]) - wanted[k]) < 1e-5, JSON.stringify(predicted[i]));
    }
  });
  const told =
    /text: 3 texts have “<pad>” in it, the padding of this model: it takes a place here, and none in transformers/;
  const said = JSON.stringify(events.at(-1));
  assert.match(said, told);
  assert.match(
    said,
    /text: \d+ of 24 texts are longer than the 24 tokens that the model reads; the beginning of them is not read/,
  );
  const train = ['--text', 'text', '--target', 'label', '--from', String(run), '--epochs', '1', '--device', 'cpu'];
  const begun = await trainyard(home, 'train', at('padded.csv'), ...train);
  assert.equal(begun.code, 0, begun.stderr);
  assert.match(begun.stderr, told);
  const next = /run (\d+)/.exec(begun.stdout)![1];
  const recipe = fs.readFileSync(path.join(home, 'runs', next, 'preprocessing.json'), 'utf8');
  const [{ keepsEnd, placeless }] = (JSON.parse(recipe) as { features: Record<string, unknown>[] }).features;
  assert.deepEqual([keepsEnd, placeless], [true, '<pad>']);
});
