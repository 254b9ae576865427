// The text models whose weights are read: what a config.json of Hugging Face says of them as our layers, and the names that transformers
// gives their tensors. D values a position, V tokens, P positions, H heads, F units of the feed-forward layer.

import { z } from 'zod';
import type { LayerSpec } from '../model/spec.ts';
import { InputError } from '../protocol/errors.ts';

/** A text model taken apart, whatever its config calls the parts. */
export interface TextNet {
  readonly title: string;
  /** What stands before the names of the tensors of a whole model, such as a classifier; the body alone has none. */
  readonly prefix: string;
  readonly width: number;
  readonly blocks: number;
  readonly heads: number;
  readonly inner: number;
  readonly activation: LayerSpec['activation'];
  readonly epsilon: number;
  readonly dropout: number;
  /** Dropout of what attention looks at. */
  readonly attentionDropout: number;
  /** Dropout in front of the output. */
  readonly headDropout: number;
  /** Positions that a text may have. */
  readonly positions: number;
  /** Rows of the table of positions before the first: RoBERTa counts from behind its padding. */
  readonly positionsBefore: number;
  /** Rows of the table of segments; 0 = there is none. */
  readonly segments: number;
  readonly family: 'bert' | 'roberta' | 'distilbert' | 'gpt2';
  /** It says which token follows: by the table of tokens itself (`tied`), or by weights of its own. */
  readonly language?: 'tied' | 'own';
}

const size = z.int().min(1).max(10_000_000);
/** The largest models have some hundred. */
const blocks = z.int().min(1).max(1_000);
const rate = z.number().min(0).max(1);
const labels = {
  architectures: z.array(z.string()).nullish(),
  id2label: z.record(z.string(), z.string()).nullish(),
  problem_type: z.string().nullish(),
  pad_token_id: z.int().nullish(),
};

const bertSchema = z.looseObject({
  ...labels,
  hidden_size: size,
  num_hidden_layers: blocks,
  num_attention_heads: size,
  intermediate_size: size,
  hidden_act: z.string(),
  max_position_embeddings: size,
  type_vocab_size: size,
  layer_norm_eps: z.number().min(1e-12).max(1),
  hidden_dropout_prob: rate.default(0.1),
  attention_probs_dropout_prob: rate.default(0.1),
  classifier_dropout: rate.nullish(),
  position_embedding_type: z.string().nullish(),
  is_decoder: z.boolean().nullish(),
});

const distilSchema = z.looseObject({
  ...labels,
  dim: size,
  n_layers: blocks,
  n_heads: size,
  hidden_dim: size,
  activation: z.string(),
  max_position_embeddings: size,
  dropout: rate.default(0.1),
  attention_dropout: rate.default(0.1),
  seq_classif_dropout: rate.default(0.2),
});

const gptSchema = z.looseObject({
  ...labels,
  n_embd: size,
  n_layer: blocks,
  n_head: size,
  n_inner: size.nullish(),
  n_positions: size,
  activation_function: z.string(),
  layer_norm_epsilon: z.number().min(1e-12).max(1),
  resid_pdrop: rate.default(0.1),
  attn_pdrop: rate.default(0.1),
  scale_attn_weights: z.boolean().default(true),
  scale_attn_by_inverse_layer_idx: z.boolean().default(false),
  add_cross_attention: z.boolean().default(false),
  tie_word_embeddings: z.boolean().nullish(),
});

export const textKinds = ['bert', 'distilbert', 'roberta', 'gpt2'] as const;

/** What a config says of its model. Throws InputError `input.architecture` for one that is not read, `input.config` for one that is damaged. */
export function textNetOf(text: string): { readonly net: TextNet; readonly config: HeadConfig } {
  const config = parsed(text);
  const kind = typeof config.model_type === 'string' ? config.model_type : 'without a model_type';
  switch (kind) {
    case 'bert':
      return { net: bertNet(checked(bertSchema, config), 'bert'), config: checked(headSchema, config) };
    case 'roberta':
      return { net: bertNet(checked(bertSchema, config), 'roberta'), config: checked(headSchema, config) };
    case 'distilbert':
      return { net: distilNet(checked(distilSchema, config)), config: checked(headSchema, config) };
    case 'gpt2':
      return { net: gptNet(checked(gptSchema, config)), config: checked(headSchema, config) };
    default: {
      const [architecture] = Array.isArray(config.architectures) ? (config.architectures as unknown[]) : [];
      const what = typeof architecture === 'string' ? `${kind} (${architecture})` : kind;
      throw unread(`The architecture ${what} is not read.`);
    }
  }
}

