// For the tests that are TypeScript: the scripts run on Node 20, which is not.

/** Brings the named targets up to date; gives the Node to run TypeScript with, and whether it is this one. */
export declare function setup(options?: {
  readonly targets?: readonly string[];
}): Promise<{ readonly node: string; readonly current: boolean }>;
