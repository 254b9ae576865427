// A folder of Hugging Face: config.json, weights and tokenizer as one model that reads a text and says its class, or a number.

import { outputWidth, resolveModel } from '../model/resolve.ts';
import type { InputSpec, OutputSpec } from '../model/spec.ts';
import { InputError } from '../protocol/errors.ts';
import { ownValue } from '../protocol/own.ts';
import { writtenToken } from '../text/added-tokens.ts';
import { tokenNames } from '../text/language.ts';
import { textCodes } from '../text/tokenizer.ts';
import { tokenizerFromFiles } from '../text/tokenizers.ts';
import { convertWeights } from './convert.ts';
import type { FoundModel, Pretrained, ReadOptions } from './pretrained.ts';
import type { TensorSource } from './safetensors-file.ts';
import { classNames, unusedText } from './shared.ts';
import { textModel } from './text-layers.ts';
import { textNetOf, type HeadConfig, type TextNet } from './text-nets.ts';
import { ignoredOfTexts, textOrigins, type TextNames } from './text-origins.ts';

/** Column that a file to predict has its texts in, and the one it may have the truth in. */
const columns = { text: 'text', label: 'label' };

/** UTF-16 units of a text that are read for each of its tokens: texts have four to six. */
const unitsAToken = 32;

export async function readTextNet(found: FoundModel, options: ReadOptions): Promise<Pretrained> {
  const { tensors, texts, name } = found;
  const { net, config } = textNetOf(texts['config.json']);
  const tokenizer = tokenizerFromFiles(texts);
  const names = namesIn(tensors, net, tokenizer.vocabulary);
  const vocabulary = vocabularyOf(tensors, net, names, tokenizer.vocabulary);
  const { most, keepsEnd } = cuttingSaid(texts['tokenizer_config.json']);
  const length = Math.min(net.positions, options.length ?? most);
  const language = names.words !== undefined;
  const text = {
    name: columns.text,
    vocabulary: vocabulary + textCodes.first,
    length,
    ...(language && { predicted: true as const }),
  };
  const input: InputSpec = { kind: 'table', width: length, numeric: 0, embeddings: [], texts: [text] };
  const { output, target } = language
    ? classesOf(tokenNames(tokenizer))
    : headOf(name, config, names.outputs, options.classes);
  const pooler = tensors.shapes.has(`${names.prefix}pooler.dense.weight`);
  const spec = textModel(net, pooler);
  const model = resolveModel(spec, input, outputWidth(output, 'auto'));
  const origins = textOrigins(model, net, names, vocabulary);
  const { weights, unused } = await convertWeights(model, origins, tensors, ignoredOfTexts);
  const feature = {
    kind: 'text',
    column: columns.text,
    missing: [],
    characters: length * unitsAToken,
    tokenizer: tokenizer.toJSON(),
    vocabulary,
    length,
    ...(keepsEnd && !language && { keepsEnd }),
    ...placelessOf(net, tokenizer.toJSON()),
    // To transformers no word is a missing text.
    ...(!language && { exact: true }),
  };
  return {
    title: `${net.title}${language ? ', a language model' : ''} of ${net.blocks} blocks of ${net.width}`,
    source: name,
    model: spec,
    architecture: net.title,
    input,
    output,
    task: language ? 'language' : output.kind === 'classes' ? 'classification' : 'regression',
    preprocessing: { version: 1, features: [feature], target, leftOut: [], ...(language && { language }) },
    weights,
    head: names.outputs > 0,
    said: [
      ...(unused.length > 0 ? [unusedText(unused)] : []),
      ...(output.kind === 'classes' && !language && !options.classes ? unnamedSaid(config, names.outputs) : []),
    ],
  };
}

/** Where transformers cuts a text, if the settings of its tokenizer say so: to how many tokens, and whether in front. */
function cuttingSaid(settings = '{}'): { readonly most: number; readonly keepsEnd: boolean } {
  const { model_max_length: most, truncation_side: side } = JSON.parse(settings) as Readonly<Record<string, unknown>>;
  return { most: typeof most === 'number' && most >= 1 ? Math.floor(most) : Infinity, keepsEnd: side === 'left' };
}

