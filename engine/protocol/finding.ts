// What was found out about a run, for a person: a title, the figure it rests on, a sentence, and the run that would show more. Curves,
// columns and checks before a run all speak so.

import type { RunConfig } from './runs.ts';

/** `Id`: of this kind there is one at most. */
export interface Finding<Id extends string = string, Kind extends string = 'fix' | 'look' | 'fine'> {
  readonly id: Id;
  readonly kind: Kind;
  readonly title: string;
  readonly figure: string;
  readonly text: string;
  readonly action?: FindingAction;
}

/** The run that would show it. */
export interface FindingAction {
  readonly label: string;
  readonly config: RunConfig;
  /** It goes on where this one ended; else it is trained anew. */
  readonly continues: boolean;
  /** Part of the new run's name. */
  readonly change: string;
}
