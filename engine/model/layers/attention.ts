// Self-attention: Vaswani et al. 2017; heads of keys and values that several heads share: Ainslie et al. 2023 (arXiv 2305.13245);
// rotary places: Su et al. 2021 (arXiv 2104.09864). L positions, D values a
// position, H heads of S values, G groups.

import { mostHeadSize } from '../../../kernels/attention-shape.ts';
import type { Shape, ValueId } from '../../graph/graph.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type LayerBuildContext, type LayerSurroundings } from '../layer.ts';
import { eachPosition } from './dense.ts';
import { turns } from './places.ts';

interface Heads {
  readonly heads: number;
  readonly groups: number;
  readonly rotary: boolean;
}

/** Heads of keys and values. */
const groupsOf = ({ heads, groups }: Omit<Heads, 'rotary'>): number => (groups === 0 ? heads : groups);

/** Values of a position, checked. */
function widthOf(input: Shape, args: Heads, { positions }: LayerSurroundings): number {
  if (positions === null) {
    throw new ModelError('Attention needs a sequence.', 'Add a Token embedding layer before it.');
  }
  const width = input[1];
  const { heads } = args;
  const groups = groupsOf(args);
  if (width % heads !== 0) {
    throw new ModelError(
      `Attention: ${heads} heads do not divide ${width} values.`,
      'The values of a position have to be a multiple of the number of heads.',
    );
  }
  if (heads % groups !== 0) {
    throw new ModelError(
      `Attention: ${groups} groups do not divide ${heads} heads.`,
      'The number of heads has to be a multiple of the number of groups.',
    );
  }
  if (args.rotary && (width / heads) % 2 !== 0) {
    throw new ModelError(
      `Attention: heads of ${width / heads} values make no pairs to turn.`,
      'With rotary places a head needs an even number of values.',
    );
  }
  if (width / heads > mostHeadSize) {
    throw new ModelError(
      `Attention: heads of ${width / heads} values are too wide.`,
      `Take ${Math.ceil(width / mostHeadSize)} heads or more: ${mostHeadSize} values a head at most.`,
    );
  }
  return width;
}

/** x [N,L,D] · w [D,U] + bias [U], position by position. */
function projected({ graph, tensor }: LayerBuildContext<unknown>, x: ValueId, w: string, bias: string | null): ValueId {
  const operands = [tensor(w), bias === null ? null : tensor(bias)];
  return eachPosition(graph, x, (rows) => graph.one('dense', [rows, ...operands], { activation: 'none', slope: 0 }));
}

export const attention = defineLayer({
  type: 'attention',
  title: 'Attention',
  summary: 'Lets every position of a sequence look at the others and take from them what it needs.',
  group: 'text',
  positions: 'keeps',
  looksAhead: ({ causal }) => !causal,
  fields: layerFields({
    heads: {
      kind: 'number',
      whole: true,
      label: 'Heads',
      help: 'ways of looking side by side, each with its part of the values',
      minimum: 1,
      maximum: 1024,
      default: 4,
    },
    groups: {
      kind: 'number',
      whole: true,
      label: 'Groups',
      help: 'heads that keys and values have; 0 = one for each head',
      zero: 'one a head',
      minimum: 0,
      maximum: 1024,
      default: 0,
      advanced: true,
    },
    causal: {
      kind: 'switch',
      label: 'Causal',
      help: 'whether a position sees only itself and those before it',
      default: false,
    },
    bias: { kind: 'switch', label: 'Bias', help: 'whether the projections add numbers of their own', default: true },
    rotary: {
      kind: 'switch',
      label: 'Rotary places',
      help: 'turns queries and keys by their place, so that what is seen depends on the distance: instead of a position embedding',
      default: false,
    },
    base: {
      kind: 'number',
      label: 'Base',
      help: 'how slowly the slowest pair of values turns: larger for longer texts',
      minimum: 1,
      maximum: 1e9,
      when: { rotary: [true] },
      default: 10_000,
      advanced: true,
    },
    dropout: {
      kind: 'number',
      label: 'Dropout of weights',
      help: 'share of what is looked at that is left out while training',
      minimum: 0,
      maximum: 0.95,
      default: 0,
      advanced: true,
    },
  }),
  shape: ([input], args, around) => {
    widthOf(input, args, around);
    return input;
  },
  // Queries, keys and values are one product: [D, (H + 2G)·S].
  parameters: ([[, width]], { bias, ...args }) => {
    const packed = (width / args.heads) * (args.heads + 2 * groupsOf(args));
    const initializer = { kind: 'uniform_fan_in', fanIn: width } as const;
    const zero = { kind: 'constant', value: 0 } as const;
    return [
      { name: 'in_weight', shape: [width, packed], initializer, decay: true },
      ...(bias ? [{ name: 'in_bias', shape: [packed], initializer: zero, decay: false }] : []),
      { name: 'out_weight', shape: [width, width], initializer, decay: true },
      ...(bias ? [{ name: 'out_bias', shape: [width], initializer: zero, decay: false }] : []),
    ];
  },
  states: ([[length, width]], { rotary, heads, base }) =>
    rotary
      ? [{ name: 'angles', shape: [length, width / heads], initial: 0, values: turns(length, width / heads, base) }]
      : [],
  build: (context, [x]) => {
    const { graph, args, lengths, tensor, random, steps, scheduled } = context;
    const { heads, causal, bias, rotary, dropout: rate } = args;
    const groups = groupsOf(args);
    const size = graph.shape(x)[2] / heads;
    const packed = projected(context, x, 'in_weight', bias ? 'in_bias' : null);
    // Queries and keys stand in front of the values.
    const turned = { heads: heads + groups, size, inverse: false };
    const qkv = rotary ? graph.one('rotary', [packed, tensor('angles')], turned) : packed;
    const drops = rate > 0 && context.mode !== 'inference';
    const dropout = drops ? { rate, seed: random.seed, stream: random.stream, steps, scheduled } : null;
    const looks = { heads, groups, causal, scale: 1 / Math.sqrt(size), dropout };
    const [mixed] = graph.apply('attention', [qkv, lengths()], looks);
    return projected(context, mixed, 'out_weight', bias ? 'out_bias' : null);
  },
  // Projections, then scores and mixtures: half of them where causal.
  flops: ([[length, width]], _, args) => {
    const packed = width * (2 + (2 * groupsOf(args)) / args.heads);
    return 2 * length * width * packed + 4 * length * length * width * (args.causal ? 0.5 : 1);
  },
});
