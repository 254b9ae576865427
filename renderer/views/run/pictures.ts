// Whether the rows a run learned from are pictures.

import { declarationOf } from '../../../engine/learners/declared/registry.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import type { AppState } from '../../app/state.svelte.ts';

/** The datasets are here from the start; of one that is gone the settings of the run tell as much as is needed. */
export const isPictures = ({ datasets }: AppState, { dataset, config }: RunRecord): boolean =>
  datasets.find(dataset)?.kind === 'images' || declarationOf(config).ofPictures(config);
