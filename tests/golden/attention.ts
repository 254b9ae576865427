// A small attention block made of the graph's ops, and its replay against PyTorch's values (make_attention_golden.py): dense → rows
// of a table of positions added → two heads of attention → residual → layer norm → mean over the positions → output.

import { readFileSync } from 'node:fs';
import type { Backend } from '../../engine/backends/backend.ts';
import type { Shape, ValueId } from '../../engine/graph/graph.ts';
import type { LayerBuildContext } from '../../engine/model/layer.ts';
import { handMadePlan } from '../support/hand-made.ts';
import type { Replay } from './golden.ts';

export interface AttentionGolden extends Replay {
  readonly rows: number;
  readonly batch: number;
  readonly positions: number;
  readonly inputs: number;
  readonly width: number;
  readonly heads: number;
  /** Rows of the table, a position. */
  readonly indices: readonly number[];
  readonly shapes: Readonly<Record<string, Shape>>;
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly parameters: Readonly<Record<string, readonly number[]>>;
}

export function readAttentionGolden(): AttentionGolden {
  return JSON.parse(readFileSync(new URL('./attention.json', import.meta.url), 'utf8')) as AttentionGolden;
}

const plain = { transposeA: false, transposeB: false, scale: 1 };

function block(golden: AttentionGolden, { graph, tensor }: LayerBuildContext, x: ValueId): ValueId {
  const { positions, inputs, width, heads } = golden;
  const batch = graph.shape(x)[0];
  const size = width / heads;
  const view = (value: ValueId, ...shape: number[]): ValueId => graph.one('reshape', [value], { shape });
  const product = (a: ValueId, b: ValueId): ValueId => graph.one('matmul', [a, b], plain);
  const add = (a: ValueId, b: ValueId): ValueId => graph.one('add', [a, b], {});
  const swap = (value: ValueId): ValueId => graph.one('transpose', [value], { permutation: [0, 2, 1, 3] });
  const table = graph.one('gather', [tensor('table'), tensor('indices')], { axis: 0 });
  const embedded = add(product(view(x, batch, positions, inputs), tensor('embed')), tensor('bias'));
  const h = add(embedded, table);
  const [q, k, v] = ['query', 'key', 'value'].map((name) =>
    swap(view(product(h, tensor(name)), batch, positions, heads, size)),
  );
  const scores = graph.one('matmul', [q, k], { ...plain, transposeB: true, scale: 1 / Math.sqrt(size) });
  const weights = graph.one('softmax', [scores], {});
  const mixed = product(view(swap(product(weights, v)), batch, positions, width), tensor('out'));
  const [normed] = graph.apply('layer_norm', [add(h, mixed), tensor('gamma'), tensor('beta')], { epsilon: 1e-5 });
  const gated = graph.one('mul', [normed, tensor('gate')], {});
  const mean = graph.one('mean', [gated], { axes: [1], keep: false });
  return graph.one('dense', [mean, tensor('head'), null], { activation: 'none', slope: 0 });
}

/** Gradients of the first step and all losses on a backend. */
export async function replayAttention(golden: AttentionGolden, backend: Backend): Promise<Replay> {
  const { rows, batch, indices, shapes } = golden;
  const { plan } = handMadePlan({
    inputs: golden.positions * golden.inputs,
    rows,
    batch,
    parameters: shapes,
    states: { indices: { shape: [indices.length], type: 'u32' } },
    build: (context, x) => block(golden, context, x),
  });
  const executable = await backend.compile(plan);
  for (const name of Object.keys(shapes)) {
    executable.write(`made.${name}`, Float32Array.from(golden.parameters[name]));
  }
  executable.write('made.indices', Uint32Array.from(indices));
  executable.write('data.x', Float32Array.from(golden.x));
  executable.write('data.y', Float32Array.from(golden.y));
  const losses: number[] = [];
  const gradients: Record<string, readonly number[]> = {};
  for (let step = 0; step < golden.losses.length; step++) {
    const first = step * batch;
    executable.write(
      'step.indices',
      Uint32Array.from({ length: batch }, (_, i) => (first + i) % rows),
    );
    executable.write('step.scalars', Float32Array.of(0.01, 1 - 0.9 ** (step + 1), 1 - 0.999 ** (step + 1), 0));
    await executable.run(`train@${batch}`, 1);
    losses.push((await executable.read('ring.loss', 0, 1))[0]);
    if (step > 0) continue;
    for (const name of Object.keys(shapes)) gradients[name] = [...(await executable.read(`gradient:made.${name}`))];
  }
  executable.dispose();
  return { losses, gradients };
}
