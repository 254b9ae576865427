// Kills whoever works a queue off at random moments, one or two at a time on one home, and lets the next go on: in the end every run that was
// put into the queue has been trained to its end, and none of them twice.
//
//   node tests/soak/queue-kills.ts [--kills 200] [--seed 1]

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createStore } from '../../engine/history/store.ts';
import { randomNumbers } from './kills.ts';
import { epochsEach, type QueueFact } from './queue-victim.ts';

const victim = new URL('./queue-victim.ts', import.meta.url);

export interface QueueKillReport {
  readonly kills: number;
  readonly runs: number;
  /** Runs that were in the middle when their process was killed. */
  readonly cut: number;
  /** What went wrong, in words; has to be empty. */
  readonly wrong: readonly string[];
}

interface Victim {
  readonly child: ChildProcess;
  readonly facts: QueueFact[];
  /** The first fact of a kind. */
  seen(kind: QueueFact['kind']): Promise<void>;
}

function start(home: string, count: number): Victim {
  const child = fork(victim, [home, String(count)], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const facts: QueueFact[] = [];
  child.on('message', (fact: QueueFact) => facts.push(fact));
  const ended = once(child, 'exit');
  const seen = async (kind: QueueFact['kind']): Promise<void> => {
    while (!facts.some((fact) => fact.kind === kind)) {
      await Promise.race([once(child, 'message'), ended]);
      if (child.exitCode !== null || child.signalCode !== null) return;
    }
  };
  return { child, facts, seen };
}

async function kill({ child }: Victim): Promise<void> {
  const ended = once(child, 'exit');
  if (!child.kill('SIGKILL')) throw new Error('the process had ended by itself');
  await ended;
}

export async function killQueue(home: string, kills: number, seed: number): Promise<QueueKillReport> {
  const random = randomNumbers(seed);
  const facts: QueueFact[] = [];
  let cut = 0;
  for (let done = 0; done < kills;) {
    const victims = Array.from({ length: Math.min(kills - done, random() < 0.3 ? 2 : 1) }, () => start(home, 3));
    await Promise.all(victims.map((each) => each.seen('queued')));
    await new Promise((resolve) => setTimeout(resolve, random() * 400));
    for (const each of victims) {
      await kill(each);
      facts.push(...each.facts);
    }
    done += victims.length;
    const store = createStore(home);
    cut += (await store.recover()).length;
    await store.close();
  }
  // The last one ends what is left, by itself.
  const last = start(home, 0);
  await last.seen('idle');
  await kill(last);
  facts.push(...last.facts);
  return { kills, cut, ...(await check(home, facts)) };
}

async function check(home: string, facts: readonly QueueFact[]): Promise<Pick<QueueKillReport, 'runs' | 'wrong'>> {
  const wrong: string[] = [];
  const store = createStore(home);
  const { runs } = await store.runs({ limit: 100_000 });
  const states = new Map(runs.map(({ id, state }) => [id, state]));
  for (const fact of facts) {
    if (fact.kind === 'queued' && !states.has(fact.run)) wrong.push(`run ${fact.run} is lost`);
    if (fact.kind === 'ended' && fact.state !== 'completed') wrong.push(`run ${fact.run} ended ${fact.state}`);
  }
  const ends = facts.flatMap((fact) => (fact.kind === 'ended' ? [fact.run] : []));
  for (const run of new Set(ends)) {
    const times = ends.filter((ended) => ended === run).length;
    if (times > 1) wrong.push(`run ${run} ended ${times} times`);
  }
  for (const { id, state } of runs) {
    if (state !== 'completed') wrong.push(`run ${id} is ${state}`);
    const points = await store.metrics({ run: id, series: ['train_loss'] });
    const epochs = points.map(({ epoch }) => epoch);
    if (epochs.length !== epochsEach || new Set(epochs).size !== epochsEach)
      wrong.push(`run ${id} has ${epochs.length} losses of ${new Set(epochs).size} epochs`);
  }
  await store.close();
  return { runs: runs.length, wrong };
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({
    options: { kills: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
  });
  const home = mkdtempSync(join(tmpdir(), 'trainyard-queue-'));
  try {
    const report = await killQueue(home, Number(values.kills), Number(values.seed));
    console.log(JSON.stringify(report, null, 1));
    process.exitCode = report.wrong.length === 0 ? 0 : 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
