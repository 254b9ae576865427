// A process that trains two steps of a preset and tells its parent what that took and what was forecast. A process of its own, since
// memory that was given back stays with a process.

import { readFileSync } from 'node:fs';
import process from 'node:process';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import { planMemory } from '../../engine/hardware/memory-forecast.ts';
import { Session } from '../../engine/train/session.ts';
import { initializeWeights } from '../../engine/train/weights.ts';
import { makeImages } from './images.ts';

export interface MemoryTaken {
  /** Bytes that the process grew by at its most; null: this system does not say. */
  readonly growth: number | null;
  readonly plan: number;
  readonly program: number;
}

/** Bytes now and at most, as Linux tells them. */
function resident(): { readonly now: number; readonly peak: number } | null {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const bytes = (name: string): number => 1024 * Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)![1]);
    return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
  } catch {
    return null;
  }
}

const [name, batch, rows] = process.argv.slice(2);
const { data, readShard } = makeImages({
  ...{ rows: Number(rows), classes: 10, channels: 3, height: 32, width: 32 },
  split: [1, 0, 0],
});
const { model } = subjectNamed(name, { batch: Number(batch), rows: Number(rows) });
const { spec, training } = model!;
const backend = createCpuBackend({ threads: 1 });
const before = resident();
const session = await Session.open({ backend, data, readShard, model: spec, training, dataBudget: 2 ** 30 });
initializeWeights(session.executable, session.model, 1);
await session.enter(0, 0);
for (let i = 0; i < 2; i++) await session.train(0, 0, 1, session.batch);
const after = resident();
session.close();
await backend.close();
const { memory } = planMemory(model!, data.counts, { kind: 'cpu', cores: 1 });
const growth = before && after ? after.peak - before.now : null;
process.send!({ growth, plan: memory.total, program: memory.program } satisfies MemoryTaken);
process.disconnect();
