// The state of Claims: which one is open, what is searched for, which ones were tested by hand, and what the lab says to all of them.

import type { AppState } from '../../../app/state.svelte.ts';
import { Machine } from '../../../components/hardware/machine.svelte.ts';
import { claims } from '../../../../engine/hardware/claims/claims.ts';
import { claimGroups, type Claim, type ClaimGroup } from '../../../../engine/hardware/claims/claim.ts';
import { verdict, type Verdict } from '../../../../engine/hardware/claims/verdict.ts';
import { HardwareCatalogue } from '../catalogue.svelte.ts';
import { decidedBy } from './words.ts';

export interface TestedClaim {
  readonly claim: Claim;
  readonly found: Verdict;
}

export class ClaimsPage {
  readonly machine: Machine;
  readonly catalogue: HardwareCatalogue;
  search: string = $state('');
  /** Id of the claim that is being tested. */
  testing: string | null = $state(null);
  readonly #app: AppState;

  constructor(app: AppState) {
    this.#app = app;
    this.machine = new Machine(app);
    this.catalogue = new HardwareCatalogue(app.service);
  }

  async load(): Promise<void> {
    await Promise.all([this.machine.load(), this.catalogue.load()]);
  }

  readonly all: readonly TestedClaim[] = $derived.by(() => {
    const evidence = { lab: this.machine.lab, catalogue: this.catalogue.value };
    return claims.map((claim) => ({ claim, found: verdict(claim, evidence) }));
  });
  readonly groups: readonly (readonly [ClaimGroup, readonly TestedClaim[]])[] = $derived.by(() => {
    const words = this.search.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.all.filter(({ claim }) => words.every((word) => claim.statement.toLowerCase().includes(word)));
    return claimGroups.map((group) => [group, found.filter(({ claim }) => claim.group === group)] as const);
  });
  readonly shown: readonly TestedClaim[] = $derived.by(() => this.groups.flatMap(([, list]) => list));
  readonly counts: Readonly<Record<Verdict['verdict'], number>> = $derived.by(() => {
    const count = (wanted: Verdict['verdict']): number =>
      this.all.filter(({ found }) => found.verdict === wanted).length;
    return {
      holds: count('holds'),
      'too simple': count('too simple'),
      'wrong here': count('wrong here'),
      'cannot tell': count('cannot tell'),
      'not tested': count('not tested'),
    };
  });
  /** Those that a lab would decide. */
  readonly untested: number = $derived.by(
    () => this.all.filter(({ claim, found }) => found.verdict === 'not tested' && decidedBy(claim) === 'lab').length,
  );

  of(id: string | undefined): TestedClaim | null {
    return this.all.find(({ claim }) => claim.id === id) ?? null;
  }

  /** Measures where the verdict rests on the lab; arithmetic is done as it stands. */
  async test(id: string): Promise<void> {
    const tested = this.of(id);
    if (!tested || this.testing !== null) return;
    this.testing = id;
    try {
      if (decidedBy(tested.claim) === 'lab' && !(await this.machine.measure())) return;
      const { found } = this.of(id)!;
      this.#app.announcer.say(`${found.verdict}. ${found.sentence}`);
    } finally {
      this.testing = null;
    }
  }

  /** One measurement decides all. */
  async testAll(): Promise<void> {
    this.testing = '';
    await this.machine.measure();
    this.testing = null;
  }
}
