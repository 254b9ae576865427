// What the best of all trains first: one model of each kind, the quick ones before the others.

/** By what they are called, in their order where a table has texts and other columns. */
export const kindTitles = {
  linear: 'Linear model',
  bag: 'Bag of words',
  small: 'Boosted trees, small',
  network: 'Network',
  boosted: 'Boosted trees',
  text: 'Text network',
  tabular: 'MLP for tables',
  // Of many rows these take longest, and the most room.
  extra: 'Extra trees',
  forest: 'Forest',
} as const;

export type FirstKind = keyof typeof kindTitles;

/** What decides which kinds can be trained: how many columns that are no texts there are, and how many that are. */
export interface ColumnsRead {
  readonly columns: number;
  readonly texts: number;
}

/** Trees and plain networks cannot read texts: where there is nothing else, those that can are all that is ever trained. */
export const readsTextsAlone = ({ columns, texts }: ColumnsRead): boolean => texts > 0 && columns === 0;

const readTexts: readonly FirstKind[] = ['linear', 'bag', 'text'];

export function firstKinds(of: ColumnsRead): readonly FirstKind[] {
  if (readsTextsAlone(of)) return readTexts;
  const all = Object.keys(kindTitles) as FirstKind[];
  return of.texts > 0 ? all : all.filter((kind) => kind === 'linear' || !readTexts.includes(kind));
}
