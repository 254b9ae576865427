// The learning curve at work: the best model of the leaderboard is trained once more on a tenth of the rows, then on more and more of them.

import type { LearningCurve } from '../../protocol/leaderboard.ts';
import type { LearnerJob } from '../learner.ts';
import { curveShares, withTwice, type CurvePoint } from './curve.ts';
import { lossesOfMember, shownLoss } from './leaderboard.ts';
import { comesToNothing, MemberAtWork, type Member } from './member.ts';
import type { PartRows } from './part-rows.ts';
import type { Candidate } from './plan.ts';
import { meanOf } from './selection.ts';
import type { RowsForMembers } from './trained.ts';

/** Of a normal distribution: 95 % lie within so many standard deviations. */
const normal95 = 1.96;
/** Points that a power law needs. */
const least = 3;

export class CurveAtWork {
  readonly #job: LearnerJob;
  readonly #rows: PartRows;
  readonly #test: RowsForMembers;
  readonly #candidate: Candidate;
  readonly #whole: CurvePoint;
  readonly #points: CurvePoint[] = [];
  #atWork: MemberAtWork | null = null;
  #next = 0;

  /** `best` was trained of `candidate`. */
  constructor(job: LearnerJob, rows: PartRows, test: RowsForMembers, candidate: Candidate, best: Member) {
    this.#job = job;
    this.#rows = rows;
    this.#test = test;
    this.#candidate = candidate;
    this.#whole = this.#pointOf(best, rows);
  }

  /** Works for a moment. True while there is more to do. */
  async advance(last: boolean): Promise<boolean> {
    if (this.#next >= curveShares.length) return false;
    const rows = this.#rows.some(curveShares[this.#next], this.#job.config.seed);
    this.#atWork ??= new MemberAtWork(-1, this.#candidate, this.#job, rows, this.#test);
    try {
      if (await this.#atWork.advance(last, false)) return true;
      const member = this.#atWork.result();
      // What was stopped on its way says nothing of its rows.
      if (member && !last && this.#atWork.complete) this.#points.push(this.#pointOf(member, rows));
    } catch (error) {
      // So few rows may be too few: the curve has a point less.
      if (!comesToNothing(error)) throw error;
    }
    this.#atWork = null;
    this.#next++;
    return !last && this.#next < curveShares.length;
  }

  result(): LearningCurve {
    const { output } = this.#job.data;
    const all = [...this.#points, this.#whole];
    const twice = all.length < least ? null : withTwice(all, this.#job.config.seed);
    return {
      title: this.#candidate.title,
      points: all.map(({ rows, loss, error }) => ({
        rows,
        score: shownLoss(output, loss),
        interval: [shownLoss(output, loss - normal95 * error), shownLoss(output, loss + normal95 * error)],
      })),
      twice: twice && {
        rows: 2 * this.#whole.rows,
        score: shownLoss(output, twice.loss),
        interval: [shownLoss(output, twice.interval[0]), shownLoss(output, twice.interval[1])],
      },
    };
  }

  #pointOf(member: Member, rows: PartRows): CurvePoint {
    const losses = lossesOfMember(member, this.#rows, this.#job.data.output);
    const loss = meanOf(losses);
    const variance = meanOf(losses.map((one) => (one - loss) ** 2));
    return {
      rows: Math.round(
        member.models.reduce((sum, { part }) => sum + rows.learnedFrom(part).length, 0) / member.models.length,
      ),
      loss,
      error: Math.sqrt(variance / losses.length),
    };
  }
}
