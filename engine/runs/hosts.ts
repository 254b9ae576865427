// What the run manager needs of those who can train: a host for one run, made when the run's turn comes.

import type { RunConfig } from '../protocol/runs.ts';
import type { TrainerHost } from '../protocol/hosts.ts';

/** A trainer for one run: a process of its own, the GPU window, or a trainer in this process. */
export interface RunHost {
  readonly host: TrainerHost;
  /** Resolves with the reason, in words ("it was ended by SIGKILL"), when the host has gone; never, where it cannot. */
  readonly exited: Promise<string>;
  /** Ends the host, at once. Called when its run has ended, or when it does not answer any more. */
  kill(): void;
}

export interface RunHosts {
  /** `devices`: of a run on several, the first of which is `device`. */
  create(device: RunConfig['device'], devices?: RunConfig['devices']): Promise<RunHost>;
  /** Name of the GPU that `auto` may choose, or null: none here, or only a software adapter. */
  gpu?(): Promise<string | null>;
}
