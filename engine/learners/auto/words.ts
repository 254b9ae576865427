// What a best of all says of itself.

import { TrainyardError } from '../../protocol/errors.ts';
import type { LeaderboardRow, LeftOutModel } from '../../protocol/leaderboard.ts';
import type { RunResult } from '../../protocol/runs.ts';
import type { Member } from './member.ts';

export const shown = (score: number): string => String(Number(score.toPrecision(4)));

/** What has to be said where there was no time for more than one model, or not even for that. */
export function tooShort(members: readonly Member[]): string {
  if (members.length > 1) return '';
  return '; there was time for one only: give it more';
}

/** What has to be said of a best that is none: its last row is the answer that is always the same. */
export function noBetter(board: readonly LeaderboardRow[]): Pick<RunResult, 'doubt'> {
  const [[best], same] = [board, board.at(-1)];
  if (same?.learner !== 'constant' || best.score < same.score) return {};
  return {
    doubt: `On rows it did not learn from the best of all scores ${shown(best.score)}, always giving the same answer ${shown(same.score)}: less is better. Do not trust this model. The columns may tell nothing of the target, or the rows held out are of another kind; more time may help where there was little.`,
  };
}

export function noMember(leftOut: readonly LeftOutModel[]): TrainyardError {
  const [first] = leftOut;
  return new TrainyardError(
    'run.no_member',
    `No model came to anything: ${first ? `${first.title}: ${first.reason}` : 'there was none to train'}`,
    'Train one learner alone to see more.',
  );
}
