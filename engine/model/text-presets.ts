// Models to start from on texts: transformers in the shapes of the literature, and recurrent networks. Parameter counts and work are held against the published
// figures by tests/unit/text-presets.test.ts. Each reads the texts of the data, one branch each; numbers and categories join behind.

import type { InputSpec, LayerSpec, ModelSpec } from './spec.ts';

/** A table with texts. */
export type TextInput = Extract<InputSpec, { kind: 'table' }>;

/** Sizes of a transformer. */
export interface TransformerShape {
  readonly blocks: number;
  /** Values a position. */
  readonly width: number;
  readonly heads: number;
  /** Units of the feed-forward layer; absent: 4 times the width. */
  readonly inner?: number;
  /** Positions that have a vector; 0 = as many as the text. */
  readonly positions: number;
  readonly dropout?: number;
}

interface BlockOptions extends TransformerShape {
  readonly activation: 'relu' | 'gelu' | 'gelu_tanh';
  readonly causal?: boolean;
  readonly epsilon: number;
}

const output: LayerSpec = { type: 'output' };

const dropped = (rate = 0): readonly LayerSpec[] => (rate > 0 ? [{ type: 'dropout', rate }] : []);

/** The feed-forward layers of a block, on what stands before them. */
function feedForward({ width, inner = 4 * width, activation, dropout }: BlockOptions): readonly LayerSpec[] {
  return [
    { type: 'dense', units: inner, activation },
    { type: 'dense', units: width, activation: 'none' },
    ...dropped(dropout),
  ];
}

/** Layers whose output is added to what they were given: `of` stands behind `from`. */
function residual(id: string, from: string, layers: readonly LayerSpec[]): readonly LayerSpec[] {
  const [first, ...rest] = layers;
  const inner = `${id}.branch`;
  const last = rest.length;
  const all = [{ ...first, from }, ...rest].map((layer, i) => (i === last ? { ...layer, id: inner } : layer));
  return [...all, { type: 'add', id, from: [inner, from] }];
}

const attentionOf = ({ heads, causal = false }: BlockOptions): LayerSpec => ({ type: 'attention', heads, causal });

/** A block that normalises before each of its halves (GPT-2): stands any depth. */
export function preNormBlock(id: string, from: string, of: BlockOptions): readonly LayerSpec[] {
  const norm = { type: 'layer_norm', epsilon: of.epsilon };
  return [
    ...residual(`${id}.mixed`, from, [norm, attentionOf(of), ...dropped(of.dropout)]),
    ...residual(id, `${id}.mixed`, [norm, ...feedForward(of)]),
  ];
}

/** A block that normalises behind each of its halves (Vaswani et al. 2017, BERT). */
export function postNormBlock(id: string, from: string, of: BlockOptions): readonly LayerSpec[] {
  const norm = (name: string): LayerSpec => ({ type: 'layer_norm', id: name, epsilon: of.epsilon });
  return [
    ...residual(`${id}.attended`, from, [attentionOf(of), ...dropped(of.dropout)]),
    norm(`${id}.mixed`),
    ...residual(`${id}.fed`, `${id}.mixed`, feedForward(of)),
    norm(id),
  ];
}

/** Blocks one behind the other, of which the first reads `from`: `${prefix}b1`, `${prefix}b2`, … */
function blocks(prefix: string, from: string, of: BlockOptions, block: typeof preNormBlock): readonly LayerSpec[] {
  return Array.from({ length: of.blocks }, (_, i) =>
    block(`${prefix}b${i + 1}`, i === 0 ? from : `${prefix}b${i}`, of),
  ).flat();
}

/** The layers of one text: their last is its vector. `prefix` begins the names of those that have one. */
type Branch = (prefix: string, text: number) => readonly LayerSpec[];

/** A model of a branch for each text, joined with the numbers and categories there are. */
function ofBranches(preset: string, branch: Branch) {
  return (input: TextInput): ModelSpec => {
    const texts = Math.max(1, input.texts?.length ?? 1);
    const branches = Array.from({ length: texts }, (_, i) => {
      const prefix = i === 0 ? '' : `text${i + 1}.`;
      const layers = branch(prefix, i + 1);
      return layers.map((layer, place) => (place === layers.length - 1 ? { ...layer, id: `${prefix}pooled` } : layer));
    });
    const pooled = branches.map((_, i) => (i === 0 ? 'pooled' : `text${i + 1}.pooled`));
    const parts = [...pooled, ...(input.numeric + input.embeddings.length > 0 ? ['input'] : [])];
    const joined: LayerSpec[] = parts.length > 1 ? [{ type: 'concat', from: parts }] : [];
    return { version: 1, preset, layers: [...branches.flat(), ...joined, output] };
  };
}

const tokens = (prefix: string, text: number, dimensions: number): LayerSpec => ({
  type: 'token_embedding',
  id: `${prefix}tokens`,
  dimensions,
  ...(text > 1 ? { text } : {}),
});

