// soft_cross_entropy: as softmax_cross_entropy, with a share of each class as the target.

import type { GpuKernel } from '../gpu-contract.ts';
import { classLanes, lossPasses, lossTemporaries, lossThreads, lowestLogit } from '../gpu-loss.ts';
import { laneReduce } from '../gpu-sums.ts';
import { float } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  temporaries: ({ batch, classes }) => lossTemporaries(batch, classes, classLanes(classes)),
  passes: ({ batch, classes, smoothing }, context) => {
    const lanes = classLanes(classes);
    const weighted = context.has('weights');
    const each = (body: string): string => `for (var c = lane; c < CLASSES; c += LANES) { ${body} }`;
    const gradient = `if (valid) {
      ${each('gradient[at + c] = (exp(logits[at + c] - log_sum) * wanted_sum - wanted(at, c)) / total_weight;')}
    }`;
    return lossPasses(
      {
        label: `soft_cross_entropy ${batch}×${classes}`,
        rows: batch,
        width: classes,
        lanes,
        reads: ['logits', 'target', ...(weighted ? ['weights'] : [])],
        functions: `const CLASSES = ${classes}u;
${laneReduce('row_max', lossThreads, lanes, 1, 'max')}
${laneReduce('row_sum', lossThreads, lanes, 1, 'add')}
fn wanted(at: u32, c: u32) -> f32 {
  let share = ${float(1 - smoothing)} * target_[at + c] + ${float(smoothing / classes)};
  return ${weighted ? 'weights[c] * share' : 'share'};
}`,
        before: `let total_weight = ${float(batch)};`,
        row: `let at = row * CLASSES;
    var largest = ${lowestLogit};
    ${each('largest = max(largest, logits[at + c]);')}
    largest = row_max(thread, largest);
    var exponentials = 0f;
    var wanted_sum = 0f;
    var wanted_logits = 0f;
    ${each(`let shifted = logits[at + c] - largest;
      let share = wanted(at, c);
      exponentials += exp(shifted);
      wanted_sum += share;
      wanted_logits += share * shifted;`)}
    let log_exponentials = log(row_sum(thread, exponentials));
    let log_sum = largest + log_exponentials;
    wanted_sum = row_sum(thread, wanted_sum);
    wanted_logits = row_sum(thread, wanted_logits);
    contribution = (wanted_sum * log_exponentials - wanted_logits) / total_weight;
    ${context.has('gradient') ? gradient : ''}`,
      },
      context,
    );
  },
};
