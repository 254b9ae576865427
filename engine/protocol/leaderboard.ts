// What the best of all comes to: its members, each a run of the history, scored on rows they did not learn from.

/** A member, or the ensemble of them. */
export interface LeaderboardRow {
  /** Which, in the order of training; null: the ensemble, or the answer that is always the same (`constant`). */
  readonly member: number | null;
  /** Its run in the history; null: not kept (yet). Of the ensemble its own. */
  readonly run: number | null;
  readonly learner: string;
  readonly title: string;
  /** Mean log loss, or root mean square error in the target's unit: less is better. */
  readonly score: number;
  /** 95 %. */
  readonly interval: readonly [low: number, high: number];
  /** The score of each fold that it came to. */
  readonly folds: readonly number[];
  readonly ofFolds: number;
  /** What the ensemble scores on the same rows, where those are a part of its own: scores of other rows are not held against each other. */
  readonly ensembleThere?: number;
  /** Whether chance explains that the ensemble is better: on the same rows. Of the ensemble: true. */
  readonly tied: boolean;
  /** Of training. */
  readonly seconds: number;
  /** To predict a row; 0: not measured. */
  readonly microseconds: number;
  /** In the ensemble. */
  readonly weight: number;
}

/** A model that was not trained, or came to nothing. */
export interface LeftOutModel {
  readonly title: string;
  readonly reason: string;
}

/** How far the best of all is. */
export interface AutoProgress {
  /** What is trained now; null: nothing. */
  readonly at: {
    readonly title: string;
    /** From 1. */
    readonly fold: number;
    readonly folds: number;
    /** Of the whole model, 0 … 1. */
    readonly share: number;
  } | null;
  readonly leaderboard: readonly LeaderboardRow[];
  readonly leftOut: readonly LeftOutModel[];
}

/** What a model scores with fewer rows, and by a power law of that with twice as many. */
export interface LearningCurve {
  readonly title: string;
  /** From few rows to all; scores and intervals as in the leaderboard. */
  readonly points: readonly {
    readonly rows: number;
    readonly score: number;
    readonly interval: readonly [low: number, high: number];
  }[];
  /** Of twice the rows. Null: there was time for too few points. */
  readonly twice: {
    readonly rows: number;
    readonly score: number;
    readonly interval: readonly [low: number, high: number];
  } | null;
}

/** `3 models are within noise of the ensemble: …`; null where there is nothing to compare. */
export function noiseText(rows: readonly LeaderboardRow[]): string | null {
  const members = rows.filter(({ member }) => member !== null);
  const mixed = members.filter(({ weight }) => weight > 0);
  // One alone is no ensemble, and not within noise of itself.
  const alone = mixed.length === 1 ? mixed[0] : undefined;
  const others = members.filter((row) => row !== alone);
  if (members.length < 2) return null;
  const best = alone ? alone.title : 'the ensemble';
  const tied = others.filter((row) => row.tied).length;
  if (tied === 0)
    return `${alone ? `${best} is better than each other model` : 'The ensemble is better than each of its models'}: on the same rows chance does not explain it.`;
  return `${tied === 1 ? 'One model is' : `${tied} models are`} within noise of ${best}: on the same rows chance explains the difference.`;
}
