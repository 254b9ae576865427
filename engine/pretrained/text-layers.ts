// A text model as our layers, all of them named: `b1` … are the blocks, `head.…` what stands behind the body.

import type { LayerSpec, ModelSpec } from '../model/spec.ts';
import type { TextNet } from './text-nets.ts';

/** `pooler`: BERT's dense layer behind its first position is there. */
export function textModel(net: TextNet, pooler: boolean): ModelSpec {
  const { width, positions, segments, epsilon, dropout, family } = net;
  const tokens: LayerSpec = { type: 'token_embedding', id: 'tokens', dimensions: width };
  const places: LayerSpec = {
    type: 'position_embedding',
    id: 'places',
    most: positions,
    ...(segments > 0 ? { segments } : {}),
  };
  const entered: readonly LayerSpec[] = family === 'gpt2' ? [] : [{ type: 'layer_norm', id: 'embedded', epsilon }];
  const first = [tokens, places, ...entered, ...dropped('entered', dropout)];
  const layers: LayerSpec[] = [...first];
  for (let b = 1; b <= net.blocks; b++) {
    const from = layers[layers.length - 1].id!;
    layers.push(...(family === 'gpt2' ? preNormBlock(net, `b${b}`, from) : postNormBlock(net, `b${b}`, from)));
  }
  if (family === 'gpt2') layers.push({ type: 'layer_norm', id: 'normed', epsilon });
  layers.push({ type: 'pool_positions', id: 'pooled', pool: family === 'gpt2' ? 'last' : 'first' });
  return { version: 1, layers: [...layers, ...headLayers(net, pooler), { type: 'output', id: 'output' }] };
}

const dropped = (id: string, rate: number): readonly LayerSpec[] => (rate > 0 ? [{ type: 'dropout', id, rate }] : []);

function attentionOf({ heads, attentionDropout }: TextNet, id: string): LayerSpec {
  const layer = { type: 'attention', id: `${id}.attention`, heads };
  return attentionDropout > 0 ? { ...layer, dropout: attentionDropout } : layer;
}

function postNormBlock(net: TextNet, id: string, from: string): readonly LayerSpec[] {
  const { epsilon } = net;
  return [
    ...residual(`${id}.attended`, from, [attentionOf(net, id)], net.dropout),
    { type: 'layer_norm', id: `${id}.mixed`, epsilon },
    ...residual(`${id}.fed`, `${id}.mixed`, feedForward(net, id), net.dropout),
    { type: 'layer_norm', id, epsilon },
  ];
}

function preNormBlock(net: TextNet, id: string, from: string): readonly LayerSpec[] {
  const norm = (n: number): LayerSpec => ({ type: 'layer_norm', id: `${id}.norm${n}`, epsilon: net.epsilon });
  const attention = { ...attentionOf(net, id), causal: true };
  return [
    ...residual(`${id}.mixed`, from, [norm(1), attention], net.dropout),
    ...residual(id, `${id}.mixed`, [norm(2), ...feedForward(net, id)], net.dropout),
  ];
}

const feedForward = ({ inner, width, activation }: TextNet, id: string): readonly LayerSpec[] => [
  { type: 'dense', id: `${id}.wide`, units: inner, activation },
  { type: 'dense', id: `${id}.narrow`, units: width, activation: 'none' },
];

/** Layers whose last output is added to what the first was given. */
function residual(id: string, from: string, layers: readonly LayerSpec[], dropout: number): readonly LayerSpec[] {
  const branch = [...layers, ...dropped(`${id}.dropout`, dropout)];
  const last = branch[branch.length - 1].id!;
  return [{ ...branch[0], from }, ...branch.slice(1), { type: 'add', id, from: [last, from] }];
}

/** What stands between the pooled position and the output. */
function headLayers({ family, width, headDropout }: TextNet, pooler: boolean): readonly LayerSpec[] {
  const dense = (id: string, activation: string): LayerSpec => ({ type: 'dense', id, units: width, activation });
  switch (family) {
    case 'bert':
      return [...(pooler ? [dense('pooler', 'tanh')] : []), ...dropped('head.dropout', headDropout)];
    case 'roberta':
      return [
        ...dropped('head.entered', headDropout),
        dense('head.dense', 'tanh'),
        ...dropped('head.dropout', headDropout),
      ];
    case 'distilbert':
      return [dense('head.dense', 'relu'), ...dropped('head.dropout', headDropout)];
    case 'gpt2':
      return [];
  }
}
