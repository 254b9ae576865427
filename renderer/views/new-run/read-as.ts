// The rows of a run that begins with another one are read as that one reads them: its weights know no other texts and pixels.

import type { AppService } from '../../../engine/protocol/app.ts';
import type { DatasetInfo, DatasetSettings } from '../../../engine/protocol/data.ts';
import { readAs } from '../../../engine/protocol/use.ts';

/** The dataset with its rows read as run `run` reads them; undefined: as it finds best. */
export async function readAsRun(
  service: Pick<AppService, 'readingOf'>,
  info: DatasetInfo,
  run: number | undefined,
): Promise<DatasetInfo> {
  const reading = run === undefined ? { texts: null, normalization: null } : await service.readingOf({ run });
  const settings = readAs(info, reading);
  return sameReading(settings, info.settings) ? info : { ...info, settings };
}

const sameReading = (a: DatasetSettings, b: DatasetSettings): boolean =>
  a.texts?.kept === b.texts?.kept && JSON.stringify(a.normalization) === JSON.stringify(b.normalization);
