// Two devices race: a model's step is timed on both in turns, batch by batch or width by width, in whatever processes they are. The
// window and the command line share it.

import { inTurns, type Timer } from '../bench/interleaved.ts';
import type { RacePoint, RaceTimes } from '../protocol/lab.ts';
import type { LabControl } from './control.ts';

/** A step of one point, open on one device. */
export interface RacingStep {
  readonly time: Timer;
  close(): Promise<void> | void;
}

export interface RaceOptions {
  readonly points: readonly RacePoint[];
  /** The one quick to start, then the one that computes faster. */
  readonly open: readonly [Opening, Opening];
  /** Times each is timed. */
  readonly rounds: number;
  /** Milliseconds of one measurement at least. */
  readonly roundMilliseconds: number;
  /** Milliseconds of a point after which no further round begins, once a few are done. */
  readonly atMost?: number;
  readonly control: LabControl;
  /** Before each point, and after the last. */
  readonly onProgress: (races: readonly RaceTimes[], next: RacePoint | null) => void;
}

type Opening = (point: RacePoint) => Promise<RacingStep>;

/** Of a GPU a measurement has to be longer, since what is short waits for its submit. */
export const roundMillisecondsOf = (kinds: readonly ('cpu' | 'gpu')[]): number => (kinds.includes('gpu') ? 40 : 5);

/**
 * The seconds of a step of both at every point, in every turn.
 * @throws CancelledError, and what a device or a model throws
 */
export async function timeRaces(options: RaceOptions): Promise<readonly RaceTimes[]> {
  const { points, open, control, onProgress, ...turns } = options;
  const races: RaceTimes[] = [];
  for (const point of points) {
    control.check();
    onProgress([...races], point);
    const steps: RacingStep[] = [];
    try {
      for (const opening of open) steps.push(await opening(point));
      const [near, far] = await inTurns(
        steps.map(({ time }) => time),
        { ...turns, check: () => control.check() },
      );
      const seconds = (milliseconds: readonly number[]): readonly number[] => milliseconds.map((each) => each / 1000);
      races.push({ at: point.at, near: seconds(near), far: seconds(far) });
    } finally {
      for (const step of steps) await step.close();
    }
  }
  control.check();
  onProgress([...races], null);
  return races;
}
