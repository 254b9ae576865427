// Runs that come from others: a run that goes on where another one ended, one that starts from another's weights, one
// that is a fold of a cross-validation or a member of an ensemble, one that a finding about another advised.

/**
 * `continued`: goes on with everything its parent knew; `started from`: with its weights; `fold`, `member`: a part of its work; `advised by`:
 * trained anew with the settings that a finding about its parent advised; `trained elsewhere`: by a project that its parent left as.
 */
export const runRelations = ['continued', 'started from', 'fold', 'advised by', 'member', 'trained elsewhere'] as const;
export type RunRelation = (typeof runRelations)[number];

/** What a run took over from its parent. */
export interface RunStart {
  /** Epochs and steps its parent had done, and seconds they took; absent: a fold. */
  readonly epoch?: number;
  readonly step?: number;
  readonly seconds?: number;
  /** Of `continued`: the learning rate's schedule begins anew, as settings have changed that it goes by. */
  readonly anew?: boolean;
  /** Of `continued`: its losses are none of its parent's kind, so that the best epoch is looked for anew. */
  readonly incomparable?: boolean;
  /** Of `started from`: how many layers, from the first, have its weights; absent: all that it has. */
  readonly upTo?: number;
  /** Of `started from`: the classes of its parent, in their order; absent: it has none, or tokens. */
  readonly classes?: readonly string[];
  /** Of `started from`: its parent learned from the same rows in other splits, and knows some that are to judge it. */
  readonly seen?: boolean;
  /** Of a `fold`: which, from 1. */
  readonly fold?: number;
  /** Of a `member`: which, in the order of training, from 0. */
  readonly member?: number;
}

const relationWords: Readonly<Record<RunRelation, string>> = {
  continued: 'continues',
  'started from': 'started from',
  fold: 'fold of',
  'advised by': 'advised by',
  member: 'member of',
  'trained elsewhere': 'trained elsewhere, from',
};

/** Whether it began with something of its parent's. */
export function takesOver(relation: RunRelation): boolean {
  return relation === 'continued' || relation === 'started from';
}

/** `continues run 12 from epoch 10`; null: it comes from no other. A model of others has no epochs. */
export function familyWords(run: {
  readonly parent: number | null;
  readonly relation: RunRelation | null;
  readonly start: RunStart | null;
}): string | null {
  const { parent, relation, start } = run;
  if (parent === null || relation === null) return null;
  if (relation === 'fold') return `fold ${start?.fold ?? '?'} of run ${parent}`;
  if (relation === 'member') return `member of run ${parent}`;
  const words = `${relationWords[relation]} run ${parent}`;
  return !start?.epoch ? words : `${words}${relation === 'continued' ? ' from' : ', as of'} epoch ${start.epoch}`;
}

/** What a run took over, as a setting of it: `started from run 5, as of epoch 12, its first 4 layers`; null: it began anew. */
export function beginningWords(run: Parameters<typeof familyWords>[0]): string | null {
  if (run.relation === null || !takesOver(run.relation)) return null;
  const layers = run.start?.upTo;
  const part = layers === undefined ? '' : `, its first ${layers === 1 ? 'layer' : `${layers} layers`}`;
  return `${familyWords(run)}${part}`;
}
