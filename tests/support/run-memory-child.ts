// A process that trains a whole run of a preset, as a host does, and tells its parent what it had before, what it grew by at most and
// what was forecast. A process of its own, since memory that was given back stays with a process.

import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { nodeSurroundings } from '../../electron/hosts/surroundings.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import { planMemory } from '../../engine/hardware/memory-forecast.ts';
import { createTrainerHost } from '../../engine/learners/host.ts';
import { networkConfig } from '../../engine/learners/network/declaration.ts';
import { makeImages } from './images.ts';
import { makeTable } from './table.ts';

export interface RunMemoryTaken {
  /** Null: this system does not say. */
  readonly taken: { readonly before: number; readonly growth: number } | null;
  readonly run: number;
  /** Bytes of the largest checkpoint. */
  readonly checkpoint: number;
}

/** Bytes now or at most since the last time this was asked, as Linux tells them. */
function resident(): { readonly now: number; readonly peak: number } | null {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const bytes = (name: string): number => 1024 * Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)![1]);
    const found = { now: bytes('VmRSS'), peak: bytes('VmHWM') };
    writeFileSync('/proc/self/clear_refs', '5');
    return found;
  } catch {
    return null;
  }
}

const name = process.argv[2];
const [batch, rows, epochs] = process.argv.slice(3).map(Number);
const { input, spec, training } = subjectNamed(name, { batch, rows }).model!;
const { data, readShard } =
  input.kind === 'image'
    ? makeImages({ rows, classes: 10, channels: 3, height: 32, width: 32 })
    : makeTable(
        input.kind === 'table' && input.texts
          ? { rows, numeric: 0, classes: 2, texts: input.texts }
          : { rows, numeric: 28, classes: 2 },
      );
const common = { dataset: 'made', settings: {}, device: 'cpu', threads: 1 } as const;
const config = { ...networkConfig(common, spec, { ...training, epochs, seed: 1 }), seed: 1 };
const host = createTrainerHost({
  createBackend: async () => createCpuBackend({ threads: 1 }),
  readShard: async (_handle, shard) => readShard(shard),
  surroundings: nodeSurroundings,
  dataBudget: 2 ** 30,
});
let checkpoint = 0;
host.onFile(({ file, data: { byteLength } }) => {
  if (file !== 'checkpoint.bin') return;
  checkpoint = Math.max(checkpoint, byteLength);
  setImmediate(() => void host.checkpointKept());
});
const before = resident();
await host.train({ run: 1, config, data });
const after = resident();
const model = { name, spec, input: data.input, output: data.output, training };
const { run } = planMemory(model, data.counts, { kind: 'cpu', cores: 1 }).memory;
const taken = before && after ? { before: before.now, growth: after.peak - before.now } : null;
process.send!({ taken, run, checkpoint } satisfies RunMemoryTaken);
process.disconnect();
