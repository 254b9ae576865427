// Works on a home until it is killed, and says what it was told is kept: imports, runs with curves and checkpoints, exports,
// runs thrown away and purged, a real training. `victim.ts HOME NUMBER`.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDataService } from '../../engine/data/service.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { networkConfig } from '../../engine/learners/network/declaration.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { inProcessHosts } from '../../electron/cli/hosts.ts';
import { Output } from '../../electron/cli/output.ts';
import { writeOutput } from '../../electron/cli/output-file.ts';
import { Sink } from '../../electron/cli/sink.ts';
import { newRun, point } from '../unit/fixtures/history.ts';

/** What the process was told is kept. */
export type Kept =
  | { readonly kind: 'dataset'; readonly id: string; readonly file: string }
  | { readonly kind: 'run'; readonly run: number }
  | { readonly kind: 'step'; readonly run: number; readonly step: number }
  | { readonly kind: 'checkpoint'; readonly run: number; readonly value: number }
  | { readonly kind: 'exported'; readonly file: string; readonly value: number }
  /** From the moment it is asked for, a run may be there or not. */
  | { readonly kind: 'purging' | 'purged' | 'trashed'; readonly run: number };

const [home, number] = process.argv.slice(2);
const say = (kept: Kept): void => void process.send?.(kept);
const nowhere = new Sink(process.stderr, () => undefined);
const output = new Output(false, { out: nowhere, error: nowhere });
const store = createStore(home);
const data = createDataService({ home });
await store.recover();
process.send?.({ kind: 'ready' });

for (let round = 0; ; round++) {
  const file = join(home, 'sources', `${number}-${round}.csv`);
  mkdirSync(join(home, 'sources'), { recursive: true });
  const rows = Array.from({ length: 300 }, (_, row) => `${row % 17},${(row * 31) % 7},${row % 3 === 0 ? 'yes' : 'no'}`);
  writeFileSync(file, `a,b,answer ${number}\n${rows.join('\n')}\n`);
  const { id: dataset } = await data.import({ job: `import-${round}`, path: file });
  say({ kind: 'dataset', id: dataset, file });

  const { id: run } = await store.createRun(newRun({ owner: processOwner() }));
  say({ kind: 'run', run });
  await store.updateRun({ run, patch: { state: 'running', startedAt: Date.now() } });
  for (let step = 1; step <= 12; step++) {
    await store.append({ run, points: [point('val_loss', step, 1 / step), point('train_loss', step, 2 / step)] });
    say({ kind: 'step', run, step });
    if (step % 3 > 0) continue;
    await store.writeFile({ run, file: 'checkpoint.bin', data: new Uint8Array(150_000).fill(step) });
    say({ kind: 'checkpoint', run, value: step });
  }
  await store.updateRun({ run, patch: { state: 'stopped', endedAt: Date.now() } });
  const target = join(home, 'exports', 'model.json');
  mkdirSync(join(home, 'exports'), { recursive: true });
  await writeOutput(target, [String(round % 10).repeat(200_000)], output);
  say({ kind: 'exported', file: target, value: round % 10 });

  if (round % 3 === 1) {
    say({ kind: 'purging', run });
    await store.deleteRuns({ runs: [run] });
    say({ kind: 'trashed', run });
    await store.purge({ runs: [run] });
    say({ kind: 'purged', run });
  }
  if (round === 0 && Number(number) % 3 === 0) await train(dataset);
}

/** A run as the command line trains it. */
async function train(dataset: string): Promise<void> {
  const hosts = inProcessHosts(data);
  const manager = createRunManager({ store, data, hosts, owner: processOwner() });
  const training = { ...defaultTraining(240, 'classification'), epochs: 200, batch: 32 };
  const { id: run } = await manager.start({
    config: networkConfig({ dataset, settings: {}, device: 'cpu', threads: 1 }, mlp([16]), training),
  });
  say({ kind: 'run', run });
  await manager.finished({ run });
}
