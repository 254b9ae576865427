// The texts of a run that begins with another one are cut by that one's tokenizer: its weights know no other.

import type { AppService } from '../../../engine/protocol/app.ts';
import type { DatasetInfo } from '../../../engine/protocol/data.ts';
import { textColumns } from '../../../engine/protocol/use.ts';

/** The dataset with its texts read as run `run` reads them; undefined: by a tokenizer of its own. A single column of text is then used. */
export async function readAs(
  service: Pick<AppService, 'tokensOf'>,
  info: DatasetInfo,
  run: number | undefined,
): Promise<DatasetInfo> {
  const kept = run === undefined || info.kind !== 'table' ? null : await service.tokensOf({ run });
  const { kept: before, ...texts } = info.settings.texts ?? {};
  if (kept === (before ?? null)) return info;
  if (kept === null) return { ...info, settings: { ...info.settings, texts } };
  const all = info.columns.filter(({ name, type }) => type === 'text' && name !== info.target);
  const columns = textColumns(info).length === 0 && all.length === 1 ? [all[0].name] : texts.columns;
  return { ...info, settings: { ...info.settings, texts: { ...texts, ...(columns && { columns }), kept } } };
}
