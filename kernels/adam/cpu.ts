// AssemblyScript: Adam and AdamW, one pass over parameters, gradient and both moments; threads share the elements.

import { multiplyAdd } from '../shared/math';
import { biasCorrection, decayLanes, gradientScale, isSkipped, stepScalar, writeCopies } from '../shared/optimizer';
import { integer, LINE, pointer, read, real, shareStart, write } from '../shared/vectors';

export function adam(args: usize, thread: i32, threads: i32, step: i32): void {
  const scaling = pointer(args, 3);
  if (isSkipped(scaling)) return;
  const gradient = pointer(args, 0);
  const scalars = pointer(args, 1);
  const parameters = pointer(args, 4);
  const mean = pointer(args, 5);
  const variance = pointer(args, 6);
  const count = integer(args, 8);
  const decayCount = integer(args, 9);
  const beta1 = real(args, 10);
  const beta2 = real(args, 11);
  const decoupled = integer(args, 14) != 0;
  const learningRate = stepScalar(scalars, step, 0);
  const weightDecay = real(args, 13) * (integer(args, 18) != 0 ? stepScalar(scalars, step, 3) : 1);

  const scale = f32x4.splat(gradientScale(scaling, pointer(args, 2), integer(args, 16), real(args, 15)));
  const keepMean = f32x4.splat(beta1);
  const newMean = f32x4.splat(1 - beta1);
  const keepVariance = f32x4.splat(beta2);
  const newVariance = f32x4.splat(1 - beta2);
  const epsilon = f32x4.splat(real(args, 12));
  const stepSize = f32x4.splat(-learningRate / biasCorrection(scaling, scalars, step, 1));
  const correction = f32x4.splat(1 / sqrt<f32>(biasCorrection(scaling, scalars, step, 2)));
  // Decay of the gradient (Adam) and of the parameter itself (AdamW): one of the two is 0.
  const gradientDecay = f32x4.splat(decoupled ? 0 : weightDecay);
  const parameterDecay = f32x4.splat(decoupled ? -learningRate * weightDecay : 0);

  const start = shareStart(count, LINE, thread, threads);
  const end = shareStart(count, LINE, thread + 1, threads);
  for (let i = start; i < end; i += 4) {
    const lanes = end - i;
    let p = read(parameters, i, lanes);
    let g = f32x4.mul(read(gradient, i, lanes), scale);
    g = multiplyAdd(decayLanes(gradientDecay, decayCount - i), p, g);
    p = multiplyAdd(decayLanes(parameterDecay, decayCount - i), p, p);
    const m = multiplyAdd(keepMean, read(mean, i, lanes), f32x4.mul(newMean, g));
    const v = multiplyAdd(keepVariance, read(variance, i, lanes), f32x4.mul(newVariance, f32x4.mul(g, g)));
    const deviation = multiplyAdd(f32x4.sqrt(v), correction, epsilon);
    write(mean, i, m, lanes);
    write(variance, i, v, lanes);
    write(parameters, i, multiplyAdd(stepSize, f32x4.div(m, deviation), p), lanes);
  }
  writeCopies(pointer(args, 7), parameters, start, end);
}