const places = (prefix: string, most: number, more: object = {}): LayerSpec => ({
  type: 'position_embedding',
  id: `${prefix}places`,
  ...(most > 0 ? { most } : {}),
  ...more,
});

/** Vectors of a bag of tokens and pairs, and the rows of the table that pairs share. */
export interface BagShape {
  readonly tokens: number;
  readonly pairs: number;
  readonly rows: number;
  readonly dropout: number;
}

/** A bag of words and pairs of neighbours (Joulin et al. 2017, fastText): the means of their vectors, without any order beyond pairs. */
export function bagOfPairs(preset: string, of: BagShape) {
  return ofBranches(preset, (prefix, text) => [
    tokens(prefix, text, of.tokens),
    { type: 'pool_positions', id: `${prefix}words` },
    { ...tokens(prefix, text, of.pairs), id: `${prefix}neighbours`, pairs: of.rows },
    { type: 'pool_positions', id: `${prefix}pairs` },
    { type: 'concat', id: `${prefix}bag`, from: [`${prefix}words`, `${prefix}pairs`] },
    ...dropped(of.dropout),
  ]);
}

/** A transformer of one's own on texts: pre-norm, the mean of all positions. */
export function textClassifier(preset: string, shape: TransformerShape) {
  const of: BlockOptions = { ...shape, activation: 'gelu', epsilon: 1e-5 };
  return ofBranches(preset, (prefix, text) => [
    tokens(prefix, text, of.width),
    places(prefix, of.positions),
    ...blocks(prefix, `${prefix}places`, of, preNormBlock),
    { type: 'layer_norm' },
    { type: 'pool_positions' },
    ...dropped(of.dropout),
  ]);
}

/** A recurrent network that reads both ways; the mean of all positions. */
export function recurrentClassifier(preset: string, cell: 'lstm' | 'gru', width: number) {
  return ofBranches(preset, (prefix, text) => [
    { ...tokens(prefix, text, width), deviation: 1 },
    ...dropped(0.2),
    { type: cell, id: `${prefix}read`, units: width / 2, direction: 'both' },
    { type: 'pool_positions' },
    ...dropped(0.2),
  ]);
}

/** Convolutions over three, then over nine neighbouring tokens; the mean of all positions. */
export function convolutionClassifier(preset: string, width: number) {
  return ofBranches(preset, (prefix, text) => [
    { ...tokens(prefix, text, width), deviation: 1 },
    ...dropped(0.2),
    { type: 'conv1d', filters: width },
    { type: 'conv1d', filters: width, dilation: 3 },
    { type: 'pool_positions' },
    ...dropped(0.2),
  ]);
}

/** BERT (Devlin et al. 2019) in the sizes of Turc et al. 2019; its pooler is a dense layer with tanh on the first position. */
export function bert(preset: string, shape: TransformerShape) {
  const of: BlockOptions = { ...shape, activation: 'gelu', epsilon: 1e-12 };
  return ofBranches(preset, (prefix, text) => [
    ...bertBody(prefix, text, of, 2),
    { type: 'dense', id: `${prefix}pooler`, units: of.width, activation: 'tanh' },
    ...dropped(of.dropout),
  ]);
}

/** DistilBERT (Sanh et al. 2019): BERT without segments and pooler, and a dense layer with ReLU before the output. */
export function distilbert(preset: string, shape: TransformerShape) {
  const of: BlockOptions = { ...shape, activation: 'gelu', epsilon: 1e-12 };
  return ofBranches(preset, (prefix, text) => [
    ...bertBody(prefix, text, of, 0),
    { type: 'dense', id: `${prefix}pre_classifier`, units: of.width, activation: 'relu' },
    ...dropped(0.2),
  ]);
}

function bertBody(prefix: string, text: number, of: BlockOptions, segments: number): readonly LayerSpec[] {
  return [
    tokens(prefix, text, of.width),
    places(prefix, of.positions, segments > 0 ? { segments } : {}),
    { type: 'layer_norm', id: `${prefix}embedded`, epsilon: of.epsilon },
    ...dropped(of.dropout).map((layer) => ({ ...layer, id: `${prefix}entered` })),
    ...blocks(prefix, of.dropout ? `${prefix}entered` : `${prefix}embedded`, of, postNormBlock),
    { type: 'pool_positions', pool: 'first' },
  ];
}

/** GPT-2 (Radford et al. 2019): pre-norm and causal; of a text it is the last position that has seen all. */
export function gpt(preset: string, shape: TransformerShape) {
  const of: BlockOptions = { ...shape, activation: 'gelu_tanh', causal: true, epsilon: 1e-5 };
  return ofBranches(preset, (prefix, text) => [
    tokens(prefix, text, of.width),
    places(prefix, of.positions),
    ...dropped(of.dropout).map((layer) => ({ ...layer, id: `${prefix}entered` })),
    ...blocks(prefix, of.dropout ? `${prefix}entered` : `${prefix}places`, of, preNormBlock),
    { type: 'layer_norm', id: `${prefix}normed` },
    { type: 'pool_positions', pool: 'last' },
  ]);
}
