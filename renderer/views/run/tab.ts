// What a tab of a run's page is, and what it is given.

import type { Component } from 'svelte';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import type { RunPage } from './run.svelte.ts';

export interface RunTabProps {
  readonly page: RunPage;
  readonly run: RunRecord;
}

export interface RunTab {
  /** Third part of the address: `evaluation` for `#run/7/evaluation`. */
  readonly id: string;
  readonly label: string;
  /** Other words the palette finds it by. */
  readonly words: readonly string[];
  /** Of which runs it is; absent: of all. */
  readonly shown?: (run: RunRecord) => boolean;
  readonly load: () => Promise<{ readonly default: Component<RunTabProps> }>;
}
