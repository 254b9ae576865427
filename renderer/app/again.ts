// Where a run is begun again: on its own rows, or, of a model of others, on what it can learn from here.

import { declarationOf } from '../../engine/learners/declared/registry.ts';
import type { DatasetInfo } from '../../engine/protocol/data.ts';
import { isPretrained } from '../../engine/protocol/pretrained.ts';
import type { RunConfig, RunRecord } from '../../engine/protocol/runs.ts';
import { textColumns } from '../../engine/protocol/use.ts';

/** Pictures, tables with a column of texts, or a text to learn to write. */
type LearnsFrom = 'pictures' | 'texts' | 'book';

/** The newest data here of that kind; of tables, one whose texts are in use. */
function dataForModel(list: readonly DatasetInfo[], kind: LearnsFrom): DatasetInfo | undefined {
  if (kind === 'pictures') return list.find(({ image }) => image !== undefined);
  if (kind === 'book') return list.find(({ task }) => task === 'language');
  const texts = list.filter(({ kind, task }) => kind === 'table' && task !== 'language');
  const hasText = ({ columns, target }: DatasetInfo): boolean =>
    columns.filter(({ name, type }) => type === 'text' && name !== target).length === 1;
  return texts.find((info) => textColumns(info).length > 0) ?? texts.find(hasText);
}

/** What a model of others begins with, its first choice before others. */
const learnsFrom = (config: RunConfig): readonly LearnsFrom[] => {
  const layers = declarationOf(config).layers?.(config) ?? [];
  if (!layers.some(({ type }) => type === 'token_embedding')) return ['pictures'];
  return config.settings.task === 'language' ? ['book', 'texts'] : ['texts'];
};

const wanted = { pictures: 'pictures', texts: 'a table of texts', book: 'a text' };

/**
 * The address of a new run with the settings of another, or why there is none: a model of others has no rows here, and begins with pictures or
 * texts that are.
 */
export function againAddress(
  list: readonly DatasetInfo[],
  { id, dataset, config }: Pick<RunRecord, 'id' | 'dataset' | 'config'>,
): { readonly address: string } | { readonly reason: string } {
  if (!isPretrained(config)) return { address: `#new/${dataset}?from=${id}` };
  const kinds = learnsFrom(config);
  const own = kinds.map((kind) => dataForModel(list, kind)).find((info) => info !== undefined);
  return own
    ? { address: `#new/${own.id}?from=${id}&weights=best` }
    : { reason: `Import ${wanted[kinds[0]]} to train it on first` };
}
