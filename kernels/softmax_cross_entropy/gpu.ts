// softmax_cross_entropy: loss and gradient from one reading of the logits, with the largest logit subtracted first.

import type { GpuKernel } from '../gpu-contract.ts';
import { classLanes, lossPasses, lossTemporaries, lossThreads, lowestLogit, sumCall } from '../gpu-loss.ts';
import { laneReduce } from '../gpu-sums.ts';
import { float } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  temporaries: ({ batch, classes }) => lossTemporaries(batch, classes, classLanes(classes)),
  passes: ({ batch, classes, smoothing }, context) => {
    const lanes = classLanes(classes);
    const weighted = context.has('weights');
    const weight = (label: string): string => (weighted ? `weights[${label}]` : '1f');
    const each = (body: string): string => `for (var c = lane; c < CLASSES; c += LANES) { ${body} }`;
    // q_c = hard·[c = t] + soft·weight[c]; Σq = hard + soft·Σweight.
    const gradient = `if (valid) {
      ${each(`let wanted = select(0f, hard, c == label) + SOFT * ${weight('c')};
        gradient[at + c] = (exp(logits[at + c] - log_sum) * wanted_sum - wanted) / total_weight;`)}
    }`;
    const sumOfWeights = `var weight_sum = 0f;
  for (var c = 0u; c < CLASSES; c++) { weight_sum += weights[c]; }
  var row_weights = 0f;
  for (var row = thread; row < ROWS; row += THREADS) { row_weights += weights[u32(target_[row])]; }
  let total_weight = ${sumCall('row_weights', context)};`;
    return lossPasses(
      {
        label: `softmax_cross_entropy ${batch}×${classes}`,
        rows: batch,
        width: classes,
        lanes,
        reads: ['logits', 'target', ...(weighted ? ['weights'] : [])],
        functions: `const CLASSES = ${classes}u;
const SOFT = ${float(smoothing / classes)};
${laneReduce('row_max', lossThreads, lanes, 1, 'max')}
${laneReduce('row_sum', lossThreads, lanes, 1, 'add')}`,
        before: weighted ? sumOfWeights : `let weight_sum = ${float(classes)}; let total_weight = ${float(batch)};`,
        row: `let at = row * CLASSES;
    let label = u32(target_[row]);
    var largest = ${lowestLogit};
    ${each('largest = max(largest, logits[at + c]);')}
    largest = row_max(thread, largest);
    var exponentials = 0f;
    var soft_logits = 0f;
    ${each(`let shifted = logits[at + c] - largest;
      exponentials += exp(shifted);
      soft_logits += ${weight('c')} * shifted;`)}
    let log_exponentials = log(row_sum(thread, exponentials));
    let log_sum = largest + log_exponentials;
    soft_logits = row_sum(thread, soft_logits);
    let hard = ${float(1 - smoothing)} * ${weight('label')};
    let wanted_sum = hard + SOFT * weight_sum;
    contribution = (wanted_sum * log_exponentials - hard * (logits[at + label] - largest) - SOFT * soft_logits)
      / total_weight;
    ${context.has('gradient') ? gradient : ''}`,
      },
      context,
    );
  },
};