/** RoBERTa counts places by tokens that are not padding, even where that is written in a text; ours count all. */
function placelessOf({ positionsBefore }: TextNet, tokenizer: unknown): { readonly placeless?: string } {
  const placeless = positionsBefore > 0 ? writtenToken(tokenizer, positionsBefore - 1) : undefined;
  return placeless === undefined ? {} : { placeless };
}

/** The tensor of the head's last layer. */
const headModule = (net: TextNet): string =>
  net.family === 'gpt2' ? 'score' : net.family === 'roberta' ? 'classifier.out_proj' : 'classifier';

function namesIn({ shapes }: TensorSource, net: TextNet, tokens: number): TextNames {
  const has = (name: string): boolean => shapes.has(name);
  const table = net.family === 'gpt2' ? 'wte.weight' : 'embeddings.word_embeddings.weight';
  const prefix = has(table) && !has(`${net.prefix}${table}`) ? '' : net.prefix;
  const old = has(`${prefix}embeddings.LayerNorm.gamma`);
  const norms = old ? (['gamma', 'beta'] as const) : (['weight', 'bias'] as const);
  const outputs = shapes.get(`${headModule(net)}.weight`)?.[0] ?? 0;
  if (outputs > 0 || !net.language) return { prefix, norms, outputs };
  return { prefix, norms, outputs: tokens, words: net.language === 'tied' ? `${prefix}${table}` : 'lm_head.weight' };
}

/** Rows of the table of tokens. Throws InputError `input.tokenizer` where the tokenizer makes ids beyond them. */
function vocabularyOf({ shapes, name }: TensorSource, net: TextNet, { prefix }: TextNames, tokens: number): number {
  const table = `${prefix}${net.family === 'gpt2' ? 'wte.weight' : 'embeddings.word_embeddings.weight'}`;
  // One of another rank is named with the other tensors that do not fit.
  const shape = shapes.get(table);
  const rows = shape?.length === 2 ? shape[0] : tokens;
  if (rows >= tokens) return rows;
  throw new InputError(
    'input.tokenizer',
    `The tokenizer does not fit the model: it makes ${tokens} tokens, and ${table} of ${name} has ${rows} rows.`,
    'Take the tokenizer that the model was trained with.',
  );
}

interface Head {
  readonly output: OutputSpec;
  readonly target: object;
}

function headOf(name: string, config: HeadConfig, outputs: number, given: readonly string[] | undefined): Head {
  if (config.problem_type === 'multi_label_classification') {
    throw new InputError(
      'input.architecture',
      `${name} gives a text any number of classes at once (problem_type multi_label_classification).`,
      'Models of one class a text are read.',
    );
  }
  if (config.problem_type === 'regression' && outputs > 1) {
    throw new InputError(
      'input.architecture',
      `${name} measures ${outputs} values of a text (problem_type regression).`,
      'Models of one value a text are read.',
    );
  }
  if (outputs === 1 || config.problem_type === 'regression') {
    const scale = { offset: 0, scale: 1 };
    return {
      output: { kind: 'value', name: columns.label, ...scale },
      target: { kind: 'value', column: columns.label, missing: [], ...scale },
    };
  }
  return classesOf(classNames(name, outputs, given ?? labelsOf(config, outputs)));
}

const classesOf = (classes: readonly string[]): Head => ({
  output: { kind: 'classes', classes },
  target: { kind: 'classes', column: columns.label, missing: [], classes },
});

/** What is said where a config names classes, but not as many different ones as there are outputs. */
function unnamedSaid(config: HeadConfig, outputs: number): readonly string[] {
  if (!config.id2label || outputs === 0 || labelsOf(config, outputs)) return [];
  return [
    `id2label of config.json does not give each of the ${outputs} outputs a name of its own: they are called 0 to ${outputs - 1} (import-model --classes FILE names them).`,
  ];
}

/** The labels of a config, where there is a different one for each output. */
function labelsOf({ id2label }: HeadConfig, outputs: number): readonly string[] | undefined {
  const labels = Array.from({ length: outputs }, (_, i) => ownValue(id2label ?? {}, String(i)));
  const named = labels.filter((label) => label !== undefined);
  return outputs > 0 && named.length === outputs && new Set(named).size === outputs ? named : undefined;
}
