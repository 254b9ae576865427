// What each tensor of a text model of ours is made of, by the names of transformers.

import type { Shape } from '../graph/graph.ts';
import type { ResolvedModel } from '../model/resolve.ts';
import { headOrigins, transposed, type Origin, type Wanted } from './convert.ts';
import type { TextNet } from './text-nets.ts';

/** Where the tensors of a file stand: before the names of the body, and the head's own. */
export interface TextNames {
  readonly prefix: string;
  /** Old checkpoints call weight and bias of a norm gamma and beta. */
  readonly norms: readonly [weight: string, bias: string];
  /** Outputs of the head; 0 = the file has none. */
  readonly outputs: number;
  /** Of a language model: the tensor [vocabulary, width] whose first rows tell the `outputs` tokens. */
  readonly words?: string;
}

/** Tensors that no model needs: tables of places, masks, and heads for the words that are left out. */
export const ignoredOfTexts =
  /position_ids$|\.attn\.(bias|masked_bias)$|^(cls|lm_head|vocab_\w+|mlm_head|qa_outputs)\.|(^|\.)pooler\.|embeddings\.token_type_ids$/;

/** A dense layer of PyTorch, [out, in], as ours. */
function dense(layer: string, module: string, inputs: number, units: number): readonly Origin[] {
  return headOrigins(layer, module, inputs, units);
}

/** One of GPT-2's, which is kept as [in, out] as ours are. */
function conv1d(weight: string, bias: string, module: string, inputs: number, units: number): readonly Origin[] {
  return [
    { name: weight, from: [{ name: `${module}.weight`, shape: [inputs, units] }] },
    { name: bias, from: [{ name: `${module}.bias`, shape: [units] }] },
  ];
}

const modules = {
  bert: {
    queries: (b: number) => ['query', 'key', 'value'].map((part) => `encoder.layer.${b}.attention.self.${part}`),
    mixed: (b: number) => `encoder.layer.${b}.attention.output.dense`,
    mixedNorm: (b: number) => `encoder.layer.${b}.attention.output.LayerNorm`,
    wide: (b: number) => `encoder.layer.${b}.intermediate.dense`,
    narrow: (b: number) => `encoder.layer.${b}.output.dense`,
    norm: (b: number) => `encoder.layer.${b}.output.LayerNorm`,
  },
  distilbert: {
    queries: (b: number) => ['q_lin', 'k_lin', 'v_lin'].map((part) => `transformer.layer.${b}.attention.${part}`),
    mixed: (b: number) => `transformer.layer.${b}.attention.out_lin`,
    mixedNorm: (b: number) => `transformer.layer.${b}.sa_layer_norm`,
    wide: (b: number) => `transformer.layer.${b}.ffn.lin1`,
    narrow: (b: number) => `transformer.layer.${b}.ffn.lin2`,
    norm: (b: number) => `transformer.layer.${b}.output_layer_norm`,
  },
};

/** `vocabulary`: rows of the table of tokens. */
export function textOrigins(
  model: ResolvedModel,
  net: TextNet,
  names: TextNames,
  vocabulary: number,
): readonly Origin[] {
  const origins = net.family === 'gpt2' ? gptOrigins(net, names, vocabulary) : bertOrigins(net, names, vocabulary);
  const wanted = new Set([...model.parameters, ...model.states].map(({ name }) => name));
  return origins.filter(({ name }) => wanted.has(name));
}

function bertOrigins(net: TextNet, { prefix, norms, outputs }: TextNames, vocabulary: number): readonly Origin[] {
  const { width, inner, positions, positionsBefore, segments, family, blocks } = net;
  const named = modules[family === 'distilbert' ? 'distilbert' : 'bert'];
  const at = (module: string): string => `${prefix}${module}`;
  const norm = (layer: string, module: string): readonly Origin[] => [
    { name: `${layer}.weight`, from: [{ name: at(`${module}.${norms[0]}`), shape: [width] }] },
    { name: `${layer}.bias`, from: [{ name: at(`${module}.${norms[1]}`), shape: [width] }] },
  ];
  const table = (name: string, module: string, shape: Shape, before = 0): Origin => ({
    name,
    from: [{ name: at(`embeddings.${module}.weight`), shape }],
    ...(before > 0 ? { make: ([rows]) => rows.slice(before * width) } : {}),
  });
  const block = (b: number): readonly Origin[] => {
    const id = `b${b + 1}`;
    return [
      ...packed(`${id}.attention`, named.queries(b).map(at), width),
      ...dense(`${id}.attention.out`, at(named.mixed(b)), width, width).map(asOut),
      ...norm(`${id}.mixed`, named.mixedNorm(b)),
      ...dense(`${id}.wide`, at(named.wide(b)), width, inner),
      ...dense(`${id}.narrow`, at(named.narrow(b)), inner, width),
      ...norm(id, named.norm(b)),
    ];
  };
  return [
    table('tokens.weight', 'word_embeddings', [vocabulary, width]),
    table('places.weight', 'position_embeddings', [positions + positionsBefore, width], positionsBefore),
    ...(segments > 0 ? [table('places.segment', 'token_type_embeddings', [segments, width])] : []),
    ...norm('embedded', 'embeddings.LayerNorm'),
    ...Array.from({ length: blocks }, (_, b) => block(b)).flat(),
    ...(family === 'bert' ? dense('pooler', at('pooler.dense'), width, width) : []),
    ...(outputs > 0 ? bertHead(net, outputs) : []),
  ];
}

