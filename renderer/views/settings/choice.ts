// Choices that are shown as chosen at once, and as they were if they could not be kept.

import type { AppService } from '../../../engine/protocol/app.ts';

/** Keeps a choice; where that fails, on a full disk for one, `back` undoes what is shown and the failure goes on to who tells it. */
export function keeping(
  service: Pick<AppService, 'setSetting'>,
): (key: string, value: unknown, back: () => void) => Promise<void> {
  return async (key, value, back) => {
    try {
      await service.setSetting({ key, value });
    } catch (error) {
      back();
      throw error;
    }
  };
}
