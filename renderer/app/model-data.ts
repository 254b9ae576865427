// What a model of others can learn from here.

import type { DatasetInfo } from '../../engine/protocol/data.ts';
import { textColumns } from '../../engine/protocol/use.ts';

/** The newest data here that a model of others can learn from: pictures, or texts; of those, one whose texts are in use. */
export function dataForModel(list: readonly DatasetInfo[], pictures: boolean): DatasetInfo | undefined {
  if (pictures) return list.find(({ image }) => image !== undefined);
  const texts = list.filter(({ kind, task }) => kind === 'table' && task !== 'language');
  const hasText = ({ columns, target }: DatasetInfo): boolean =>
    columns.filter(({ name, type }) => type === 'text' && name !== target).length === 1;
  return texts.find((info) => textColumns(info).length > 0) ?? texts.find(hasText);
}
