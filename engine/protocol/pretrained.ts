// Models that others have trained are runs of the history that no dataset of ours stands behind.

import type { RunConfig } from './runs.ts';

const prefix = 'pretrained-';

/** What stands in place of a dataset. `digest`: of model and weights, in hexadecimal. */
export const pretrainedDataset = (digest: string): string => `${prefix}${digest.slice(0, 32)}`;

/** Whether a run is a model that was read from a file of others. */
export const isPretrained = ({ dataset }: Pick<RunConfig, 'dataset'>): boolean => dataset.startsWith(prefix);
