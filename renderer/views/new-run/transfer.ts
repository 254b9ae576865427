// The weights that a new run begins with, as its address says them.

import type { TransferRequest } from '../../../engine/protocol/going-on.ts';
import { plural } from '../../lib/format.ts';

export function transferred(run: number, weights: string, upTo: number): TransferRequest {
  const epoch = Number(weights);
  const checkpoint =
    weights === 'best' || weights === 'last' ? weights : Number.isInteger(epoch) && epoch > 0 ? epoch : 'best';
  return { run, checkpoint, ...(upTo > 0 ? { upTo } : {}) };
}

/** `Begins with the best weights of run 12, its first 2 layers.` */
export function transferWords({ run, checkpoint, upTo }: TransferRequest): string {
  const which = typeof checkpoint === 'number' ? `weights after epoch ${checkpoint}` : `${checkpoint} weights`;
  const layers = upTo === undefined ? '' : `, ${upTo === 1 ? 'its first layer' : `its first ${plural(upTo, 'layer')}`}`;
  return `Begins with the ${which} of run ${run}${layers}.`;
}
