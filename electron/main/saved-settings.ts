// A dataset under the settings a person saved for it: of one that another version made, or of columns that are gone, they may not be of use.

import type { DatasetInfo, DatasetSettings } from '../../engine/protocol/data.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { savedSettings } from './requests.ts';

/**
 * @param stored  what the history holds for it; null: nothing
 * @param describe  the dataset under settings
 */
export async function underSaved(
  info: DatasetInfo,
  stored: unknown,
  describe: (settings: DatasetSettings) => Promise<DatasetInfo>,
): Promise<DatasetInfo> {
  if (stored === null) return info;
  const settings = savedSettings(stored);
  if (settings === null) return unsettled(info, 'cannot be read: another version of Trainyard may have made them');
  return describe(settings).catch((error: unknown) => {
    if (error instanceof InputError) return unsettled(info, `do not fit it. ${error.message}`);
    throw error;
  });
}

function unsettled(info: DatasetInfo, why: string): DatasetInfo {
  const said = /[.!?…]$/.test(why) ? why : `${why}.`;
  const message = `The settings saved for this dataset ${said} They count as none; what you choose here takes their place.`;
  return { ...info, warnings: [{ code: 'settings', message }, ...info.warnings] };
}
