// dense_weight_grad as a tiled product xᵀ·dy that sums the columns of dy on the way. Where the batch is deep and the weight
// small, the batch is cut into splits for more workgroups, and a second pass adds their results in order: no atomics, so
// the same bits every time. The number of splits follows from the shape alone.

import type { GpuContext, GpuKernel, GpuPass } from '../gpu-contract.ts';
import { productPass, rankTiles, splitDepth, tileNamed } from '../gpu-product.ts';
import { elementwise, elementwiseView } from '../gpu-wgsl.ts';

/** Rows a split has to have at least, to be worth its second pass. */
const leastSplitDepth = 256;
/** Workgroups of a 32 × 32 tile that need no splitting. */
const enoughGroups = 128;
const nominalTile = 32;

export const gpu: GpuKernel = {
  variants: (params, { limits }) =>
    rankTiles(params.inputs, params.units, splitsOf(params), limits).map((tile) => tile.name),
  temporaries: (params, context): Record<string, number> => {
    const splits = splitsOf(params);
    if (splits === 1) return {};
    const partials = { partial_dw: splits * params.inputs * params.units };
    return context.has('db') ? { ...partials, partial_db: splits * params.units } : partials;
  },
  passes: (params, context, variant) => {
    const { batch, inputs, units } = params;
    const splits = splitsOf(params);
    const ranked = rankTiles(inputs, units, splits, context.limits)[0];
    const name = (operand: string): string => (splits === 1 ? operand : `partial_${operand}`);
    const product = {
      label: `dense_weight_grad ${inputs}×${units}×${batch}`,
      m: inputs,
      n: units,
      k: batch,
      a: { operand: 'x', transposed: true },
      b: { operand: 'dy', transposed: false },
      c: name('dw'),
      splits,
      columnSums: context.has('db') ? name('db') : undefined,
      extra: [],
      epilogue: '',
      functions: '',
    };
    const pass = productPass(product, variant === undefined ? ranked : tileNamed(variant), context);
    if (splits === 1) return [pass];
    const sums = [sumSplits('dw', inputs * units, splits, context)];
    if (context.has('db')) sums.push(sumSplits('db', units, splits, context));
    return [pass, ...sums];
  },
};

/** How many parts the batch is cut into; none is empty. */
function splitsOf({ batch, inputs, units }: Readonly<Record<string, number>>): number {
  const groups = Math.ceil(inputs / nominalTile) * Math.ceil(units / nominalTile);
  const wanted = Math.min(Math.floor(batch / leastSplitDepth), Math.floor(enoughGroups / groups));
  return wanted < 2 ? 1 : Math.ceil(batch / splitDepth(batch, wanted));
}

/** operand[i] = Σ partial_operand[split, i] in the order of the splits. */
function sumSplits(operand: string, count: number, splits: number, context: GpuContext): GpuPass {
  const view = elementwiseView(count, context.limits);
  const body = `var sum = partial_${operand}[i];
  for (var split = 1u; split < ${splits}u; split++) { sum += partial_${operand}[split * LENGTH + i]; }
  ${operand}[i] = sum;`;
  return {
    label: `dense_weight_grad sum of ${operand}`,
    reads: { [`partial_${operand}`]: view.element },
    writes: { [operand]: view.element },
    code: elementwise(view, body),
    workgroups: view.workgroups,
  };
}
