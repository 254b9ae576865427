// What measures this machine says so in the home, so that nothing else measures beside it: two at once would make each other's figures
// too low. The word counts for as long as its process lives: one that was killed leaves nothing that has to be removed.

import fs from 'node:fs';
import path from 'node:path';
import { InputError } from '../protocol/errors.ts';
import { isAlive, processOwner, type Owner } from './owner.ts';

/** What measures, in words. */
const kinds = ['lab', 'crossover', 'profile'] as const;
export type MeasuringKind = (typeof kinds)[number];

interface Measuring {
  readonly what: MeasuringKind;
  readonly owner: Owner;
}

const fileOf = (home: string): string => path.join(home, 'hardware', 'measuring.json');

/** Who measures now, in another process; null: nobody. */
export function measuringElsewhere(home: string): Measuring | null {
  const found = read(fileOf(home));
  return found !== null && found.owner.pid !== process.pid && isAlive(found.owner) ? found : null;
}

/** For whoever is about to train. Throws InputError `input.measuring` while another process measures. */
export const refuseTraining = (home: string): void => refuseBesideMeasuring(home, 'training would spoil its figures');

/** Throws InputError `input.measuring` while another process measures. */
function refuseBesideMeasuring(home: string, beside: string): void {
  const found = measuringElsewhere(home);
  if (found === null) return;
  throw new InputError(
    'input.measuring',
    `A ${found.what} of another process (${found.owner.pid}) measures this machine: ${beside}.`,
    'Wait for its end, or cancel it.',
  );
}

/**
 * Says that this process measures; the function that is returned takes it back.
 * @throws InputError `input.measuring` while another process does.
 */
export function beginMeasuring(home: string, what: MeasuringKind): () => void {
  const file = fileOf(home);
  const mine = JSON.stringify({ what, owner: processOwner() });
  fs.mkdirSync(path.dirname(file), { recursive: true });
  // Written whole beside it, then given its name unless somebody was quicker.
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, mine);
  try {
    for (;;) {
      refuseBesideMeasuring(home, 'both would be too low');
      try {
        fs.linkSync(draft, file);
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        // What a process has left that is no more; or that of this process, which has one measurement at a time.
        if (measuringElsewhere(home) === null) fs.rmSync(file, { force: true });
      }
    }
  } finally {
    fs.rmSync(draft, { force: true });
  }
  return () => {
    if (read(file)?.owner.pid === process.pid) fs.rmSync(file, { force: true });
  };
}

function read(file: string): Measuring | null {
  try {
    const { what, owner } = JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<Measuring>;
    const known = kinds.find((kind) => kind === what);
    return known && Number.isInteger(owner?.pid) && Number.isFinite(owner?.startedAt)
      ? { what: known, owner: owner! }
      : null;
  } catch {
    return null;
  }
}