const headSchema = z.looseObject(labels);
export type HeadConfig = z.infer<typeof headSchema>;

function bertNet(config: z.infer<typeof bertSchema>, family: 'bert' | 'roberta'): TextNet {
  const { position_embedding_type: positions } = config;
  if (positions && positions !== 'absolute') throw unread(`Positions of the kind “${positions}” are not read.`);
  if (config.is_decoder) throw unread('A decoder (is_decoder), whose positions look back only, is not read.');
  const before = family === 'roberta' ? (config.pad_token_id ?? 1) + 1 : 0;
  if (before < 0 || before >= config.max_position_embeddings) {
    throw unusable(
      `with pad_token_id ${before - 1} its ${config.max_position_embeddings} positions leave none to a text`,
    );
  }
  const dropout = config.hidden_dropout_prob;
  return {
    title: family === 'bert' ? 'BERT' : 'RoBERTa',
    prefix: `${family}.`,
    width: config.hidden_size,
    blocks: config.num_hidden_layers,
    heads: config.num_attention_heads,
    inner: config.intermediate_size,
    activation: activationOf(config.hidden_act),
    epsilon: config.layer_norm_eps,
    dropout,
    attentionDropout: config.attention_probs_dropout_prob,
    headDropout: config.classifier_dropout ?? dropout,
    positions: config.max_position_embeddings - before,
    positionsBefore: before,
    segments: config.type_vocab_size,
    family,
  };
}

function distilNet(config: z.infer<typeof distilSchema>): TextNet {
  return {
    title: 'DistilBERT',
    prefix: 'distilbert.',
    width: config.dim,
    blocks: config.n_layers,
    heads: config.n_heads,
    inner: config.hidden_dim,
    activation: activationOf(config.activation),
    epsilon: 1e-12,
    dropout: config.dropout,
    attentionDropout: config.attention_dropout,
    headDropout: config.seq_classif_dropout,
    positions: config.max_position_embeddings,
    positionsBefore: 0,
    segments: 0,
    family: 'distilbert',
  };
}

function gptNet(config: z.infer<typeof gptSchema>): TextNet {
  if (!config.scale_attn_weights || config.scale_attn_by_inverse_layer_idx || config.add_cross_attention) {
    throw unread('A GPT-2 whose attention is scaled otherwise, or looks elsewhere, is not read.');
  }
  return {
    title: 'GPT-2',
    prefix: 'transformer.',
    width: config.n_embd,
    blocks: config.n_layer,
    heads: config.n_head,
    inner: config.n_inner ?? 4 * config.n_embd,
    activation: activationOf(config.activation_function),
    epsilon: config.layer_norm_epsilon,
    dropout: config.resid_pdrop,
    attentionDropout: config.attn_pdrop,
    headDropout: 0,
    positions: config.n_positions,
    positionsBefore: 0,
    segments: 0,
    family: 'gpt2',
    ...(config.architectures?.includes('GPT2LMHeadModel') && {
      language: (config.tie_word_embeddings ?? true) ? 'tied' : 'own',
    }),
  };
}

/** Their names of activations. */
const activations: ReadonlyMap<string, string> = new Map([
  ['gelu', 'gelu'],
  ['gelu_python', 'gelu'],
  ['gelu_new', 'gelu_tanh'],
  ['gelu_pytorch_tanh', 'gelu_tanh'],
  ['gelu_fast', 'gelu_tanh'],
  ['gelu_accurate', 'gelu_tanh'],
  ['relu', 'relu'],
  ['relu6', 'relu6'],
  ['silu', 'silu'],
  ['swish', 'silu'],
  ['tanh', 'tanh'],
  ['mish', 'mish'],
]);

function activationOf(name: string): string {
  const own = activations.get(name);
  if (own) return own;
  throw unread(`The activation “${name}” is not read.`);
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const config: unknown = JSON.parse(text);
    if (typeof config === 'object' && config !== null && !Array.isArray(config))
      return config as Record<string, unknown>;
  } catch {
    // As below.
  }
  throw new InputError('input.config', 'config.json is no JSON object.', 'Use another copy of it.');
}

function checked<T extends z.ZodType>(schema: T, config: unknown): z.infer<T> {
  const result = schema.safeParse(config);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw unusable(`${issue.path.join('.') || 'the file'}: ${issue.message}`);
}

function unusable(what: string): InputError {
  return new InputError(
    'input.config',
    `config.json cannot be used: ${what}.`,
    'It has to be the one that save_pretrained wrote beside the weights.',
  );
}

function unread(message: string): InputError {
  return new InputError('input.architecture', message, `Texts are read by ${textKinds.join(', ')} (MiniLM is a bert).`);
}
