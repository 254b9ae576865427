// What a run came from, and what that came from.

import type { AppService } from '../../../../engine/protocol/app.ts';
import type { RunRecord } from '../../../../engine/protocol/runs.ts';

/** Of more generations the nearest ones. */
const generations = 20;

/** The runs that stand before a run, the first of them first: as far as they are there, whoever was removed for good ends the line. */
export async function ancestorsOf(
  { parent }: Pick<RunRecord, 'parent'>,
  service: Pick<AppService, 'run'>,
): Promise<readonly RunRecord[]> {
  const found: RunRecord[] = [];
  for (let next = parent; next !== null && found.length < generations; next = found[0].parent) {
    const one = await service.run({ run: next }).catch(() => null);
    if (one === null) break;
    found.unshift(one);
  }
  return found;
}
