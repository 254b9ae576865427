// Pausing, resuming and stopping a run that another process trains: the request waits in the history until its host sees it.

import type { RunRecord, RunRequest, RunState } from '../../../engine/protocol/runs.ts';
import { InputError, TrainyardError } from '../../../engine/protocol/errors.ts';
import { about } from '../about.ts';
import { runNumber, type Command } from '../command.ts';
import { managerOf } from '../run-manager.ts';
import type { Services } from '../services.ts';

/** How long to wait until the run has done what was asked. */
const patienceMilliseconds = 15_000;
const pollMilliseconds = 100;

function control(name: RunRequest, from: readonly RunState[], done: (state: RunState) => boolean): Command {
  return {
    ...about[name],
    positionals: [1, 1],
    options: {},
    run: async ({ positionals, output, services }) => {
      const id = runNumber(positionals[0]);
      const store = await services.store;
      const run = await store.run({ run: id });
      if (!from.includes(run.state)) {
        const hint =
          name === 'resume' && run.hasCheckpoint
            ? `Continue it here: trainyard train --resume ${id}`
            : 'See `trainyard runs`.';
        throw new InputError(
          'run.state',
          `Run ${id} is ${run.state}; only a ${from.join(' or ')} run can ${name}.`,
          hint,
        );
      }
      if (run.state === 'queued') await stopWaiting(services, id);
      else await store.updateRun({ run: id, patch: { request: name }, when: from });
      const after = await waitUntil(services, id, done);
      output.event({ event: name, run: id, state: after.state });
      output.line(`Run ${id} is ${after.state}.`);
    },
  };
}

/** One that waits may have no process yet that would see a request: whoever asks takes it out of the queue then. */
async function stopWaiting(services: Services, run: number): Promise<void> {
  const { manager } = await managerOf(services);
  await manager.stop({ run });
  await manager.stopAll();
}

async function waitUntil(services: Services, run: number, done: (state: RunState) => boolean): Promise<RunRecord> {
  const store = await services.store;
  const end = performance.now() + patienceMilliseconds;
  for (;;) {
    const record = await store.run({ run });
    if (done(record.state)) return record;
    if (performance.now() > end) {
      throw new TrainyardError(
        'run.no_answer',
        `Run ${run} has not answered for ${patienceMilliseconds / 1000} s; it is ${record.state}.`,
        'The request stays; its process will see it with its next step.',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
  }
}

export const pause = control('pause', ['running'], (state) => state !== 'running');
export const resume = control('resume', ['paused'], (state) => state !== 'paused');
export const stop = control(
  'stop',
  ['running', 'paused', 'queued'],
  (state) => !['running', 'paused', 'queued'].includes(state),
);
