// What a run has written on its page, while it has these weights.

import { ofWeights } from '../of-weights.ts';
import { WritingState } from './writing.svelte.ts';

export const writingOf = ofWeights((service, run) => new WritingState(service, run.id));
