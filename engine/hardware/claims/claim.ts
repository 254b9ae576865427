// What articles say of CPUs and GPUs, in our words: a claim is data, and what decides it is one of a few tests that read this machine's
// lab, the catalogue or a formula.

export const claimGroups = [
  'cores',
  'speed',
  'memory',
  'energy and money',
  'models',
  'devices',
  'several devices',
  'choosing',
] as const;
export type ClaimGroup = (typeof claimGroups)[number];

/** What is to be said of it wherever it is tested. */
export type InPrinciple = 'true' | 'outdated' | 'simple' | 'wrong' | 'unsourced';

/**
 * What measures or computes it here. `text` alone rests on words; `lab` tests need a measured machine, and a GPU where they compare.
 */
export type ClaimTest =
  | 'text'
  | 'cores'
  | 'serial'
  | 'parallel'
  | 'lanes'
  | 'ratio'
  | 'small-work'
  | 'product-time'
  | 'matrix-vector'
  | 'latency-throughput'
  | 'bandwidth'
  | 'capacity'
  | 'sixteen-bits'
  | 'training-time'
  | 'energy'
  | 'sum'
  | 'figures'
  | 'range'
  | 'break-even'
  | 'resnet-memory'
  | 'state-bytes'
  | 'spot'
  | 'scaling-out';

export interface Claim {
  readonly id: string;
  readonly group: ClaimGroup;
  readonly statement: string;
  /** Which of the five articles say it, by their numbers. */
  readonly articles: readonly string[];
  /** Its numbers, by name; a test says which it reads. */
  readonly saysWhat: Readonly<Record<string, number>>;
  readonly verdictInPrinciple: InPrinciple;
  readonly test: ClaimTest;
  /** What to think of it, in a sentence. */
  readonly words: string;
}

type Row = readonly [
  id: string,
  statement: string,
  articles: string,
  inPrinciple: InPrinciple,
  test: ClaimTest,
  words: string,
  saysWhat?: Readonly<Record<string, number>>,
];

export const claimsOf = (group: ClaimGroup, rows: readonly Row[]): Claim[] =>
  rows.map(([id, statement, articles, verdictInPrinciple, test, words, saysWhat = {}]) => ({
    id,
    group,
    statement,
    articles: articles.split(' '),
    saysWhat,
    verdictInPrinciple,
    test,
    words,
  }));
