// How every `model.py` begins.

import type { OutputSpec } from '../../model/spec.ts';

/** What comes out, [N, width], in words. */
const outputWords = (output: OutputSpec, width: number): string => {
  if (output.kind === 'value')
    return `Out: [N, 1], standardised: times ${output.scale} plus ${output.offset} it is in the unit of the target.`;
  return width === 1 ? 'Out: [N, 1], the logit of the second class.' : `Out: [N, ${width}], logits of the classes.`;
};

/** `about`: what goes in, in words. */
export const head = (about: string, output: OutputSpec, width: number): string => `"""${about}
${outputWords(output, width)}"""
import torch
import torch.nn.functional as F
from torch import nn

`;
