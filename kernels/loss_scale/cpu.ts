// AssemblyScript: the scale of the next step's loss; one thread, a handful of numbers.

import { at, integer, pointer, real } from '../shared/vectors';

const SMALLEST: f32 = 5.9604644775390625e-8;
const LARGEST: f32 = 16777216;

export function loss_scale(args: usize, thread: i32, threads: i32, step: i32): void {
  if (thread != 0) return;
  const partials = pointer(args, 0);
  const scale = pointer(args, 1);
  const scaling = pointer(args, 2);
  const chunks = integer(args, 3);
  const beta1 = real(args, 4);
  const beta2 = real(args, 5);
  let sum: f32 = 0;
  for (let i = 0; i < chunks; i++) sum += load<f32>(at(partials, i));
  const used = load<f32>(scale);
  if (!isFinite<f32>(sum) && used > SMALLEST) {
    store<f32>(scale, used * 0.5);
    store<f32>(scaling, 0);
    store<f32>(at(scaling, 1), load<f32>(at(scaling, 1)) + 1);
    store<f32>(at(scaling, 2), 0);
    return;
  }
  const good = load<f32>(scaling) + 1;
  const doubled = good >= <f32>integer(args, 6);
  store<f32>(scaling, doubled ? 0 : good);
  store<f32>(at(scaling, 2), 1 / used);
  store<f32>(at(scaling, 3), beta1 * load<f32>(at(scaling, 3)) + (1 - beta1));
  store<f32>(at(scaling, 4), beta2 * load<f32>(at(scaling, 4)) + (1 - beta2));
  if (doubled) store<f32>(scale, min<f32>(2 * used, LARGEST));
}
