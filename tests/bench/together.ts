// Data-parallel against one device: steps of mnist-cnn on one CPU thread, on two CPUs of one thread each that share every batch,
// and on one CPU with two threads. They take turns, round after round; each step waits for its loss. `processor` is the processor
// time of a step on all threads, `first` on the first one: on a busy machine these can be compared, but waiting is not in them. They say
// how much faster a step can become at most; how much it does, `speedup` says on a quiet machine.
// node tests/bench/together.ts [--rounds 20] [--steps 10] [--batch 64]      One JSON object a line.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { isShared, startCpu } from '../../electron/hosts/together.ts';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createTogetherBackend } from '../../engine/backends/together/backend.ts';
import { mnistCnn } from '../../engine/bench/workloads.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { Session } from '../../engine/train/session.ts';
import { initializeWeights } from '../../engine/train/weights.ts';
import { makeImages } from '../support/images.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    steps: { type: 'string', default: '10' },
    batch: { type: 'string', default: '64' },
  },
});
const [rounds, steps, batch] = [values.rounds, values.steps, values.batch].map(Number);
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-bench-'));
const made = makeImages({ rows: 10 * batch, channels: 1, height: 28, width: 28, classes: 10 });
const training = { ...defaultTraining(made.data.counts.train, 'classification'), batch };

interface Variant {
  readonly name: string;
  readonly backend: Backend;
  readonly session: Session;
  /** Milliseconds of a step, and of processor time, round by round. */
  readonly times: number[];
  readonly used: number[];
  readonly first: number[];
}

async function open(name: string, backend: Backend, shares?: readonly number[]): Promise<Variant> {
  const session = await Session.open({ ...made, backend, model: mnistCnn, training, dataBudget: 1e9, shares });
  initializeWeights(session.executable, session.whole, 1);
  await session.enter(0, 0);
  await session.train(0, 0, 1, batch);
  return { name, backend, session, times: [], used: [], first: [] };
}

const cpu = (threads: number): Backend => createCpuBackend({ threads });
const half = batch >> 1;
const partner = await startCpu({ home, threads: 1 });
const shared = createTogetherBackend({
  own: createCpuBackend({ alone: isShared }),
  partners: [partner],
  weights: null,
});
const variants = [
  await open('one CPU, 1 thread', cpu(1)),
  await open('two CPUs, 1 thread each', shared, [half, batch - half]),
  await open('one CPU, 2 threads', cpu(2)),
];
for (let round = 0; round < rounds; round++) {
  for (const { session, times, used, first } of variants) {
    const [start, before, own] = [performance.now(), process.cpuUsage(), process.threadCpuUsage()];
    for (let step = 0; step < steps; step++) await session.train(step, 0, 1, batch);
    const { user, system } = process.cpuUsage(before);
    times.push((performance.now() - start) / steps);
    const thread = process.threadCpuUsage(own);
    first.push((thread.user + thread.system) / 1000 / steps);
    used.push((user + system) / 1000 / steps);
  }
}

const middle = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1];
const short = (value: number): number => Number(value.toPrecision(4));
const [one] = variants;
for (const { name, times, used, first, session, backend } of variants) {
  const ratios = times.map((time, round) => one.times[round] / time);
  const { steps: done = 0, exchange = 0, update = 0, devices = [] } = session.executable.standing?.() ?? {};
  console.log(
    JSON.stringify({
      variant: name,
      best: short(Math.min(...times)),
      median: short(middle(times)),
      processor: short(middle(used)),
      first: short(middle(first)),
      speedup: short(middle(ratios)),
      ...(done > 0
        ? {
            working: devices.map(({ working }) => short(working / done)),
            waiting: devices.map(({ waiting }) => short(waiting / done)),
            exchange: short(exchange / done),
            update: short(update / done),
          }
        : {}),
      unit: 'ms/step',
    }),
  );
  session.close();
  await backend.close();
}
fs.rmSync(home, { recursive: true, force: true });
