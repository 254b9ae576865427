// The frames of the pooling kernels: over the elements of a window (a thread a result), and over the windows an element lies in
// (a thread an element of the gradient). No atomics: each thread gathers what belongs to its own element.

import type { GpuLimits, GpuPass } from './gpu-contract.ts';
import { elementwise, scalarView } from './gpu-wgsl.ts';
import { pooledShape, type Pooling } from './pooling.ts';

/**
 * y from x by windows: `start` declares variables, `visit` runs for each element `value` of the window inside the plane in
 * row-major order, `result` is the expression for y.
 */
export function poolPass(
  label: string,
  p: Pooling,
  limits: GpuLimits,
  rule: { readonly start: string; readonly visit: string; readonly result: string },
): GpuPass {
  const [planes, height, width] = pooledShape(p);
  const view = scalarView(planes * height * width, limits);
  const body = `let plane = i / ${height * width}u;
  let top = i32(i / ${width}u % ${height}u * ${p.stride}u) - ${p.padding};
  let left = i32(i % ${width}u * ${p.stride}u) - ${p.padding};
  ${rule.start}
  ${windowLoop(p, `let value = x[plane * ${p.height * p.width}u + u32(row * ${p.width} + column)];\n${rule.visit}`)}
  y[i] = ${rule.result};`;
  return {
    label,
    reads: { x: 'f32' },
    writes: { y: 'f32' },
    code: elementwise(view, body),
    workgroups: view.workgroups,
  };
}

/** WGSL that runs `visit` for each `row`, `column` of the window at `top`, `left` that lies in the plane. */
export const windowLoop = (p: Pooling, visit: string): string =>
  `for (var row = max(top, 0); row < min(top + ${p.windowHeight}, ${p.height}); row++) {
    for (var column = max(left, 0); column < min(left + ${p.windowWidth}, ${p.width}); column++) {
      ${visit}
    }
  }`;

/**
 * dx by elements: `visit` runs for each window (its result is number `window`, its corner at `top`, `left`) that holds the
 * element at `element_row`, `element_column` of `plane`, and adds to `sum`.
 */
export function poolGradientPass(
  label: string,
  p: Pooling,
  limits: GpuLimits,
  reads: readonly string[],
  visit: string,
): GpuPass {
  const [, height, width] = pooledShape(p);
  const view = scalarView(p.planes * p.height * p.width, limits);
  const first = (at: string, size: number): string => `max((${at} - ${size} + ${p.stride}) / ${p.stride}, 0)`;
  const body = `let plane = i / ${p.height * p.width}u;
  let element_row = i32(i / ${p.width}u % ${p.height}u);
  let element_column = i32(i % ${p.width}u);
  let down = element_row + ${p.padding};
  let right = element_column + ${p.padding};
  var sum = 0f;
  // ⌈(down − size + 1)/stride⌉ and ⌊down/stride⌋ are the first and the last window; negative quotients are cut off at 0.
  for (var wy = ${first('down', p.windowHeight)}; wy <= min(down / ${p.stride}, ${height - 1}); wy++) {
    for (var wx = ${first('right', p.windowWidth)}; wx <= min(right / ${p.stride}, ${width - 1}); wx++) {
      let window = (plane * ${height}u + u32(wy)) * ${width}u + u32(wx);
      let top = wy * ${p.stride} - ${p.padding};
      let left = wx * ${p.stride} - ${p.padding};
      ${visit}
    }
  }
  dx[i] = sum;`;
  return {
    label,
    reads: Object.fromEntries(reads.map((operand) => [operand, 'f32' as const])),
    writes: { dx: 'f32' },
    code: elementwise(view, body),
    workgroups: view.workgroups,
  };
}