function bertHead({ family, width }: TextNet, outputs: number): readonly Origin[] {
  if (family === 'roberta') {
    return [
      ...dense('head.dense', 'classifier.dense', width, width),
      ...dense('output', 'classifier.out_proj', width, outputs),
    ];
  }
  const before = family === 'distilbert' ? dense('head.dense', 'pre_classifier', width, width) : [];
  return [...before, ...dense('output', 'classifier', width, outputs)];
}

/** `out.weight` of the attention is its `out_weight`. */
const asOut = (origin: Origin): Origin => ({ ...origin, name: origin.name.replace('.out.', '.out_') });

/** Queries, keys and values as one product: side by side. */
function packed(layer: string, parts: readonly string[], width: number): readonly Origin[] {
  const from = (name: string, shape: Shape): readonly Wanted[] =>
    parts.map((part) => ({ name: `${part}.${name}`, shape }));
  return [
    {
      name: `${layer}.in_weight`,
      from: from('weight', [width, width]),
      make: (weights) => {
        // Below each other [3·D, D], then transposed.
        const all = new Float32Array(parts.length * width * width);
        weights.forEach((weight, i) => all.set(weight, i * width * width));
        return transposed(all, parts.length * width, width);
      },
    },
    {
      name: `${layer}.in_bias`,
      from: from('bias', [width]),
      make: (biases) =>
        Float32Array.from({ length: parts.length * width }, (_, i) => biases[Math.floor(i / width)][i % width]),
    },
  ];
}

function gptOrigins(net: TextNet, { prefix, outputs, words }: TextNames, vocabulary: number): readonly Origin[] {
  const { width, inner, positions, blocks } = net;
  const at = (module: string): string => `${prefix}${module}`;
  const same = (name: string, module: string, shape: Shape): Origin => ({ name, from: [{ name: at(module), shape }] });
  const norm = (layer: string, module: string): readonly Origin[] =>
    ['weight', 'bias'].map((part) => same(`${layer}.${part}`, `${module}.${part}`, [width]));
  const block = (b: number): readonly Origin[] => {
    const [id, h] = [`b${b + 1}`, `h.${b}`];
    const attention = `${id}.attention`;
    return [
      ...norm(`${id}.norm1`, `${h}.ln_1`),
      ...conv1d(`${attention}.in_weight`, `${attention}.in_bias`, at(`${h}.attn.c_attn`), width, 3 * width),
      ...conv1d(`${attention}.out_weight`, `${attention}.out_bias`, at(`${h}.attn.c_proj`), width, width),
      ...norm(`${id}.norm2`, `${h}.ln_2`),
      ...conv1d(`${id}.wide.weight`, `${id}.wide.bias`, at(`${h}.mlp.c_fc`), width, inner),
      ...conv1d(`${id}.narrow.weight`, `${id}.narrow.bias`, at(`${h}.mlp.c_proj`), inner, width),
    ];
  };
  const head: readonly Origin[] = [
    words === undefined
      ? dense('output', 'score', width, outputs)[0]
      : {
          name: 'output.weight',
          from: [{ name: words, shape: [vocabulary, width] }],
          make: ([rows]) => transposed(rows.subarray(0, outputs * width), outputs, width),
        },
    // It adds nothing there.
    { name: 'output.bias', from: [], make: () => new Float32Array(outputs) },
  ];
  return [
    same('tokens.weight', 'wte.weight', [vocabulary, width]),
    same('places.weight', 'wpe.weight', [positions, width]),
    ...Array.from({ length: blocks }, (_, b) => block(b)).flat(),
    ...norm('normed', 'ln_f'),
    ...(outputs > 0 ? head : []),
  ];
}
