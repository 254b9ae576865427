// The frame of the optimizer kernels: one dispatch over all parameters, an element or vector a thread. The frame binds the
// operands, reads the step's scalars, the clip scale and the factor of a scaled loss; a kernel adds its update rule.

import type { GpuContext, GpuPass } from './gpu-contract.ts';
import { sumArguments, workgroupSum } from './gpu-sums.ts';
import { defaultThreads, elementwiseView, float, groupIndex } from './gpu-wgsl.ts';

export interface OptimizerRule {
  readonly label: string;
  /** State read and written beside `parameters`. */
  readonly state: readonly string[];
  /**
   * WGSL over `p` (the parameter, to be updated), `g` (its scaled gradient), `decay` (its weight decay; V) and `rate` (learning
   * rate), `scalar1`, `scalar2` (bias corrections); state is `NAME[i]`.
   */
  readonly update: string;
}

/** The pass of an optimizer over `count` elements. */
export function optimizerPass(
  rule: OptimizerRule,
  params: Readonly<Record<string, number>>,
  context: GpuContext,
): GpuPass {
  const { count, decayCount, weightDecay, clip, chunks } = params;
  const view = elementwiseView(count, context.limits);
  const scaled = context.has('scaling');
  const copies = context.has('copies');
  const clips = context.has('partials') && chunks > 0;
  const { parameters, pass } = clips ? sumArguments(context) : { parameters: '', pass: '' };
  // Every workgroup adds the partial sums up anew: they are few, and it saves a dispatch.
  const scale = clips
    ? `var squares = 0f;
  for (var chunk = thread; chunk < ${chunks}u; chunk += THREADS) { squares += partials[chunk]; }
  let scale = factor * min(1f, ${float(clip)} / (factor * sqrt(workgroup_sum(${pass}, squares)) + 1e-6f));`
    : 'let scale = factor;';
  const code = `alias V = ${view.element};
const LENGTH = ${view.length}u;
const THREADS = ${defaultThreads}u;
${clips ? workgroupSum(defaultThreads, context) : ''}
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32${parameters}) {
  let i = ${groupIndex(view)} * THREADS + thread;
  let rate = scalars[step * 4u];
  let scalar1 = ${scaled ? 'scaling[3]' : 'scalars[step * 4u + 1u]'};
  let scalar2 = ${scaled ? 'scaling[4]' : 'scalars[step * 4u + 2u]'};
  let factor = ${scaled ? 'scaling[2]' : '1f'};
  ${scale}
  if (i >= LENGTH${scaled ? ' || factor == 0f' : ''}) { return; }
  let decay = ${decayOf(view.element === 'f32' ? 1 : 4, count, decayCount, weightDecay)};
  var p = parameters[i];
  let g = gradient[i] * scale;
  ${rule.update}
  parameters[i] = p;${copies ? ' copies[i] = p;' : ''}
}
`;
  return {
    label: rule.label,
    reads: {
      gradient: view.element,
      scalars: 'f32',
      ...(clips ? { partials: 'f32' as const } : {}),
      ...(scaled ? { scaling: 'f32' as const } : {}),
    },
    writes: Object.fromEntries(
      ['parameters', ...rule.state, ...(copies ? ['copies'] : [])].map((operand) => [operand, view.element]),
    ),
    usesStep: true,
    usesSubgroups: clips && context.subgroups,
    code,
    workgroups: view.workgroups,
  };
}

/** Weight decay of element or vector `i`. */
function decayOf(size: number, count: number, decayCount: number, weightDecay: number): string {
  const decay = float(weightDecay);
  if (weightDecay === 0 || decayCount === 0) return 'V(0f)';
  if (decayCount >= count) return `V(${decay})`;
  if (size === 1) return `select(0f, ${decay}, i < ${decayCount}u)`;
  return `select(V(0f), V(${decay}), vec4<u32>(i * 4u) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(${decayCount}u))`;
}
