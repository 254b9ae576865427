// Models that others have trained are runs of the history that no dataset of ours stands behind.

import type { ModelSpec, Task, TrainingSpec } from '../model/spec.ts';
import type { ReturnedRun } from './returned.ts';
import type { RunConfig } from './runs.ts';

const prefix = 'pretrained-';

/** What stands in place of a dataset. `digest`: of model and weights, in hexadecimal. */
export const pretrainedDataset = (digest: string): string => `${prefix}${digest.slice(0, 32)}`;

/** Whether a run is a model that was read from a file of others. */
export const isPretrained = ({ dataset }: Pick<RunConfig, 'dataset'>): boolean => dataset.startsWith(prefix);

/** What is known of a model of others. */
export interface AboutPretrained {
  /** `ResNet-18 by torchvision's names`. */
  readonly title: string;
  /** File or folder it was read from. */
  readonly source: string;
  /** Whether it brings its output layer; without it is something to begin with, and predicts nothing. */
  readonly head: boolean;
  /** Sentences for people. */
  readonly said: readonly string[];
}

/** All that its run is made of. */
export interface PretrainedRun extends AboutPretrained {
  readonly config: { readonly model: ModelSpec; readonly training: TrainingSpec; readonly task: Task };
  readonly parameters: number;
  readonly files: Readonly<Record<'model.json' | 'preprocessing.json' | 'best.safetensors', Uint8Array>>;
  /** Of the files, SHA-256 in hexadecimal. */
  readonly digest: string;
}

/** Reads models of others, and trainings that come back. */
export interface ModelReaderService {
  /** Throws why what stands at the path cannot be read. */
  read(request: { readonly path: string }): Promise<PretrainedRun | ReturnedRun>;
}

/** A model of others, or a training that came back, that has become a run. */
export interface ImportedModel extends Omit<AboutPretrained, 'source'> {
  readonly run: number;
  /** It was trained elsewhere from a run: to be looked at, not to begin with. */
  readonly returned?: true;
}

/** What people are told of it. */
export function pretrainedSentences({ title, source, head, said }: AboutPretrained): readonly string[] {
  const what = head
    ? `${title}, read from ${source}.`
    : `${title}, read from ${source}: it has no output layer of its own. Begin a run with it; alone it predicts nothing.`;
  return [what, ...said];
}
